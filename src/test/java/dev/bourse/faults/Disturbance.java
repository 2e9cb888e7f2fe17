package dev.bourse.faults;

import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Two processes killed and frozen in turn, or cut off from what is behind a network, every few
 * seconds, or as seldom as is said, until it is ended.
 */
final class Disturbance implements Callable<Void> {
  private static final long LEAST_PEACE_MILLIS = 1_000;

  private final FaultWorld world;
  private final FaultyProxy network;
  private final Random chances;
  private final Future<Void> running;
  private volatile boolean isOver;
  private volatile long peaceMillis = LEAST_PEACE_MILLIS;
  private final AtomicInteger kills = new AtomicInteger();
  private final AtomicInteger freezes = new AtomicInteger();
  private final AtomicInteger cuts = new AtomicInteger();

  Disturbance(FaultWorld world, FaultyProxy network, long seed, ExecutorService threads) {
    this.world = world;
    this.network = network;
    chances = new Random(seed);
    running = threads.submit(this);
  }

  @Override
  public Void call() throws Exception {
    long startMillis = 0;
    for (int i = 0; !isOver; i++) {
      // As long again as a start takes: on a slow machine clients would come no further else.
      pause(peaceMillis + chances.nextLong(2 * peaceMillis) + startMillis);
      ServiceProcess victim = world.process(i % 2);
      int which = chances.nextInt(5);
      if (which < 2) {
        kills.incrementAndGet();
        victim.kill();
        pause(chances.nextInt(1_000));
        long began = System.nanoTime();
        victim.start();
        startMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
      } else if (which < 4) {
        freezes.incrementAndGet();
        victim.freeze();
        // Often longer than clients wait: it thaws when the other has its uploads.
        pause(500 + chances.nextInt(5_500));
        victim.thaw();
      } else {
        cuts.incrementAndGet();
        network.set(FaultyProxy.Fault.RESET);
        pause(chances.nextInt(1_000));
        network.set(FaultyProxy.Fault.NONE);
      }
    }
    return null;
  }

  /** Between two disturbances is this long from now on, and up to three times as long. */
  void leave(long millis) {
    peaceMillis = Math.max(LEAST_PEACE_MILLIS, millis);
  }

  private static void pause(long millis) throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(millis);
  }

  int faults() {
    return kills.get() + freezes.get() + cuts.get();
  }

  int kills() {
    return kills.get();
  }

  /** Waits until both processes serve and nothing is cut off. */
  void end() throws InterruptedException, ExecutionException, TimeoutException {
    isOver = true;
    running.get(5, TimeUnit.MINUTES);
  }

  @Override
  public String toString() {
    return kills + " kills, " + freezes + " freezes and " + cuts + " cuts";
  }
}
