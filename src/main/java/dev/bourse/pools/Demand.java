package dev.bourse.pools;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;

/**
 * The demand of a pool's bids on the {@link PriceGrid}, without names.
 *
 * @param levels the levels from the highest grid price to the lowest. Each has the number of nodes
 *     wanted at its price or above, so the last one has all nodes of all bids. Grid prices without
 *     further demand are left out.
 */
public record Demand(List<Level> levels) {
  /** The most levels, the prices of a grid from 0 to the highest cap of 1,000,000 dollars. */
  public static final int MAX_LEVELS = 337;

  /** The demand without bids. */
  public static final Demand NONE = new Demand(List.of());

  public Demand {
    levels = List.copyOf(levels);
  }

  /**
   * A grid price and the demand at it.
   *
   * @param cents the price per GPU-hour
   * @param nodes the number of nodes wanted at this price or a higher one
   */
  public record Level(long cents, long nodes) {}

  /** One cluster's bid: a number of nodes, held ones included, at a ceiling per GPU-hour. */
  public record Bid(long cents, int nodes) {}

  /**
   * Returns the nodes bid for at this price or a higher one. All bids in the step of the price
   * count, because the step does not show where in it they lie, so a forecast never promises a node
   * that another bid of the step would win.
   */
  public long atOrAbove(long cents) {
    long nodes = 0;
    for (Level level : levels) {
      if (PriceGrid.stepEnd(level.cents()) < cents) {
        break;
      }
      nodes = level.nodes();
    }
    return nodes;
  }

  /** Returns the number of nodes of all bids. */
  public long nodes() {
    return levels.isEmpty() ? 0 : levels.get(levels.size() - 1).nodes();
  }

  /**
   * Returns the demand of these bids.
   *
   * @param bids at the reserve price or above it
   * @param reserveCents the first price of the grid
   */
  public static Demand of(Collection<Bid> bids, long reserveCents) {
    // Ceilings fit 32 bits, so both sort as one long, several times faster than objects do.
    long[] packed =
        bids.stream()
            .filter(bid -> bid.nodes() > 0)
            .mapToLong(bid -> bid.cents() << Integer.SIZE | bid.nodes())
            .toArray();
    Arrays.sort(packed);
    long[] steps = new long[packed.length];
    long step = reserveCents;
    for (int i = 0; i < packed.length; i++) {
      step = PriceGrid.floor(step, packed[i] >>> Integer.SIZE);
      steps[i] = step;
    }
    List<Level> levels = new ArrayList<>();
    long nodes = 0;
    for (int i = packed.length - 1; i >= 0; i--) {
      nodes += packed[i] & Integer.MAX_VALUE;
      if (i == 0 || steps[i - 1] != steps[i]) {
        levels.add(new Level(steps[i], nodes));
      }
    }
    return new Demand(levels);
  }
}
