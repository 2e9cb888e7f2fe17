package dev.bourse.billing;

import dev.bourse.capacity.Hold;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How far the hold on an organization has gone. Immutable; {@link #next} is the state machine.
 *
 * <p>none → grace (a shortfall was seen) → notice (new capacity is paused) → enforce (capacity is
 * reclaimed); back to none from anywhere as soon as what caused it is over. A stage lasts its full
 * time from when it was entered, whatever the service missed while it was down, so that nobody
 * loses capacity without the notice.
 *
 * @param stage how far
 * @param reason what caused it; null without a hold
 * @param sinceMillis when the stage was entered; 0 before the first hold
 * @param enforced whether it is acted upon. While it is not, the hold stays in grace, clusters do
 *     not show it and its time does not run; it begins when the platform starts to act.
 */
public record HoldState(Stage stage, @Nullable Reason reason, long sinceMillis, boolean enforced) {
  /** As much may two clocks differ that are both right. */
  private static final long APART_MILLIS = 60_000;

  /** No hold, and never one. */
  public static final HoldState NONE = new HoldState(Stage.NONE, null, 0, false);

  /** The stages, in order. */
  public enum Stage {
    NONE,
    GRACE,
    NOTICE,
    ENFORCE;

    /** As shown and recorded. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** What causes a hold. */
  public enum Reason {
    /** Used something and has a zero or negative balance. */
    BALANCE("balance"),
    /** The month's usage has reached the spend limit. */
    SPEND_LIMIT("spend-limit");

    private final String label;

    Reason(String label) {
      this.label = label;
    }

    /** As shown and recorded. */
    public String label() {
      return label;
    }

    static Reason of(String label) {
      for (Reason reason : values()) {
        if (reason.label.equals(label)) {
          return reason;
        }
      }
      throw new IllegalArgumentException("no such reason: " + label);
    }
  }

  /**
   * What an organization lacks at this moment, and what the platform acts upon.
   *
   * @param balance whether it used something and has a zero or negative balance
   * @param spendLimit whether the month's usage has reached the limit
   * @param balanceEnforced whether the platform acts upon the first
   * @param spendLimitEnforced whether the platform acts upon the second
   */
  public record Shortfall(
      boolean balance, boolean spendLimit, boolean balanceEnforced, boolean spendLimitEnforced) {

    private boolean has(Reason reason) {
      return reason == Reason.BALANCE ? balance : spendLimit;
    }

    private boolean enforces(Reason reason) {
      return reason == Reason.BALANCE ? balanceEnforced : spendLimitEnforced;
    }

    /** The one to name: one that is acted upon before one that is not. */
    private Optional<Reason> leading() {
      Reason named = null;
      for (Reason reason : Reason.values()) {
        if (has(reason) && (named == null || (enforces(reason) && !enforces(named)))) {
          named = reason;
        }
      }
      return Optional.ofNullable(named);
    }
  }

  /**
   * The state after a look at the organization. The hold is lifted once it lacks nothing; when what
   * caused it is over and something else is lacking, it goes on under that name, so that nobody
   * gains time by lacking two things in turn.
   *
   * @param graceMillis how long grace lasts
   * @param noticeMillis how long notice lasts
   */
  public HoldState next(Shortfall shortfall, long graceMillis, long noticeMillis, long nowMillis) {
    Optional<Reason> leading = shortfall.leading();
    if (leading.isEmpty()) {
      return stage == Stage.NONE ? this : new HoldState(Stage.NONE, null, nowMillis, false);
    }
    Reason named = leading.get();
    if (reason != null
        && shortfall.has(reason)
        && shortfall.enforces(reason) == shortfall.enforces(named)) {
      named = reason;
    }
    boolean acts = shortfall.enforces(named);
    if (reason == null || acts != enforced) {
      return new HoldState(Stage.GRACE, named, nowMillis, acts);
    }
    // A clock that was ahead when the stage was entered must not make it last longer than it lasts.
    long since = sinceMillis > nowMillis + APART_MILLIS ? nowMillis : sinceMillis;
    long lasts = nowMillis - since;
    if (stage == Stage.GRACE && enforced && lasts >= graceMillis) {
      return new HoldState(Stage.NOTICE, named, nowMillis, true);
    }
    if (stage == Stage.NOTICE && lasts >= noticeMillis) {
      return new HoldState(Stage.ENFORCE, named, nowMillis, true);
    }
    return named == reason && since == sinceMillis
        ? this
        : new HoldState(stage, named, since, enforced);
  }

  /** When notice becomes enforce, or has become; null before notice. */
  public @Nullable Long enforceAfterMillis(long noticeMillis) {
    return switch (stage) {
      case NONE, GRACE -> null;
      case NOTICE -> sinceMillis + noticeMillis;
      case ENFORCE -> sinceMillis;
    };
  }

  /** What the organization's clusters are put under; null for nothing. */
  public @Nullable Hold onClusters(long noticeMillis) {
    if (reason == null || !enforced || stage == Stage.NONE) {
      return null;
    }
    return new Hold(
        Hold.Stage.valueOf(stage.name()), reason.label(), enforceAfterMillis(noticeMillis));
  }

  /** For trails and activity. */
  public String shown() {
    return reason == null
        ? "state=none"
        : "state=" + stage.label() + " reason=" + reason.label() + " enforced=" + enforced;
  }
}
