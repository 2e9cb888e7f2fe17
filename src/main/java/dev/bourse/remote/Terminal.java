package dev.bourse.remote;

import java.io.ByteArrayOutputStream;
import java.io.Console;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The terminal of the person who runs a command. */
public final class Terminal {
  /** The longest reply to a question, in bytes. */
  private static final int LONGEST_LINE = 1_000;

  /** A shell starts in milliseconds; on a machine that takes longer, the person has given up. */
  private static final int TEST_SECONDS = 5;

  private Terminal() {}

  /** Returns whether standard input and output are a terminal. */
  public static boolean isThere() {
    return console().isPresent();
  }

  /**
   * Returns the line that the person types next; empty if there is no terminal. End of input is an
   * empty line. The person types standard input and sees the question on standard error; standard
   * output may go to a file.
   */
  public static Optional<String> line() {
    if (!isTyped()) {
      return Optional.empty();
    }
    Optional<String> line = line(System.in);
    if (line.isEmpty()) {
      // End of input leaves the cursor on the line of the question.
      System.err.println();
    }
    return Optional.of(line.orElse(""));
  }

  /** Reads a line and nothing after it; empty at the end of input. */
  static Optional<String> line(InputStream input) {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    try {
      for (int read = input.read(); read != '\n'; read = input.read()) {
        if (read < 0) {
          return Optional.of(line.toString(StandardCharsets.UTF_8)).filter(end -> !end.isEmpty());
        }
        if (line.size() < LONGEST_LINE) {
          line.write(read);
        }
      }
    } catch (IOException e) {
      return Optional.empty();
    }
    return Optional.of(line.toString(StandardCharsets.UTF_8));
  }

  /**
   * True if standard input and standard error are terminals; Java has no API to test standard
   * error.
   */
  private static boolean isTyped() {
    ProcessBuilder test = new ProcessBuilder("sh", "-c", "test -t 0 && test -t 2").inheritIO();
    try {
      Process asked = test.start();
      if (asked.waitFor(TEST_SECONDS, TimeUnit.SECONDS)) {
        return asked.exitValue() == 0;
      }
      asked.destroyForcibly();
    } catch (IOException e) {
      // The machine has no shell.
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return false;
  }

  private static Optional<Console> console() {
    return Optional.ofNullable(System.console()).filter(Terminal::isTerminal);
  }

  /** Before JDK 22 a console exists only on a terminal; later versions have to be asked. */
  private static boolean isTerminal(Console console) {
    try {
      return Boolean.TRUE.equals(Console.class.getMethod("isTerminal").invoke(console));
    } catch (ReflectiveOperationException e) {
      return true;
    }
  }
}
