package dev.bourse.delivery;

/** A receiver was changed during an attempt, so the result was not stored. */
public final class ReceiverChangedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public ReceiverChangedException() {
    super("the receiver was changed concurrently", null, false, false);
  }
}
