package dev.bourse.faults;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** What this run has started and mounted, and its end however the run ends. */
final class Processes {
  private static final Deque<Runnable> ENDS = new ArrayDeque<>();

  static {
    Runtime.getRuntime().addShutdownHook(new Thread(Processes::endAll));
  }

  private Processes() {}

  /** Has something taken down at the end of the run, the last first, unless that was done. */
  static synchronized void atEnd(Runnable end) {
    ENDS.push(end);
  }

  private static synchronized void endAll() {
    while (!ENDS.isEmpty()) {
      try {
        ENDS.pop().run();
      } catch (RuntimeException e) {
        System.err.println("faults: something could not be taken down: " + e);
      }
    }
  }

  /** Runs a command to its end; tells its exit code. */
  static int run(String... command) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(List.of(command))
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new IOException(String.join(" ", command) + " does not end");
    }
    return process.exitValue();
  }
}
