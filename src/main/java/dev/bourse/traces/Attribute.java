package dev.bourse.traces;

/** Keys of span attributes: those of OpenTelemetry's conventions, and the service's own. */
public enum Attribute {
  /** A standard method, or {@code _OTHER}. */
  METHOD("http.request.method"),
  /** The path template of the contract, with names in place of values. */
  ROUTE("http.route"),
  STATUS("http.response.status_code"),
  /** The organization's id. */
  ORG("bourse.org"),
  /** The request's id in the log. */
  REQUEST("bourse.request_id"),
  /** The number of waits that were left out, because a trace is limited in size. */
  OMITTED_WAITS("bourse.waits_untold"),
  /** The node's id in the inventory. */
  NODE("bourse.node");

  private final String key;

  Attribute(String key) {
    this.key = key;
  }

  /** The key as collectors know it. */
  public String key() {
    return key;
  }
}
