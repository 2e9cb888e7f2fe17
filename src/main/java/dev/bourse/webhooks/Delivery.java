package dev.bourse.webhooks;

import dev.bourse.core.Times;
import io.vertx.core.json.JsonObject;
import org.jspecify.annotations.Nullable;

/**
 * An event for one endpoint.
 *
 * @param source the cluster of the event; {@link WebhookEvent#ORGANIZATION} or {@link
 *     WebhookEvent#STATEMENTS} for events of the organization
 * @param dueAtMillis earliest time of the next attempt
 * @param firstTryAtMillis time of the first attempt at the endpoint's current address; null before
 *     it
 * @param status of the last answer; null if there was none
 * @param fault of the last attempt; null if it succeeded
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
    long dueAtMillis,
    int tries,
    @Nullable Long firstTryAtMillis,
    @Nullable Long lastTryAtMillis,
    @Nullable Integer status,
    @Nullable String fault,
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
    return new JsonObject()
        .put("delivery_id", String.valueOf(id))
        .put("message_id", messageId)
        .put("type", kind)
        .put("cluster", isOfOrganization() ? null : source)
        .put("state", outcome == null ? PENDING : outcome)
        .put("created_at", Times.rfc3339(madeAtMillis))
        .put("attempts", tries)
        .put("last_attempt_at", Times.rfc3339OrNull(lastTryAtMillis))
        .put("next_attempt_at", isPending() ? Times.rfc3339(dueAtMillis) : null)
        .put("response_status", status)
        .put("fault", fault)
        .put("body", new JsonObject(body));
  }
}
