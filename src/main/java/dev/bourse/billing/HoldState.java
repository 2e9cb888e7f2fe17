package dev.bourse.billing;

import dev.bourse.capacity.Hold;
import dev.bourse.schemas.common.HoldJson;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The stage of an organization's automatic hold. Immutable; {@link #next} is the state machine.
 *
 * <p>none → grace (a shortfall was seen) → notice (new capacity is paused) → enforce (capacity is
 * reclaimed); back to none from any stage as soon as the cause is gone. A stage always lasts its
 * full time, even if the service was down in between, so that no organization loses capacity
 * without the notice.
 *
 * @param stage the stage
 * @param reason the cause; null without a hold
 * @param sinceMillis when the stage was entered; 0 before the first hold
 * @param enforced whether the platform acts on it. If not, the hold stays in grace, clusters do not
 *     show it, and its time starts only when the platform begins to enforce it.
 */
public record HoldState(Stage stage, @Nullable Reason reason, long sinceMillis, boolean enforced) {
  /** Tolerated skew of two correct clocks. */
  private static final long APART_MILLIS = 60_000;

  /** No hold, now or earlier. */
  public static final HoldState NONE = new HoldState(Stage.NONE, null, 0, false);

  /** The stages, in order. */
  public enum Stage {
    NONE,
    GRACE,
    NOTICE,
    ENFORCE;

    /** The stage as shown and recorded. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** The causes of a hold. */
  public enum Reason {
    /** The organization has used capacity, and its balance is zero or negative. */
    BALANCE("balance"),
    /** The month's usage has reached the spend limit. */
    SPEND_LIMIT("spend-limit");

    private final String label;

    Reason(String label) {
      this.label = label;
    }

    /** The cause as shown and recorded. */
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
   * An organization's shortfall at this moment, and which causes the platform enforces.
   *
   * @param balance whether it has used capacity and its balance is zero or negative
   * @param spendLimit whether the month's usage has reached the limit
   * @param balanceEnforced whether the platform enforces the first
   * @param spendLimitEnforced whether the platform enforces the second
   */
  public record Shortfall(
      boolean balance, boolean spendLimit, boolean balanceEnforced, boolean spendLimitEnforced) {

    private boolean has(Reason reason) {
      return reason == Reason.BALANCE ? balance : spendLimit;
    }

    private boolean enforces(Reason reason) {
      return reason == Reason.BALANCE ? balanceEnforced : spendLimitEnforced;
    }

    /** Returns the cause to show: an enforced one before one that is not. */
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
   * Returns the state after a check of the organization. The hold is lifted when there is no
   * shortfall. If its cause is gone and there is another one, the hold continues under that cause,
   * so that alternating shortfalls gain no time.
   *
   * @param graceMillis length of the grace
   * @param noticeMillis length of the notice
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
    // A clock that ran ahead when the stage was entered must not prolong it.
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

  /** Returns when the notice ends or ended; null before the notice. */
  public @Nullable Long enforceAfterMillis(long noticeMillis) {
    return switch (stage) {
      case NONE, GRACE -> null;
      case NOTICE -> sinceMillis + noticeMillis;
      case ENFORCE -> sinceMillis;
    };
  }

  /** Returns the form of the contracts; null without a hold. */
  @Nullable HoldJson toJson(long noticeMillis, long nowMillis) {
    if (reason == null) {
      return null;
    }
    Long after = enforceAfterMillis(noticeMillis);
    return new HoldJson(
        stage.label(),
        reason.label(),
        sinceMillis,
        enforced,
        after == null ? null : (Long) Math.max(0, after - nowMillis));
  }

  /** Returns the hold that the organization's clusters are put under; null for none. */
  public @Nullable Hold clusterHold(long noticeMillis) {
    if (reason == null || !enforced || stage == Stage.NONE) {
      return null;
    }
    return new Hold(
        Hold.Stage.valueOf(stage.name()), reason.label(), enforceAfterMillis(noticeMillis));
  }

  /** Returns the description for trails and activity. */
  public String shown() {
    return reason == null
        ? "state=none"
        : "state=" + stage.label() + " reason=" + reason.label() + " enforced=" + enforced;
  }
}
