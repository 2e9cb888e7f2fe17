package dev.bourse.simulation;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoRegistration;
import io.netty.channel.ManualIoEventLoop;
import io.netty.util.concurrent.Ticker;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * An event loop that runs on demand, on the calling thread, with a given clock. It has no network.
 */
public final class ManualLoop extends ManualIoEventLoop {
  public ManualLoop(LongSupplier nanoTime) {
    super(null, Thread.currentThread(), executor -> new NoNetwork(), new GivenTicker(nanoTime));
  }

  /** Returns the time until its next timer is due; {@link Long#MAX_VALUE} without one. */
  public long nextTimerNanos() {
    long next = nextScheduledTaskNano();
    return next < 0 ? Long.MAX_VALUE : next;
  }

  /** Runs all due tasks and the tasks that they submit; returns their number. */
  public int runAllDue() {
    int all = 0;
    for (int ran = runNow(); ran > 0; ran = runNow()) {
      all += ran;
    }
    return all;
  }

  private record GivenTicker(LongSupplier source) implements Ticker {
    @Override
    public long initialNanoTime() {
      return 0;
    }

    @Override
    public long nanoTime() {
      return source.getAsLong();
    }

    @Override
    public void sleep(long delay, TimeUnit unit) {
      throw new UnsupportedOperationException("a simulation never sleeps");
    }
  }

  private static final class NoNetwork implements IoHandler {
    @Override
    public int run(IoHandlerContext context) {
      return 0;
    }

    @Override
    public IoRegistration register(IoHandle handle) {
      throw new UnsupportedOperationException("there is no network in a simulation");
    }

    @Override
    public void wakeup() {
      // It never sleeps.
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> handleType) {
      return false;
    }
  }
}
