package dev.bourse.delivery;

/** The reason why a receiver is switched off. */
public enum SwitchOffReason {
  /** A member switched it off. */
  SWITCHED_OFF("switched-off", "a member did so"),
  /** It answered 410 Gone. */
  GONE("gone", "it answered 410 Gone"),
  /** One item failed for the whole retry period. */
  FAILING("failing", "all attempts to %s failed"),
  /** Too many items are pending for it. */
  BACKLOG("backlog", "too many events were waiting for it"),
  /** The member who set its address was removed. */
  AUTHOR_REMOVED("author-removed", "the member who set its address was removed");

  private final String label;
  private final String text;

  SwitchOffReason(String label, String text) {
    this.label = label;
    this.text = text;
  }

  /** Returns the reason of an item that an engine gives up. */
  public static SwitchOffReason of(Attempt last) {
    return last.isFinal() ? GONE : FAILING;
  }

  public String label() {
    return label;
  }

  /**
   * Returns the reason as members read it.
   *
   * @param attempted what the attempts are to do, as a verb with its object
   */
  public String text(String attempted) {
    return text.formatted(attempted);
  }
}
