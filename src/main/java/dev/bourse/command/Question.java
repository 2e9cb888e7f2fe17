package dev.bourse.command;

import dev.bourse.remote.RefusedException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The question to a person before a command destroys, spends or locks out.
 *
 * @param lines for people
 * @param losses a text for each loss: two questions with the same losses need one answer, even if
 *     their lines differ
 */
public record Question(List<String> lines, Set<String> losses) {
  /** The question of an operation without losses. */
  public static final Question NONE = new Question(List.of(), Set.of());

  /** Stands for losses that could not be read. */
  private static final String UNKNOWN = "unknown";

  private static final int FORBIDDEN = 403;
  private static final int TOO_MANY_REQUESTS = 429;
  private static final int SERVER_ERROR = 500;

  public Question {
    lines = List.copyOf(lines);
    losses = Set.copyOf(losses);
  }

  /**
   * Returns the question for losses that cannot be read: a token may write items it must not read,
   * and a read may fail where the write would not.
   *
   * @throws RefusedException the same failure, if the operation would be refused for this reason,
   *     too
   */
  public static Question unread(RefusedException refused) throws RefusedException {
    if (refused.status() != FORBIDDEN
        && refused.status() != TOO_MANY_REQUESTS
        && refused.status() < SERVER_ERROR) {
      throw refused;
    }
    return new Question(
        List.of("What is lost cannot be shown: " + refused.getMessage()), Set.of(UNKNOWN));
  }

  /** Returns both questions as one. */
  public Question and(Question other) {
    List<String> allLines = new ArrayList<>(lines);
    allLines.addAll(other.lines);
    Set<String> allLosses = new HashSet<>(losses);
    allLosses.addAll(other.losses);
    return new Question(allLines, allLosses);
  }

  /** True if a yes to this question agrees to every loss of the other. */
  boolean covers(Question other) {
    return losses.containsAll(other.losses);
  }
}
