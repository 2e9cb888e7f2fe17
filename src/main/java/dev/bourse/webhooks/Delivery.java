package dev.bourse.webhooks;

import dev.bourse.core.Times;
import dev.bourse.delivery.AttemptHistory;
import io.vertx.core.json.JsonObject;
import org.jspecify.annotations.Nullable;

/**
 * An event for one endpoint.
 *
 * @param source the cluster of the event; {@link WebhookEvent#ORGANIZATION} or {@link
 *     WebhookEvent#STATEMENTS} for events of the organization
 * @param outcome {@link #DELIVERED} or {@link #GIVEN_UP}; null while pending
 */
record Delivery(
    long id,
    String endpointId,
    String source,
    String messageId,
    String kind,
    String body,
    long madeAtMillis,
    AttemptHistory attempts,
    @Nullable String outcome) {
  static final String DELIVERED = "delivered";
  static final String GIVEN_UP = "given-up";
  private static final String PENDING = "pending";

  boolean isPending() {
    return outcome == null;
  }

  private boolean isOfOrganization() {
    return source.equals(WebhookEvent.ORGANIZATION) || source.equals(WebhookEvent.STATEMENTS);
  }

  JsonObject json() {
    JsonObject json =
        new JsonObject()
            .put("delivery_id", String.valueOf(id))
            .put("message_id", messageId)
            .put("type", kind)
            .put("cluster", isOfOrganization() ? null : source)
            .put("state", outcome == null ? PENDING : outcome)
            .put("created_at", Times.rfc3339(madeAtMillis));
    return attempts.putInto(json, isPending()).put("body", new JsonObject(body));
  }
}
