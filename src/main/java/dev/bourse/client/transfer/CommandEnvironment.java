package dev.bourse.client.transfer;

import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Terminal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * The process and machine of a command.
 *
 * @param variables the environment variables of the process
 * @param hasTerminal whether standard error is a terminal
 * @param clock for expiries, rates and waits
 * @param random a cryptographic source, for secrets and the jitter of retries
 * @param pause waits
 * @param answer reads a person's reply to a question
 * @param browser of the person's desktop; empty when there is none
 */
public record CommandEnvironment(
    Map<String, String> variables,
    boolean hasTerminal,
    Clock clock,
    RandomGenerator random,
    Pause pause,
    Answer answer,
    Optional<Browser> browser) {

  /** A wait. */
  @FunctionalInterface
  public interface Pause {
    void until(Duration over) throws InterruptedException;
  }

  /** A line that a person types. */
  @FunctionalInterface
  public interface Answer {
    /** The line; empty when there is no terminal. */
    Optional<String> line();
  }

  /** A browser. */
  @FunctionalInterface
  public interface Browser {
    /** Shows a page without waiting; failures are not reported. */
    void show(String url);
  }

  public CommandEnvironment {
    variables = Map.copyOf(variables);
  }

  /**
   * Waits.
   *
   * @throws RefusedException when the command is interrupted meanwhile
   */
  public void await(Duration over) throws RefusedException {
    try {
      pause.until(over);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RefusedException(ExitCode.UNAVAILABLE, "interrupted");
    }
  }

  /** The person's home folder. */
  public Path home() {
    return Path.of(variables.getOrDefault("HOME", System.getProperty("user.home", ".")));
  }

  /** The environment of this process. */
  public static CommandEnvironment ofProcess() {
    Map<String, String> variables = System.getenv();
    return new CommandEnvironment(
        variables,
        seesTerminal(variables),
        Clock.systemUTC(),
        new SecureRandom(),
        over -> Thread.sleep(over.toMillis()),
        Terminal::line,
        DesktopBrowser.of(variables, System.getProperty("os.name", "")));
  }

  /** Java only detects a terminal on standard input and output; Linux does for standard error. */
  private static boolean seesTerminal(Map<String, String> variables) {
    if (variables.getOrDefault("TERM", "dumb").equals("dumb")) {
      return false;
    }
    Path standardError = Path.of("/proc/self/fd/2");
    if (!Files.exists(standardError)) {
      return Terminal.isThere();
    }
    try {
      String target = standardError.toRealPath().toString();
      return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
    } catch (IOException e) {
      return false;
    }
  }
}
