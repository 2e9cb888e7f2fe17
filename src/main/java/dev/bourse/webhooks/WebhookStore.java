package dev.bourse.webhooks;

import static dev.bourse.webhooks.WebhookRows.NEW_CLUSTERS;

import dev.bourse.access.CallerGuard;
import dev.bourse.access.Offboarding.Author;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Page;
import dev.bourse.delivery.Attempt;
import dev.bourse.delivery.MaskedUrl;
import dev.bourse.delivery.ReceiverChangedException;
import dev.bourse.delivery.ReceiverTable;
import dev.bourse.delivery.SwitchOffReason;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Rows of endpoints, and of their deliveries as members see them. */
final class WebhookStore {
  static final ReceiverTable TABLE =
      new ReceiverTable(
          "webhook_endpoint",
          "endpoint_id",
          "url_by",
          "endpoints",
          "webhook_disable",
          "webhooks",
          List.of("endpoint_id", "url"));

  private final Database database;

  WebhookStore(Database database) {
    this.database = database;
  }

  /** Lists an organization's endpoints, oldest first. */
  Future<List<WebhookEndpoint>> listEndpoints(String orgId) {
    return database.read(
        "SELECT %s FROM webhook_endpoint WHERE org_id = ? ORDER BY created_at, endpoint_id"
            .formatted(WebhookRows.ENDPOINT.names()),
        List.of(orgId),
        WebhookRows::endpoint);
  }

  Future<Optional<WebhookEndpoint>> findEndpoint(String orgId, String endpointId) {
    return database.readFirst(
        "SELECT %s FROM webhook_endpoint WHERE org_id = ? AND endpoint_id = ?"
            .formatted(WebhookRows.ENDPOINT.names()),
        List.of(orgId, endpointId),
        WebhookRows::endpoint);
  }

  /** Lists the names of the organization's clusters that are not retired. */
  Future<List<String>> listClusters(String orgId) {
    return database.read(
        "SELECT name FROM cluster WHERE org_id = ? AND retired_at IS NULL",
        List.of(orgId),
        row -> row.text("name"));
  }

  /**
   * Stores an endpoint, which receives events from now on.
   *
   * @param most endpoints of one organization
   * @param activity start position in the activity of clusters
   * @param trail start position in the organization's trail
   * @param more stores the secret
   */
  Future<Void> create(
      WebhookEndpoint endpoint,
      int most,
      long activity,
      long trail,
      List<Statement> more,
      AuditRow audit) {
    List<Statement> statements = new ArrayList<>();
    String orgId = endpoint.orgId();
    // Serializes writes to one organization, so that the count below stays valid.
    statements.add(
        Statement.guarded(
            () ->
                conflict(
                    "retired",
                    "organization %s is retired; nothing of it can be changed any more"
                        .formatted(orgId)),
            "UPDATE org SET retired_at = NULL WHERE org_id = ? AND retired_at IS NULL",
            orgId));
    statements.addAll(CallerGuard.of(orgId, audit.actor()));
    statements.add(
        Statement.guarded(
            () ->
                conflict(
                    "limit",
                    "organization %s has %s endpoints, the most it may have; delete one first"
                        .formatted(orgId, most)),
            """
            UPDATE org SET retired_at = NULL WHERE org_id = ?
            AND (SELECT COUNT(*) FROM webhook_endpoint WHERE org_id = ?) < %s\
            """
                .formatted(most),
            orgId,
            orgId));
    statements.add(begin(orgId, NEW_CLUSTERS, activity, endpoint.createdAtMillis()));
    statements.add(begin(orgId, WebhookEvent.ORGANIZATION, trail, endpoint.createdAtMillis()));
    statements.add(WebhookRows.ENDPOINT.insert(endpoint));
    statements.add(TABLE.changed());
    statements.addAll(more);
    statements.add(AuditStore.insert(audit));
    return database.commit(statements);
  }

  private static Statement begin(String orgId, String source, long position, long atMillis) {
    return Statement.of(
        """
        INSERT INTO webhook_cursor (org_id, source, position, at) VALUES (?, ?, ?, ?)
        ON CONFLICT (org_id, source) DO NOTHING\
        """,
        orgId,
        source,
        position,
        atMillis);
  }

  private static ApiException conflict(String reason, String detail) {
    return ApiException.of(ErrorCode.CONFLICT, detail).with("reason", reason);
  }

  /** Stores the changed fields of an endpoint, unless it was changed concurrently. */
  Future<Void> update(
      WebhookEndpoint before, WebhookEndpoint next, List<Statement> more, AuditRow audit) {
    List<Statement> statements = new ArrayList<>(CallerGuard.of(next.orgId(), audit.actor()));
    statements.add(
        WebhookRows.ENDPOINT
            .update(
                next, "endpoint_id = ? AND revision = ?", before.endpointId(), before.revision())
            .orElse(
                () ->
                    ApiException.retryLater(
                        ErrorCode.OVERLOADED,
                        "the endpoint was changed at the same time; nothing was written",
                        1_000)));
    if (!before.url().equals(next.url())) {
      statements.add(
          Statement.of(
              "UPDATE webhook_endpoint SET url_by = ? WHERE endpoint_id = ?",
              audit.actor(),
              next.endpointId()));
    }
    if (before.isEnabled() && !next.isEnabled()) {
      statements.add(giveUp(next.endpointId(), "the endpoint was switched off"));
    } else if (!before.url().equals(next.url())) {
      statements.add(restartRetries(next));
    }
    statements.add(TABLE.changed());
    statements.addAll(more);
    statements.add(AuditStore.insert(audit));
    return database.commit(statements);
  }

  /** Restarts the retry period of pending deliveries, because the endpoint has a new address. */
  private static Statement restartRetries(WebhookEndpoint moved) {
    return Statement.of(
        """
        UPDATE webhook_delivery SET due_at = made_at, tries = 0, first_try_at = NULL
        WHERE endpoint_id = ? AND outcome IS NULL AND tries > 0\
        """,
        moved.endpointId());
  }

  private static Statement giveUp(String endpointId, String why) {
    return giveUp("= ?", why, List.of(endpointId));
  }

  private static Statement giveUp(String which, String why, List<String> parameters) {
    List<@Nullable Object> values = new ArrayList<>(List.of(Delivery.GIVEN_UP, why));
    values.addAll(parameters);
    return new Statement(
        """
        UPDATE webhook_delivery SET outcome = ?, fault = COALESCE(fault, ?)
        WHERE endpoint_id %s AND outcome IS NULL\
        """
            .formatted(which),
        values,
        null,
        0);
  }

  /**
   * Returns the statements that delete an endpoint; the record of its deliveries expires with time.
   */
  static List<Statement> deletion(String orgId, String endpointId) {
    return List.of(
        // Serializes with the creation of endpoints, which counts them.
        CallerGuard.lock(orgId),
        giveUp(endpointId, "the endpoint was deleted"),
        Statement.of("DELETE FROM webhook_endpoint WHERE endpoint_id = ?", endpointId),
        Statement.of(
            """
            DELETE FROM webhook_cursor WHERE org_id = ?
            AND NOT EXISTS (SELECT 1 FROM webhook_endpoint WHERE org_id = ?)\
            """,
            orgId,
            orgId),
        TABLE.changed());
  }

  Future<Void> commit(List<Statement> statements) {
    return database.commit(statements);
  }

  /**
   * Returns the statements that switch an endpoint off automatically and give up its pending
   * deliveries.
   */
  static List<Statement> switchOff(
      WebhookEndpoint endpoint, SwitchOffReason reason, long nowMillis) {
    return List.of(
        Statement.guarded(
            ReceiverChangedException::new,
            """
            UPDATE webhook_endpoint SET disabled_at = ?, disabled_reason = ?,
            revision = revision + 1 WHERE endpoint_id = ? AND revision = ?
            AND disabled_at IS NULL\
            """,
            nowMillis,
            reason.label(),
            endpoint.endpointId(),
            endpoint.revision()),
        giveUp(endpoint.endpointId(), "the endpoint was switched off"),
        AuditStore.insert(
            new AuditRow(
                nowMillis,
                endpoint.orgId(),
                "system:webhooks",
                "webhook_disable",
                endpoint.orgId(),
                "endpoint_id=%s url=%s reason=%s"
                    .formatted(
                        endpoint.endpointId(), MaskedUrl.of(endpoint.url()), reason.label()))));
  }

  /** Returns the statements that give up the pending deliveries of a leaving member's endpoints. */
  static List<Statement> giveUpAll(Author author) {
    return List.of(
        giveUp(
            "IN (%s)".formatted(TABLE.selectEnabled(author)),
            "the endpoint was switched off",
            author.parameters()));
  }

  // Deliveries, as members see them.

  /** Returns a page of an endpoint's deliveries, newest first. */
  Future<Page<Delivery>> listDeliveries(String endpointId, int limit, Optional<Long> before) {
    return database
        .read(
            """
            SELECT %s FROM webhook_delivery d WHERE d.endpoint_id = ? AND d.id < ?
            ORDER BY d.id DESC LIMIT ?\
            """
                .formatted(WebhookRows.DELIVERY),
            List.of(endpointId, before.orElse(Long.MAX_VALUE), limit + 1),
            WebhookRows::delivery)
        .map(found -> Page.of(found, limit));
  }

  Future<Optional<Delivery>> findDelivery(String endpointId, long id) {
    return database.readFirst(
        "SELECT %s FROM webhook_delivery d WHERE d.endpoint_id = ? AND d.id = ?"
            .formatted(WebhookRows.DELIVERY),
        List.of(endpointId, id),
        WebhookRows::delivery);
  }

  Future<Optional<Delivery>> findDelivery(String endpointId, String messageId) {
    return database.readFirst(
        "SELECT %s FROM webhook_delivery d WHERE d.endpoint_id = ? AND d.message_id = ?"
            .formatted(WebhookRows.DELIVERY),
        List.of(endpointId, messageId),
        WebhookRows::delivery);
  }

  /** Records an event that was tried once, with any result. */
  static Statement insertTried(
      String endpointId, String messageId, String kind, String body, Attempt attempt, long at) {
    return Statement.of(
        """
        INSERT INTO webhook_delivery (endpoint_id, source, position, message_id, kind, body,
        made_at, due_at, tries, first_try_at, last_try_at, status, fault, outcome)
        VALUES (?, '', 0, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?)\
        """,
        endpointId,
        messageId,
        kind,
        body,
        at,
        at,
        at,
        at,
        attempt.status(),
        attempt.fault(),
        attempt.isDelivered() ? Delivery.DELIVERED : Delivery.GIVEN_UP);
  }

  /**
   * Records one more attempt of a finished delivery; a failure does not undo an earlier success.
   */
  static Statement recordResent(Delivery delivery, Attempt attempt, long at) {
    return Statement.of(
        """
        UPDATE webhook_delivery SET tries = tries + 1, last_try_at = ?, status = ?, fault = ?,
        outcome = CASE WHEN CAST(? AS BIGINT) = 1 THEN 'delivered' ELSE outcome END WHERE id = ?\
        """,
        at,
        attempt.status(),
        attempt.fault(),
        attempt.isDelivered(),
        delivery.id());
  }

  // Upkeep.

  /** Deletes some expired deliveries; returns whether there may be more. */
  Future<Boolean> prune(long cutoffMillis, int most) {
    return database
        .read(
            """
            SELECT d.id FROM webhook_delivery d WHERE d.made_at <= ? AND (d.outcome IS NOT NULL
            OR NOT EXISTS (SELECT 1 FROM webhook_endpoint e WHERE e.endpoint_id = d.endpoint_id
            AND e.disabled_at IS NULL))
            ORDER BY d.made_at, d.id LIMIT ?\
            """,
            List.of(cutoffMillis, most),
            row -> Statement.of("DELETE FROM webhook_delivery WHERE id = ?", row.integer("id")))
        .compose(
            gone ->
                gone.isEmpty()
                    ? Future.succeededFuture(false)
                    : database.commit(gone).map(done -> gone.size() == most));
  }

  /** Lists endpoints with too many pending deliveries. */
  Future<List<WebhookEndpoint>> listOverfull(long most, int limit) {
    return database.read(
        """
        SELECT %s FROM webhook_endpoint e JOIN
        (SELECT endpoint_id FROM webhook_delivery WHERE outcome IS NULL
        GROUP BY endpoint_id HAVING COUNT(*) > ?) AS f ON f.endpoint_id = e.endpoint_id
        WHERE e.disabled_at IS NULL LIMIT ?\
        """
            .formatted(WebhookRows.ENDPOINT.names("e")),
        List.of(most, limit),
        WebhookRows::endpoint);
  }
}
