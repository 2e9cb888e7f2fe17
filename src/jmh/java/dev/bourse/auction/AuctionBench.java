package dev.bourse.auction;

import dev.bourse.auction.Bidder.Held;
import dev.bourse.auction.Bidder.Participation;
import dev.bourse.auction.Supply.FreeNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One tick of a large pool: 100,000 clusters of 2,000 organizations over 100,000 nodes, some 70,000
 * of them held, some 130,000 declared.
 *
 * <p>Run: {@code mvn -Pbench test-compile}, then {@code org.openjdk.jmh.Main AuctionBench} on the
 * test class path, as {@code scripts/bench} does. Goal: under 40 ms.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 2)
@Measurement(iterations = 5, time = 2)
public class AuctionBench {
  private static final int CLUSTERS = 100_000;
  private static final int NODES = 100_000;
  private static final int HELD = 70_000;
  private static final int DECLARED = 130_000;
  private static final int ORGS = 2_000;
  private static final long EPOCH_MILLIS = 1_790_000_000_000L;
  private static final long MONTH_MILLIS = 30L * 24 * 3600 * 1000;

  /** How many ceilings there are: the realistic spread, and everybody tied. */
  @Param({"400", "1"})
  public int ceilings;

  /** How many of a hundred clusters are gangs that take all they declare or nothing. */
  @Param({"0", "10"})
  public int gangs;

  private List<Bidder> bidders = List.of();
  private Supply supply = new Supply(0, List.of());

  @Setup
  public void declare() {
    Random random = new Random(1);
    int[] held = new int[CLUSTERS];
    int[] declared = new int[CLUSTERS];
    for (int i = 0; i < HELD; i++) {
      int cluster = skewed(random);
      held[cluster]++;
      declared[cluster]++;
    }
    for (int i = HELD; i < DECLARED; i++) {
      declared[skewed(random)]++;
    }
    bidders = new ArrayList<>();
    // In no order of price or name, and one after the other in memory, as a tick makes them.
    List<Integer> arrivals = new ArrayList<>();
    for (int i = 0; i < CLUSTERS; i++) {
      arrivals.add(i);
    }
    Collections.shuffle(arrivals, random);
    for (int i : arrivals) {
      bidders.add(bidder(random, i, held[i], declared[i]));
    }
    List<FreeNode> free = new ArrayList<>();
    for (int i = HELD; i < NODES; i++) {
      String excluded = random.nextInt(100) == 0 ? org(random.nextInt(ORGS)) : null;
      free.add(new FreeNode("node-" + i, excluded));
    }
    supply = new Supply(NODES, free);
  }

  /** A few clusters are large, most have a node or none. */
  private static int skewed(Random random) {
    double uniform = random.nextDouble();
    return (int) (CLUSTERS * uniform * uniform);
  }

  private Bidder bidder(Random random, int index, int held, int declared) {
    List<Held> nodes = new ArrayList<>();
    for (int i = 0; i < held; i++) {
      nodes.add(
          new Held("alloc-" + index + "-" + i, random.nextInt(10) == 0, random.nextInt(200) > 0));
    }
    int kind = random.nextInt(100);
    return new Bidder(
        "cluster-" + index,
        org(random.nextInt(ORGS)),
        500 - random.nextInt(ceilings),
        EPOCH_MILLIS + random.nextLong(MONTH_MILLIS),
        declared,
        index % 100 < gangs ? Math.max(1, declared) : 1,
        kind == 0
            ? Participation.STATIC
            : kind == 1 ? Participation.INCUMBENTS_ONLY : Participation.OPEN,
        kind == 3,
        nodes,
        held > 0 && kind == 2 ? List.of(nodes.get(0).allocationId()) : List.of());
  }

  private static String org(int index) {
    return "org-" + index;
  }

  @Benchmark
  public Clearing clear() {
    return Auction.clear(110, 10_000, bidders, supply);
  }
}
