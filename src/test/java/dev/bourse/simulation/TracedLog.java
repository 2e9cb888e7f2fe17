package dev.bourse.simulation;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Takes what the service logs into the trace of the simulation that runs on this thread: the log is
 * written to the standard error output, which goes on as it was for all other threads.
 */
final class TracedLog {
  private static final ThreadLocal<@Nullable Trace> CURRENT = new ThreadLocal<>();

  /** In front of the rest of a line stands the time. */
  private static final char MARK = ' ';

  private static final String STACK = " | at ";

  private static boolean isInstalled;

  private TracedLog() {}

  /** From now on this thread's log goes into a trace; null for back to where it went before. */
  static void into(@Nullable Trace trace) {
    install();
    if (trace == null) {
      CURRENT.remove();
    } else {
      CURRENT.set(trace);
    }
  }

  private static synchronized void install() {
    if (!isInstalled) {
      isInstalled = true;
      System.setErr(new Dispatching(System.err));
    }
  }

  private static final class Dispatching extends PrintStream {
    private final PrintStream before;

    Dispatching(PrintStream before) {
      super(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8);
      this.before = before;
    }

    @Override
    public void println(@Nullable String line) {
      Trace trace = CURRENT.get();
      if (trace == null) {
        before.println(line);
      } else if (line != null) {
        note(trace, line);
      }
    }

    /** Without the stack of an error, whose frames are the JVM's to name. */
    private static void note(Trace trace, String line) {
      int stack = line.indexOf(STACK);
      trace.note("log", line.substring(line.indexOf(MARK) + 1, stack < 0 ? line.length() : stack));
    }

    /** What {@link Throwable#printStackTrace(PrintStream)} calls. */
    @Override
    public void println(@Nullable Object line) {
      if (CURRENT.get() == null) {
        before.println(line);
      }
    }

    @Override
    public void write(byte[] bytes, int from, int length) {
      Trace trace = CURRENT.get();
      if (trace == null) {
        before.write(bytes, from, length);
      } else {
        // The log gives each line in one piece.
        note(trace, new String(bytes, from, length, StandardCharsets.UTF_8).stripTrailing());
      }
    }

    @Override
    public void write(int one) {
      if (CURRENT.get() == null) {
        before.write(one);
      }
    }

    @Override
    public void flush() {
      before.flush();
    }
  }
}
