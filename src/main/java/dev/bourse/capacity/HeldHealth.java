package dev.bourse.capacity;

import dev.bourse.nodes.Health;
import dev.bourse.schemas.vm.AllocationHealthJson;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The health of an active node as its holder sees it.
 *
 * @param state the state of the last finding
 * @param sinceMillis since when the node has this state
 * @param reasons a sentence for each fault; empty without a fault
 * @param isCredited true while the holder is not charged, because the fault is the machine's
 */
public record HeldHealth(
    Health.State state, long sinceMillis, List<String> reasons, boolean isCredited) {

  public HeldHealth {
    reasons = List.copyOf(reasons);
    if (isCredited && state != Health.State.FAILED) {
      throw new IllegalArgumentException("health %s is credited".formatted(state));
    }
  }

  /**
   * The result of one look at a held machine.
   *
   * @param isCredited true for a fault that no tenant can cause
   */
  public record Finding(Health.State state, List<String> reasons, boolean isCredited) {
    /**
     * The machine did not answer in several rounds. It is no reason for a credit, because a tenant
     * can keep a machine from answering while its jobs go on.
     */
    public static final Finding SILENT =
        new Finding(
            Health.State.FAILED,
            List.of("the machine does not answer over ssh; its state is not known"),
            false);

    /** The machine was not checked, or its tenant can forge the results. */
    public static final Finding UNCHECKED = new Finding(Health.State.UNKNOWN, List.of(), false);

    /** Returns the finding of checks whose results a tenant cannot forge. */
    public static Finding of(Health health) {
      return new Finding(health.state(), health.reasons(), health.state() == Health.State.FAILED);
    }
  }

  /**
   * Returns the health after a finding. A text may differ at each look, such as a count of errors,
   * so reasons are replaced only if their number changes.
   *
   * @param before the health until now; null for unknown
   */
  static @Nullable HeldHealth after(@Nullable HeldHealth before, Finding found, long nowMillis) {
    if (before == null) {
      return found.state() == Health.State.UNKNOWN ? null : of(found, nowMillis);
    }
    boolean isSameState = before.state == found.state();
    return isSameState
            && before.isCredited == found.isCredited()
            && before.reasons.size() == found.reasons().size()
        ? before
        : of(found, isSameState ? before.sinceMillis : nowMillis);
  }

  /**
   * Returns a node's health as the capacity state shows it.
   *
   * @param grantedAtMillis since when an unknown health is unknown
   */
  public static AllocationHealthJson toJson(@Nullable HeldHealth health, long grantedAtMillis) {
    Health.State state = health == null ? Health.State.UNKNOWN : health.state;
    return new AllocationHealthJson(
        state.name().toLowerCase(Locale.ROOT),
        health == null ? grantedAtMillis : health.sinceMillis,
        health == null ? List.of() : health.reasons);
  }

  private static HeldHealth of(Finding found, long sinceMillis) {
    return new HeldHealth(found.state(), sinceMillis, found.reasons(), found.isCredited());
  }
}
