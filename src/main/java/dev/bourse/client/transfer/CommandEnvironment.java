package dev.bourse.client.transfer;

import dev.bourse.remote.ExitCode;
import dev.bourse.remote.Refused;
import java.io.Console;
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
 * What commands use of the process and the machine that they run on.
 *
 * @param variables the environment variables of the process
 * @param hasTerminal whether a person sees what is written to standard error
 * @param clock for expiries, rates and waits
 * @param random a cryptographic source: for what secrets are made of, and the spread of tries
 * @param pause how they wait
 * @param answer what a person types in reply to a question
 * @param browser of the desktop that the person sits at; empty where there is none
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
    /** The line; empty where nobody is there to type one. */
    Optional<String> line();
  }

  /** A browser. */
  @FunctionalInterface
  public interface Browser {
    /** Has it show a page, and does not wait; nobody is told whether it does. */
    void show(String url);
  }

  public CommandEnvironment {
    variables = Map.copyOf(variables);
  }

  /**
   * Waits.
   *
   * @throws Refused when the command is interrupted meanwhile
   */
  public void await(Duration over) throws Refused {
    try {
      pause.until(over);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Refused(ExitCode.UNAVAILABLE, "interrupted");
    }
  }

  /** The person's home folder. */
  public Path home() {
    return Path.of(variables.getOrDefault("HOME", System.getProperty("user.home", ".")));
  }

  /** Those of this process. */
  public static CommandEnvironment ofProcess() {
    Map<String, String> variables = System.getenv();
    return new CommandEnvironment(
        variables,
        seesTerminal(variables),
        Clock.systemUTC(),
        new SecureRandom(),
        over -> Thread.sleep(over.toMillis()),
        CommandEnvironment::typed,
        DesktopBrowser.of(variables, System.getProperty("os.name", "")));
  }

  private static Optional<String> typed() {
    return Optional.ofNullable(System.console())
        .filter(CommandEnvironment::isTerminal)
        .map(Console::readLine);
  }

  /**
   * Java only says whether standard input and output are a terminal; Linux says it of standard
   * error.
   */
  private static boolean seesTerminal(Map<String, String> variables) {
    if (variables.getOrDefault("TERM", "dumb").equals("dumb")) {
      return false;
    }
    Path standardError = Path.of("/proc/self/fd/2");
    if (!Files.exists(standardError)) {
      return Optional.ofNullable(System.console())
          .map(CommandEnvironment::isTerminal)
          .orElse(false);
    }
    try {
      String target = standardError.toRealPath().toString();
      return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Before JDK 22 there was a console where there was a terminal; since then it has to be asked.
   */
  private static boolean isTerminal(Console console) {
    try {
      return Boolean.TRUE.equals(Console.class.getMethod("isTerminal").invoke(console));
    } catch (ReflectiveOperationException e) {
      return true;
    }
  }
}
