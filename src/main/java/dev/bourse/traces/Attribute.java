package dev.bourse.traces;

/**
 * Under which keys a span may tell something: those of OpenTelemetry's conventions, and our own.
 */
public enum Attribute {
  /** One that HTTP knows, or {@code _OTHER}. */
  METHOD("http.request.method"),
  /** The path as its contract has it, with names in place of values. */
  ROUTE("http.route"),
  STATUS("http.response.status_code"),
  /** The organization's id. */
  ORG("bourse.org"),
  /** What names the request in the log. */
  REQUEST("bourse.request_id"),
  /** How many waits were left out, for a trace has no more than so many. */
  UNTOLD("bourse.waits_untold"),
  /** A machine's id in the inventory. */
  NODE("bourse.node");

  private final String key;

  Attribute(String key) {
    this.key = key;
  }

  /** As collectors know it. */
  public String key() {
    return key;
  }
}
