package dev.bourse.nodes;

import java.util.List;

/**
 * The result of the hardware checks of one machine.
 *
 * @param state the worst of the faults
 * @param reasons a sentence for each fault, for operators; empty without a fault
 */
public record Health(State state, List<String> reasons) {
  /** Nothing was checked: checks are off, or the machine has no program for them. */
  public static final Health UNKNOWN = new Health(State.UNKNOWN, List.of());

  /** All checks passed. */
  public static final Health OK = new Health(State.OK, List.of());

  /** The states from best to worst, after unknown. */
  public enum State {
    /** Nothing was checked. */
    UNKNOWN,
    /** No fault. */
    OK,
    /** Jobs run, but slower or with a risk; the machine is not granted again. */
    DEGRADED,
    /** Jobs cannot rely on the machine. */
    FAILED
  }

  public Health {
    reasons = List.copyOf(reasons);
    if (reasons.isEmpty() != (state == State.UNKNOWN || state == State.OK)) {
      throw new IllegalArgumentException("state %s with reasons %s".formatted(state, reasons));
    }
  }

  /** True if a check found a fault. */
  public boolean isFaulty() {
    return !reasons.isEmpty();
  }
}
