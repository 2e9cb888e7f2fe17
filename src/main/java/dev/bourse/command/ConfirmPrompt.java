package dev.bourse.command;

import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Asks a person before a command destroys, spends or locks out.
 *
 * @param answer reads the line that the person types; empty if there is no terminal
 * @param otherwise a further way out where there is no terminal, named after {@code --yes}; may be
 *     empty
 */
public record ConfirmPrompt(Supplier<Optional<String>> answer, String otherwise) {
  /** The option that answers yes in advance. */
  public static final String YES = "--yes";

  /** The option's help text. */
  public static final String YES_HELP = "Do it without asking.";

  /** After this many questions the losses change faster than a person reads them. */
  private static final int MAX_QUESTIONS = 3;

  /** Reads the losses. */
  @FunctionalInterface
  public interface Reading {
    /**
     * Returns the current question.
     *
     * @throws RefusedException if the service would refuse the operation
     */
    Question question() throws RefusedException;
  }

  /**
   * Shows the losses, and returns if the person agrees. A yes counts for the losses that were
   * shown: they are read again after it, and if there are more, the person is asked again.
   *
   * @param first the question, already read
   * @param again reads it again
   * @throws RefusedException with {@link ExitCode#USAGE} if nobody can be asked, with {@link
   *     ExitCode#REFUSED} if the answer is not yes or the losses keep changing
   */
  public void require(PrintWriter err, Question first, Reading again) throws RefusedException {
    Question shown = first;
    for (int asked = 1; ; asked++) {
      ask(err, shown);
      Question now = again.question();
      if (shown.covers(now)) {
        return;
      }
      if (asked == MAX_QUESTIONS) {
        throw new RefusedException(
            ExitCode.REFUSED,
            "nothing was done: what is lost changed during each of %d questions; try again"
                .formatted(MAX_QUESTIONS));
      }
      err.println("More is lost than when you were asked:");
      shown = now;
    }
  }

  private void ask(PrintWriter err, Question question) throws RefusedException {
    question.lines().forEach(err::println);
    err.print("Do it? [y/N] ");
    err.flush();
    Optional<String> typed = answer.get();
    if (typed.isEmpty()) {
      err.println();
      throw new RefusedException(
          ExitCode.USAGE,
          "nothing was done: there is no terminal to ask on. Add %s to do it without asking%s"
              .formatted(YES, otherwise));
    }
    if (!typed.get().strip().toLowerCase(Locale.ROOT).matches("y|yes")) {
      throw new RefusedException(ExitCode.REFUSED, "nothing was done");
    }
  }
}
