package dev.bourse.nodes;

/**
 * Why a provider could not carry out what it was asked: a sentence for operators, which names the
 * machine and never reaches a tenant.
 */
public final class NodeFailure extends RuntimeException {
  private final boolean passing;

  private NodeFailure(String message, boolean passing) {
    super(message, null, false, false);
    this.passing = passing;
  }

  /** A failure that the same call may not meet again: no connection, another run under way. */
  public static NodeFailure passing(String message) {
    return new NodeFailure(message, true);
  }

  /** A failure that lasts until somebody changes something: a wrong host key, a refused login. */
  public static NodeFailure lasting(String message) {
    return new NodeFailure(message, false);
  }

  /** Whether the same call may do later with nothing changed. */
  public boolean isPassing() {
    return passing;
  }
}
