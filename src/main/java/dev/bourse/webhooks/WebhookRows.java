package dev.bourse.webhooks;

import dev.bourse.delivery.AttemptHistory;
import dev.bourse.store.Columns;
import dev.bourse.store.Row;
import io.vertx.core.json.JsonArray;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Maps endpoints and deliveries to columns. */
final class WebhookRows {
  /** The source whose cursor is the default start of clusters without a cursor of their own. */
  static final String NEW_CLUSTERS = "*";

  static final Columns<WebhookEndpoint> ENDPOINT =
      Columns.<WebhookEndpoint>of("webhook_endpoint")
          .fixed("endpoint_id", WebhookEndpoint::endpointId)
          .fixed("org_id", WebhookEndpoint::orgId)
          .changing("url", WebhookEndpoint::url)
          .changing("description", WebhookEndpoint::description)
          .changing("format", endpoint -> endpoint.format().label())
          .changing("kinds", endpoint -> EventKind.text(endpoint.kinds()))
          .changing("clusters", WebhookRows::clusters)
          .fixed("created_at", WebhookEndpoint::createdAtMillis)
          .fixed("created_by", WebhookEndpoint::createdBy)
          .changing("disabled_at", WebhookEndpoint::disabledAtMillis)
          .changing("disabled_reason", WebhookEndpoint::disabledReason)
          .changing("secret_version", WebhookEndpoint::secretVersion)
          .changing("old_secret_until", WebhookEndpoint::oldSecretUntilMillis)
          .changing("revision", WebhookEndpoint::revision);

  static final String DELIVERY =
      """
      d.id, d.endpoint_id, d.source, d.message_id, d.kind, d.body, d.made_at, d.due_at, d.tries,
      d.first_try_at, d.last_try_at, d.status, d.fault, d.outcome\
      """;

  static final String FROM_LIVE =
      " FROM webhook_endpoint e JOIN org o ON o.org_id = e.org_id AND o.retired_at IS NULL ";

  private WebhookRows() {}

  private static @Nullable String clusters(WebhookEndpoint endpoint) {
    List<String> clusters = endpoint.clusters();
    return clusters == null ? null : new JsonArray(clusters).encode();
  }

  static WebhookEndpoint endpoint(Row row) {
    String clusters = row.textOrNull("clusters");
    return new WebhookEndpoint(
        row.text("endpoint_id"),
        row.text("org_id"),
        row.text("url"),
        row.text("description"),
        EndpointFormat.of(row.text("format")),
        EventKind.parse(row.text("kinds")),
        clusters == null ? null : new JsonArray(clusters).stream().map(String::valueOf).toList(),
        row.integer("created_at"),
        row.text("created_by"),
        row.integerOrNull("disabled_at"),
        row.textOrNull("disabled_reason"),
        row.smallInteger("secret_version"),
        row.integerOrNull("old_secret_until"),
        row.integer("revision"));
  }

  static Delivery delivery(Row row) {
    return new Delivery(
        row.integer("id"),
        row.text("endpoint_id"),
        row.text("source"),
        row.text("message_id"),
        row.text("kind"),
        row.text("body"),
        row.integer("made_at"),
        AttemptHistory.read(row, "due_at"),
        row.textOrNull("outcome"));
  }
}
