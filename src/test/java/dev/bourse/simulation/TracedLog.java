package dev.bourse.simulation;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Copies the service's log into the trace of the simulation on this thread. The log is written to
 * standard error, which is unchanged for all other threads.
 */
final class TracedLog {
  private static final ThreadLocal<@Nullable Trace> CURRENT = new ThreadLocal<>();

  /** Separates the time from the rest of a line. */
  private static final char MARK = ' ';

  private static final String STACK = " | at ";

  private static boolean isInstalled;

  private TracedLog() {}

  /** Sends this thread's log to a trace from now on; null restores the default. */
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

    /** Without the stack of an error, whose frames differ between JVMs. */
    private static void note(Trace trace, String line) {
      int stack = line.indexOf(STACK);
      trace.note("log", line.substring(line.indexOf(MARK) + 1, stack < 0 ? line.length() : stack));
    }

    /** Called by {@link Throwable#printStackTrace(PrintStream)}. */
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
        // The log writes each line in one call.
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
