package dev.bourse.nodes;

import java.util.Locale;

/**
 * Why a provider could not carry out what it was asked: a sentence for operators, which names the
 * machine and never reaches a tenant.
 */
public final class NodeFailureException extends RuntimeException {
  private enum Kind {
    PASSING,
    BUSY,
    LASTING,
    UNFIT,
    HELD_BY_ANOTHER
  }

  private final Kind kind;

  private NodeFailureException(String message, Kind kind) {
    super(message, null, false, false);
    this.kind = kind;
  }

  /** A failure that the same call may not meet again: no connection. */
  public static NodeFailureException passing(String message) {
    return new NodeFailureException(message, Kind.PASSING);
  }

  /** Nothing was tried, for want of room or because somebody is at work: ask again later. */
  public static NodeFailureException busy(String message) {
    return new NodeFailureException(message, Kind.BUSY);
  }

  /** A failure that lasts until somebody changes something: a wrong host key, a refused login. */
  public static NodeFailureException lasting(String message) {
    return new NodeFailureException(message, Kind.LASTING);
  }

  /** A tenant must not get the machine until an operator changed something on it. */
  public static NodeFailureException unfit(String message) {
    return new NodeFailureException(message, Kind.UNFIT);
  }

  /** The machine is marked for another allocation than the call's, and was left as it is. */
  public static NodeFailureException heldByAnother(String message) {
    return new NodeFailureException(message, Kind.HELD_BY_ANOTHER);
  }

  /** Which of these it is, in a word. */
  public String kind() {
    return kind.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Whether the same call may do later with nothing changed. */
  public boolean isPassing() {
    return kind == Kind.PASSING || kind == Kind.BUSY;
  }

  /** Whether nothing speaks against the machine, which was not even asked; a passing failure. */
  public boolean isBusy() {
    return kind == Kind.BUSY;
  }

  /** True if the machine is not fit for a tenant until an operator acts; a lasting failure. */
  public boolean isUnfit() {
    return kind == Kind.UNFIT;
  }

  /** Whether the machine is marked for another allocation; a lasting failure. */
  public boolean isHeldByAnother() {
    return kind == Kind.HELD_BY_ANOTHER;
  }
}
