package dev.bourse.pools;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;

/**
 * What a pool's bids ask for together, without saying whose they are.
 *
 * @param levels from the highest price to the lowest; each says how many nodes are wanted at or
 *     above it, so the last one has all that are bid for
 */
public record Demand(List<Level> levels) {
  /** Levels at most: enough to draw a curve by, and an answer of a few kilobytes. */
  public static final int MAX_LEVELS = 100;

  /** Nobody bids. */
  public static final Demand NONE = new Demand(List.of());

  public Demand {
    levels = List.copyOf(levels);
  }

  /**
   * A price and what is wanted at it.
   *
   * @param cents per GPU-hour
   * @param nodes how many are wanted at this price or a higher one
   */
  public record Level(long cents, long nodes) {}

  /** One cluster's bid: so many nodes, held ones too, at this ceiling. */
  public record Bid(long cents, int nodes) {}

  /**
   * Nodes that are bid for at this price or a higher one; at least so many where levels are left
   * out.
   */
  public long atOrAbove(long cents) {
    long nodes = 0;
    for (Level level : levels) {
      if (level.cents() < cents) {
        break;
      }
      nodes = level.nodes();
    }
    return nodes;
  }

  /** All nodes that are bid for. */
  public long nodes() {
    return levels.isEmpty() ? 0 : levels.get(levels.size() - 1).nodes();
  }

  /**
   * The demand of these bids. Of more prices than there may be levels some are left out, evenly and
   * never the first or the last; what stands at the others is exact all the same.
   */
  public static Demand of(Collection<Bid> bids) {
    // Ceilings fit 32 bits, so both sort as one long, several times faster than objects do.
    long[] packed =
        bids.stream()
            .filter(bid -> bid.nodes() > 0)
            .mapToLong(bid -> bid.cents() << Integer.SIZE | bid.nodes())
            .toArray();
    Arrays.sort(packed);
    List<Level> all = new ArrayList<>();
    long nodes = 0;
    for (int i = packed.length - 1; i >= 0; i--) {
      long cents = packed[i] >>> Integer.SIZE;
      nodes += packed[i] & Integer.MAX_VALUE;
      if (i == 0 || packed[i - 1] >>> Integer.SIZE != cents) {
        all.add(new Level(cents, nodes));
      }
    }
    return new Demand(thinned(all));
  }

  private static List<Level> thinned(List<Level> all) {
    if (all.size() <= MAX_LEVELS) {
      return all;
    }
    List<Level> some = new ArrayList<>();
    for (int i = 0; i < MAX_LEVELS; i++) {
      some.add(all.get((int) ((long) i * (all.size() - 1) / (MAX_LEVELS - 1))));
    }
    return some;
  }
}
