package dev.bourse.nodes;

/**
 * Why a provider could not carry out what it was asked: a sentence for operators, which names the
 * machine and never reaches a tenant.
 */
public final class NodeFailure extends RuntimeException {
  private enum Kind {
    PASSING,
    LASTING,
    HELD_BY_ANOTHER
  }

  private final Kind kind;

  private NodeFailure(String message, Kind kind) {
    super(message, null, false, false);
    this.kind = kind;
  }

  /** A failure that the same call may not meet again: no connection, another run under way. */
  public static NodeFailure passing(String message) {
    return new NodeFailure(message, Kind.PASSING);
  }

  /** A failure that lasts until somebody changes something: a wrong host key, a refused login. */
  public static NodeFailure lasting(String message) {
    return new NodeFailure(message, Kind.LASTING);
  }

  /** The machine is marked for another allocation than the call's, and was left as it is. */
  public static NodeFailure heldByAnother(String message) {
    return new NodeFailure(message, Kind.HELD_BY_ANOTHER);
  }

  /** Whether the same call may do later with nothing changed. */
  public boolean isPassing() {
    return kind == Kind.PASSING;
  }

  /** Whether the machine is marked for another allocation; a lasting failure. */
  public boolean isHeldByAnother() {
    return kind == Kind.HELD_BY_ANOTHER;
  }
}
