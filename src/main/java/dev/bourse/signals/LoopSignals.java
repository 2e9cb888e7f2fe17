package dev.bourse.signals;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * Measures the lag of event loops: each has a timer, and every request of the loop waits as long as
 * that timer is late. The timer of a loop that hangs does not fire; its lag so far is a gauge of
 * its own.
 */
public final class LoopSignals {
  /** Frequent enough to catch a lasting lag, rare enough to cost nothing. */
  private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private LoopSignals() {}

  /** Registers the metrics and starts the timers; they run until their loops stop. */
  public static void registerMetrics(
      Signals signals, Iterable<? extends ScheduledExecutorService> loops, LongSupplier nanoTime) {
    Signals.Times late =
        signals.times(
            "bourse_event_loop_late_seconds",
            "Lag of a timer of an event loop, measured twice a second.",
            List.of(Label.LOOP),
            0.001,
            0.005,
            0.025,
            0.1,
            0.5,
            2);
    List<Timer> timers = new ArrayList<>();
    for (ScheduledExecutorService loop : loops) {
      Timer timer = new Timer(loop, late.at(Integer.toString(timers.size())), nanoTime);
      timers.add(timer);
      timer.next();
    }
    signals.gauges(
        "bourse_event_loop_silent_seconds",
        "Time that a timer of an event loop is overdue now; above one second the loop hangs.",
        List.of(Label.LOOP),
        readings -> {
          for (int i = 0; i < timers.size(); i++) {
            readings.put(timers.get(i).lateNanos() / 1e9, Integer.toString(i));
          }
        });
  }

  private static final class Timer implements Runnable {
    private final ScheduledExecutorService loop;
    private final LongConsumer late;
    private final LongSupplier nanoTime;
    private volatile long dueNanos;

    Timer(ScheduledExecutorService loop, LongConsumer late, LongSupplier nanoTime) {
      this.loop = loop;
      this.late = late;
      this.nanoTime = nanoTime;
    }

    void next() {
      dueNanos = nanoTime.getAsLong() + PERIOD_NANOS;
      try {
        loop.schedule(this, PERIOD_NANOS, TimeUnit.NANOSECONDS);
      } catch (RejectedExecutionException ended) {
        // The loop was shut down in order.
      }
    }

    @Override
    public void run() {
      late.accept(lateNanos());
      next();
    }

    long lateNanos() {
      return Math.max(0, nanoTime.getAsLong() - dueNanos);
    }
  }
}
