package dev.bourse.simulation.hostile;

import io.vertx.core.internal.VertxInternal;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Hostile input for any duration: run by {@code scripts/hostile}. */
final class HostileInputRun {
  private static final int MOST_HOLDS = 5;

  /** A part of all mutations with each seed, so that every operation has its turn soon. */
  private static final Fuzzer.Effort EFFORT = new Fuzzer.Effort(40, 40);

  /** The goal; longer holds are printed with the loop's stack. */
  private static final double GOAL_MILLIS = 20;

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
  private long seed = System.currentTimeMillis() % 1_000_000;
  private double minutes = 5;
  private String only = "";

  private HostileInputRun() {}

  public static void main(String[] args) throws IOException {
    HostileInputRun run = new HostileInputRun();
    for (int i = 0; i + 1 < args.length; i += 2) {
      switch (args[i]) {
        case "--seed" -> run.seed = Long.parseLong(args[i + 1]);
        case "--minutes" -> run.minutes = Double.parseDouble(args[i + 1]);
        case "--only" -> run.only = args[i + 1];
        default -> throw new IllegalArgumentException("there is no " + args[i]);
      }
    }
    boolean isClean = run.until(System.nanoTime() + (long) (run.minutes * 60e9));
    System.exit(isClean ? 0 : 1);
  }

  /** Runs one seed after the other, each with a new world. */
  private boolean until(long deadline) throws IOException {
    boolean isClean = true;
    do {
      isClean &= attack(deadline);
      seed++;
    } while (System.nanoTime() < deadline);
    return isClean;
  }

  private boolean attack(long deadline) throws IOException {
    try (HostileTarget world = new HostileTarget();
        LoopHoldProbe probe = probe(world);
        Fuzzer fuzzer = new Fuzzer(world, probe, seed, Fuzzer.PATIENCE_MILLIS)) {
      List<Map.Entry<String, Supplier<AcceptedRequest>>> samples =
          new ArrayList<>(world.samples().entrySet());
      // In another order each time, because time may run out before the end.
      java.util.Collections.shuffle(samples, new java.util.Random(seed));
      int tried = 0;
      for (Map.Entry<String, Supplier<AcceptedRequest>> sample : samples) {
        if (!sample.getKey().startsWith(only)) {
          continue;
        }
        if (tried > 0 && System.nanoTime() > deadline) {
          break;
        }
        long begun = System.nanoTime();
        int known = fuzzer.findings().size();
        try {
          fuzzer.attack(sample.getKey(), sample.getValue(), EFFORT);
        } catch (AssertionError spent) {
          // Garbled bytes may delete objects that other samples need.
          out.println("this world is spent: " + spent.getMessage());
          break;
        }
        tried++;
        out.printf(
            "%s: %d s%n",
            sample.getKey(), TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begun));
        fuzzer.findings().stream().skip(known).forEach(one -> out.println("FOUND " + one));
      }
      out.println(tried + " samples; " + fuzzer.summary());
      report(probe);
      return fuzzer.findings().isEmpty();
    }
  }

  static LoopHoldProbe probe(HostileTarget world) {
    return new LoopHoldProbe(((VertxInternal) world.bourse().vertx()).nettyEventLoopGroup());
  }

  private void report(LoopHoldProbe probe) {
    out.println("longest holds of an event loop:");
    probe.longest().stream()
        .limit(MOST_HOLDS)
        .forEach(
            hold ->
                out.println("  " + hold + (hold.busyMillis() > GOAL_MILLIS ? hold.doing() : "")));
  }
}
