package dev.bourse.webhooks;

import java.util.Arrays;

/** The form in which an endpoint receives events. */
enum EndpointFormat {
  /** The event as JSON, as the contract describes it. */
  STANDARD("standard"),
  /** A message for people, as incoming webhooks of Slack and compatible services take it. */
  SLACK("slack");

  private final String label;

  EndpointFormat(String label) {
    this.label = label;
  }

  /** Returns its name in the contract and in rows. */
  String label() {
    return label;
  }

  /** Returns the format with a label; a format of a later release counts as the standard one. */
  static EndpointFormat of(String label) {
    return Arrays.stream(values())
        .filter(format -> format.label.equals(label))
        .findFirst()
        .orElse(STANDARD);
  }
}
