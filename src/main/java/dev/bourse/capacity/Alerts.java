package dev.bourse.capacity;

import dev.bourse.core.Price;
import dev.bourse.pools.PriceGrid;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The alerts of a cluster: its thresholds, and the kinds of alert that are raised. Each tick
 * computes the next alerts from its readings. A notification is sent when an alert becomes raised.
 * Pure.
 *
 * <p>A raised alert ends only when its reading has left the threshold by a margin, so that a
 * reading that moves around the threshold does not cause repeated notifications.
 *
 * @param thresholds the readings from which alerts are raised
 * @param raised the kinds that are raised
 */
public record Alerts(Thresholds thresholds, Set<Kind> raised) {
  /** No thresholds. */
  public static final Alerts NONE =
      new Alerts(new Thresholds(null, null, null, null, null), Set.of());

  /** How far under the threshold a rival's bid must fall, in per cent of the own ceiling. */
  private static final int RIVAL_MARGIN_PERCENT = 5;

  /** How far under the threshold the price must fall, in per cent of the threshold. */
  private static final int PRICE_MARGIN_PERCENT = 5;

  /** Supply must rise over the threshold by this fraction of it (a tenth), at least one node. */
  private static final int SUPPLY_MARGIN_SHARE = 10;

  private static final long MICROS_PER_CENT = 10_000;

  public Alerts {
    raised = Set.copyOf(raised);
  }

  /** The kinds of alert. */
  public enum Kind {
    RIVAL("rival"),
    PRICE("price"),
    SUPPLY("supply"),
    SPEND("spend"),
    LEASE("lease");

    private final String label;

    Kind(String label) {
      this.label = label;
    }

    /** Returns its name in contracts and rows. */
    public String label() {
      return label;
    }

    /**
     * Returns the kind with this label.
     *
     * @throws IllegalArgumentException if no kind has it
     */
    static Kind of(String label) {
      for (Kind kind : values()) {
        if (kind.label.equals(label)) {
          return kind;
        }
      }
      throw new IllegalArgumentException("unknown kind of alert: " + label);
    }
  }

  /**
   * The conditions that raise alerts; null turns an alert off.
   *
   * @param rivalWithinPercent the highest bid of another organization is over the own ceiling, or
   *     under it by at most this percentage of it, at the precision of the price grid
   * @param priceAboveCents the clearing price per GPU-hour is higher than this
   * @param supplyUnderNodes the own ceiling would win fewer further nodes than this
   * @param spendAboveCents the declaration has cost at least this since its budget was set
   * @param leaseEndsWithinMillis the declaration lapses within this time
   */
  public record Thresholds(
      @Nullable Integer rivalWithinPercent,
      @Nullable Long priceAboveCents,
      @Nullable Integer supplyUnderNodes,
      @Nullable Long spendAboveCents,
      @Nullable Long leaseEndsWithinMillis) {

    /** True if all alerts are off. */
    boolean isEmpty() {
      return equals(NONE.thresholds);
    }

    /** True if both have the same threshold for this kind. */
    private boolean isSameFor(Kind kind, Thresholds other) {
      return switch (kind) {
        case RIVAL -> same(rivalWithinPercent, other.rivalWithinPercent);
        case PRICE -> same(priceAboveCents, other.priceAboveCents);
        case SUPPLY -> same(supplyUnderNodes, other.supplyUnderNodes);
        case SPEND -> same(spendAboveCents, other.spendAboveCents);
        case LEASE -> same(leaseEndsWithinMillis, other.leaseEndsWithinMillis);
      };
    }

    private static boolean same(@Nullable Number one, @Nullable Number other) {
      return one == null ? other == null : one.equals(other);
    }
  }

  /**
   * The readings of a tick that thresholds are compared with.
   *
   * @param ceilingCents the cluster's ceiling per GPU-hour
   * @param rivalCents the highest ceiling of another organization, rounded down to the price grid;
   *     0 if no other organization bids
   * @param clearingCents the clearing price per GPU-hour; null if no bid has a seat
   * @param nodesLeft the least number of further nodes that the ceiling would win
   * @param spentMicros the cost of the declaration since its budget was set; null without a budget,
   *     and while the cost is not known
   * @param leaseLeftMillis the time until the declaration lapses; null if it has no end
   */
  public record Readings(
      long ceilingCents,
      long rivalCents,
      @Nullable Long clearingCents,
      long nodesLeft,
      @Nullable Long spentMicros,
      @Nullable Long leaseLeftMillis) {}

  /** True if all alerts are off. */
  public boolean areNone() {
    return thresholds.isEmpty();
  }

  /** Returns the alerts with other thresholds; those whose threshold changed are not raised. */
  Alerts with(Thresholds changed) {
    Set<Kind> kept = EnumSet.noneOf(Kind.class);
    for (Kind kind : raised) {
      if (changed.isSameFor(kind, thresholds)) {
        kept.add(kind);
      }
    }
    return new Alerts(changed, kept);
  }

  /** Returns the alerts after a tick. A spend alert stays as it was while the cost is not known. */
  public Alerts after(Readings seen) {
    if (thresholds.isEmpty()) {
      return this;
    }
    Set<Kind> now = EnumSet.noneOf(Kind.class);
    for (Kind kind : Kind.values()) {
      boolean wasRaised = raised.contains(kind);
      if (isOver(kind, seen, wasRaised)) {
        now.add(kind);
      }
    }
    return now.equals(raised) ? this : new Alerts(thresholds, now);
  }

  /** Returns the kinds that are raised here but not in {@code before}, with their texts. */
  public Map<Kind, String> newSince(Alerts before, Readings seen) {
    Map<Kind, String> texts = new EnumMap<>(Kind.class);
    for (Kind kind : raised) {
      if (!before.raised.contains(kind)) {
        texts.put(kind, describe(kind, seen));
      }
    }
    return texts;
  }

  private boolean isOver(Kind kind, Readings seen, boolean wasRaised) {
    return switch (kind) {
      case RIVAL -> rivalIsNear(seen, wasRaised ? RIVAL_MARGIN_PERCENT : 0);
      case PRICE -> priceIsAbove(seen, wasRaised ? 100 - PRICE_MARGIN_PERCENT : 100);
      case SUPPLY -> supplyIsUnder(seen, wasRaised);
      case SPEND ->
          thresholds.spendAboveCents() != null
              && (seen.spentMicros() == null
                  ? wasRaised
                  : seen.spentMicros() >= thresholds.spendAboveCents() * MICROS_PER_CENT);
      case LEASE ->
          thresholds.leaseEndsWithinMillis() != null
              && seen.leaseLeftMillis() != null
              && seen.leaseLeftMillis() <= thresholds.leaseEndsWithinMillis();
    };
  }

  /** Compares with the upper end of the rival's price step, so that no alert is late. */
  private boolean rivalIsNear(Readings seen, int marginPercent) {
    Integer within = thresholds.rivalWithinPercent();
    return within != null
        && seen.rivalCents() > 0
        && PriceGrid.stepEnd(seen.rivalCents()) * 100
            >= seen.ceilingCents() * (100 - within - marginPercent);
  }

  private boolean priceIsAbove(Readings seen, int percent) {
    Long above = thresholds.priceAboveCents();
    Long clearing = seen.clearingCents();
    return above != null && clearing != null && clearing * 100 > above * percent;
  }

  private boolean supplyIsUnder(Readings seen, boolean wasRaised) {
    Integer under = thresholds.supplyUnderNodes();
    return under != null
        && seen.nodesLeft() < under + (wasRaised ? Math.max(1, under / SUPPLY_MARGIN_SHARE) : 0);
  }

  private static String describe(Kind kind, Readings seen) {
    return switch (kind) {
      case RIVAL ->
          "another organization bids %s to %s, the ceiling is %s"
              .formatted(
                  Price.shown(seen.rivalCents()),
                  Price.shown(PriceGrid.stepEnd(seen.rivalCents())),
                  Price.shown(seen.ceilingCents()));
      case PRICE ->
          "the clearing price is %s"
              .formatted(seen.clearingCents() == null ? "none" : Price.shown(seen.clearingCents()));
      case SUPPLY -> "the ceiling would win at least %s more nodes".formatted(seen.nodesLeft());
      case SPEND -> "the declaration has reached the spend threshold";
      case LEASE -> "the declaration lapses in %s s".formatted(seconds(seen.leaseLeftMillis()));
    };
  }

  private static long seconds(@Nullable Long millis) {
    return millis == null ? 0 : Math.max(0, millis / 1000);
  }
}
