package dev.bourse.nodes;

import java.util.Locale;

/**
 * Thrown when a provider could not carry out a call. Its message is a sentence for operators that
 * names the machine; it never reaches a tenant.
 */
public final class NodeFailureException extends RuntimeException {
  private enum Kind {
    PASSING,
    BUSY,
    LASTING,
    UNFIT,
    HELD_BY_ANOTHER,
    JOIN_REFUSED
  }

  private final Kind kind;

  private NodeFailureException(String message, Kind kind) {
    super(message, null, false, false);
    this.kind = kind;
  }

  /** A failure that a retry may avoid, such as a lost connection. */
  public static NodeFailureException passing(String message) {
    return new NodeFailureException(message, Kind.PASSING);
  }

  /** The call was not tried, because of overload or a run in progress; retry it later. */
  public static NodeFailureException busy(String message) {
    return new NodeFailureException(message, Kind.BUSY);
  }

  /** A failure that lasts until an operator acts, such as a wrong host key or a refused login. */
  public static NodeFailureException lasting(String message) {
    return new NodeFailureException(message, Kind.LASTING);
  }

  /** The machine must not be granted to a tenant until an operator has repaired it. */
  public static NodeFailureException unfit(String message) {
    return new NodeFailureException(message, Kind.UNFIT);
  }

  /** The machine is marked for another allocation than the call's; the call changed nothing. */
  public static NodeFailureException heldByAnother(String message) {
    return new NodeFailureException(message, Kind.HELD_BY_ANOTHER);
  }

  /** The tenant's Kubernetes cluster did not admit the machine, which is not at fault. */
  public static NodeFailureException joinRefused(String message) {
    return new NodeFailureException(message, Kind.JOIN_REFUSED);
  }

  /** Returns the kind of the failure as a word. */
  public String kind() {
    return kind.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** True if a retry of the same call may succeed. */
  public boolean isPassing() {
    return kind == Kind.PASSING || kind == Kind.BUSY;
  }

  /** True if the call was not tried, so that the machine is not at fault; a passing failure. */
  public boolean isBusy() {
    return kind == Kind.BUSY;
  }

  /** True if the machine is not fit for a tenant until an operator acts; a lasting failure. */
  public boolean isUnfit() {
    return kind == Kind.UNFIT;
  }

  /** True if the machine is marked for another allocation; a lasting failure. */
  public boolean isHeldByAnother() {
    return kind == Kind.HELD_BY_ANOTHER;
  }

  /** True if the tenant's Kubernetes cluster did not admit the machine; a lasting failure. */
  public boolean isJoinRefused() {
    return kind == Kind.JOIN_REFUSED;
  }
}
