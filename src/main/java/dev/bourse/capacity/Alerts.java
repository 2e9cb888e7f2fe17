package dev.bourse.capacity;

import dev.bourse.core.Price;
import dev.bourse.pools.PriceGrid;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a cluster wants to be told of, and what it has been told. Pure: each tick's readings make
 * the alerts after it, and what is raised then and was not before is told, once.
 *
 * <p>An alert that is raised ends only when its reading is over the threshold by a margin, so that
 * one that moves about the threshold is not told again and again.
 *
 * @param thresholds from when on
 * @param raised what has been told and is not over
 */
public record Alerts(Thresholds thresholds, Set<Kind> raised) {
  /** Nothing is to be told. */
  public static final Alerts NONE =
      new Alerts(new Thresholds(null, null, null, null, null), Set.of());

  /** How far under its threshold a rival's bid must fall, in per cent of the own ceiling. */
  private static final int RIVAL_MARGIN_PERCENT = 5;

  /** How far under its threshold a price must fall, in per cent of it. */
  private static final int PRICE_MARGIN_PERCENT = 5;

  /** The share of its threshold, and at least one node, by which supply must rise over it. */
  private static final int SUPPLY_MARGIN_SHARE = 10;

  private static final long MICROS_PER_CENT = 10_000;

  public Alerts {
    raised = Set.copyOf(raised);
  }

  /** What there is to be told of. */
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

    /** As contracts and rows spell it. */
    public String label() {
      return label;
    }

    /**
     * The kind of this label.
     *
     * @throws IllegalArgumentException when there is none
     */
    static Kind of(String label) {
      for (Kind kind : values()) {
        if (kind.label.equals(label)) {
          return kind;
        }
      }
      throw new IllegalArgumentException("no kind of alert: " + label);
    }
  }

  /**
   * From when on to tell; null for never.
   *
   * @param rivalWithinPercent another organization's highest bid is as near to the own ceiling, in
   *     per cent of that, or over it, as far as the price grid shows
   * @param priceAboveCents the clearing price per GPU-hour is higher
   * @param supplyUnderNodes the own ceiling would win fewer nodes beside those declared
   * @param spendAboveCents the declaration has cost as much since its budget was set
   * @param leaseEndsWithinMillis the declaration lapses within this time
   */
  public record Thresholds(
      @Nullable Integer rivalWithinPercent,
      @Nullable Long priceAboveCents,
      @Nullable Integer supplyUnderNodes,
      @Nullable Long spendAboveCents,
      @Nullable Long leaseEndsWithinMillis) {

    /** Whether nothing is to be told. */
    boolean isEmpty() {
      return equals(NONE.thresholds);
    }

    /** Whether this kind is told from the same reading on. */
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
   * What a tick saw that alerts may tell.
   *
   * @param ceilingCents the cluster's ceiling per GPU-hour
   * @param rivalCents the highest ceiling of another organization, rounded down to the price grid;
   *     0 if nobody else bids
   * @param clearingCents what the tick cleared at; null when nothing is seated
   * @param nodesLeft the number of nodes more that the ceiling would win at least
   * @param spentMicros what the declaration has cost since its budget was set; null without one,
   *     and where that is not known now
   * @param leaseLeftMillis until the declaration lapses; null for never
   */
  public record Readings(
      long ceilingCents,
      long rivalCents,
      @Nullable Long clearingCents,
      long nodesLeft,
      @Nullable Long spentMicros,
      @Nullable Long leaseLeftMillis) {}

  /** Whether nothing is to be told. */
  public boolean areNone() {
    return thresholds.isEmpty();
  }

  /** The same with other thresholds: what they change is told anew. */
  Alerts with(Thresholds changed) {
    Set<Kind> kept = EnumSet.noneOf(Kind.class);
    for (Kind kind : raised) {
      if (changed.isSameFor(kind, thresholds)) {
        kept.add(kind);
      }
    }
    return new Alerts(changed, kept);
  }

  /** The alerts after a tick; what it does not know stays as it was. */
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

  /** What is raised here and was not before, and how it is told. */
  public Map<Kind, String> newSince(Alerts before, Readings seen) {
    Map<Kind, String> told = new EnumMap<>(Kind.class);
    for (Kind kind : raised) {
      if (!before.raised.contains(kind)) {
        told.put(kind, told(kind, seen));
      }
    }
    return told;
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

  /** Uses the upper end of the rival's step, so that no alert comes too late. */
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

  private static String told(Kind kind, Readings seen) {
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
      case SPEND -> "the declaration has cost what was to be told of";
      case LEASE -> "the declaration lapses in %s s".formatted(seconds(seen.leaseLeftMillis()));
    };
  }

  private static long seconds(@Nullable Long millis) {
    return millis == null ? 0 : Math.max(0, millis / 1000);
  }
}
