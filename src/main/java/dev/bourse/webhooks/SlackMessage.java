package dev.bourse.webhooks;

import io.vertx.core.json.JsonObject;

/** Makes the messages of endpoints with the format {@link EndpointFormat#SLACK}. */
final class SlackMessage {
  private SlackMessage() {}

  /**
   * Returns the body of a message about an event: {@code {"text": …}} with a sentence and a link.
   *
   * @param body a body that {@link WebhookEvent#body} made
   */
  static String of(JsonObject body, EventLink link) {
    return new JsonObject()
        .put(
            "text",
            "%s\n<%s|Open in the console>"
                .formatted(escaped(unmentioned(EventWords.sentence(body))), escaped(link.of(body))))
        .encode();
  }

  /**
   * Escapes the three characters with which Slack's text begins links, mentions and entities, so
   * that a name cannot notify a channel or point somewhere else.
   */
  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }

  /**
   * Parts what other services that take such messages would read as a mention of everybody or as a
   * link: {@code @channel} and {@code [text](address)}.
   */
  private static String unmentioned(String text) {
    return text.replace("@", "@\u200b").replace("](", "] (");
  }
}
