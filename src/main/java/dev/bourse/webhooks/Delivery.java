package dev.bourse.webhooks;

import dev.bourse.core.Times;
import io.vertx.core.json.JsonObject;
import org.jspecify.annotations.Nullable;

/**
 * An event for one endpoint.
 *
 * @param source the cluster it happened to; {@link WebhookEvent#ORGANIZATION} or {@link
 *     WebhookEvent#STATEMENTS} for the organization
 * @param dueAtMillis when it is tried at the earliest
 * @param firstTryAtMillis when it was tried first; null before that, and since its endpoint moved
 * @param status of the last answer; null when there was none
 * @param fault what was wrong at the last attempt; null for nothing
 * @param outcome {@link #DELIVERED} or {@link #GIVEN_UP}; null while it waits
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
