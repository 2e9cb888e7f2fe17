package dev.bourse.webhooks;

import static dev.bourse.webhooks.WebhookRows.NEW_CLUSTERS;

import dev.bourse.billing.Month;
import dev.bourse.delivery.Attempt;
import dev.bourse.delivery.DeliveryKind;
import dev.bourse.delivery.Schedule;
import dev.bourse.events.ActivityStore;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Cursors of sources, pending deliveries, and the results of attempts. */
final class OutboxStore {
  /** Sources found by one poll; further ones are found by the next. */
  private static final int MAX_SOURCES = 500;

  /** Entries of a source processed in one commit: with 16 endpoints that is 800 rows. */
  static final int PAGE = 50;

  private final Database database;

  OutboxStore(Database database) {
    this.database = database;
  }

  /**
   * A source of events: a cluster of an organization, the organization itself, or its statements.
   */
  record Source(String orgId, String name) {}

  /**
   * Lists organizations with final statements past their cursor. An organization without a cursor
   * for statements starts with the month in which its first endpoint was created.
   */
  Future<List<Source>> listStatementsAhead(Month last) {
    return database.read(
        """
        SELECT s.org_id FROM webhook_cursor s LEFT JOIN webhook_cursor k
        ON k.org_id = s.org_id AND k.source = '%s' WHERE s.source = '%s'
        AND (k.position < ? OR (k.position IS NULL AND s.at < ?)) LIMIT %s\
        """
            .formatted(WebhookEvent.STATEMENTS, NEW_CLUSTERS, MAX_SOURCES),
        List.of(last.number(), last.endMillis()),
        row -> new Source(row.text("org_id"), WebhookEvent.STATEMENTS));
  }

  /**
   * The position up to which a source was read.
   *
   * @param isNew whether the source was never read: position and time are then the default start of
   *     the organization's clusters, of which statements use the time only
   */
  record Cursor(long position, long atMillis, boolean isNew) {}

  /** Another process advanced the cursor, or the organization has no endpoint left. */
  static final class CursorConflictException extends RuntimeException {
    private static final long serialVersionUID = 1;

    CursorConflictException() {
      super("another process advanced the cursor", null, false, false);
    }
  }

  /** Lists organizations with endpoints. */
  Future<List<String>> listOrgs() {
    return database.read(
        """
        SELECT c.org_id FROM webhook_cursor c
        JOIN org o ON o.org_id = c.org_id AND o.retired_at IS NULL WHERE c.source = '%s'\
        """
            .formatted(NEW_CLUSTERS),
        List.of(),
        row -> row.text("org_id"));
  }

  /** Lists organizations whose trail has entries past the cursor. */
  Future<List<Source>> listTrailsAhead() {
    return database.read(
        """
        SELECT c.org_id FROM webhook_cursor c WHERE c.source = '' AND EXISTS
        (SELECT 1 FROM audit a WHERE a.org_id = c.org_id AND a.is_read = 0 AND a.id > c.position)
        LIMIT %s\
        """
            .formatted(MAX_SOURCES),
        List.of(),
        row -> new Source(row.text("org_id"), WebhookEvent.ORGANIZATION));
  }

  /**
   * Lists clusters whose activity has entries past the cursor.
   *
   * @param nowMillis bounds the entries' times, because entries after one written by a clock that
   *     ran ahead may have earlier times
   */
  Future<List<Source>> listClustersAhead(long nowMillis) {
    return database.read(
        """
        SELECT c.org_id, c.name FROM webhook_cursor s JOIN cluster c ON c.org_id = s.org_id
        LEFT JOIN webhook_cursor k ON k.org_id = c.org_id AND k.source = c.name
        WHERE s.source = '%s' AND EXISTS
        (SELECT 1 FROM activity a WHERE a.cluster = c.name AND a.kind IN ('action', 'request')
        AND a.ts >= CASE WHEN COALESCE(k.at, s.at) < CAST(? AS BIGINT)
        THEN COALESCE(k.at, s.at) ELSE CAST(? AS BIGINT) END - CAST(? AS BIGINT)
        AND a.id > COALESCE(k.position, s.position)
        AND (a.kind = 'action' OR a.reason IS NOT NULL)) LIMIT %s\
        """
            .formatted(NEW_CLUSTERS, MAX_SOURCES),
        List.of(nowMillis, nowMillis, ActivityStore.SKEW_MILLIS),
        row -> new Source(row.text("org_id"), row.text("name")));
  }

  /** Returns a source's cursor; empty if its organization has no endpoint. */
  Future<Optional<Cursor>> findCursor(Source source) {
    return database.readFirst(
        """
        SELECT source, position, at FROM webhook_cursor WHERE org_id = ? AND source IN (?, ?)
        ORDER BY CASE WHEN source = ? THEN 0 ELSE 1 END LIMIT 1\
        """,
        List.of(
            source.orgId(),
            source.name(),
            source.name().isEmpty() ? source.name() : NEW_CLUSTERS,
            source.name()),
        row ->
            new Cursor(
                row.integer("position"),
                row.integer("at"),
                !row.text("source").equals(source.name())));
  }

  /**
   * Stores deliveries and advances the cursor in one commit. Fails with {@link
   * CursorConflictException} if another process advanced it.
   */
  Future<Void> advance(
      Source source,
      Cursor from,
      long position,
      long atMillis,
      List<WebhookEvent> events,
      List<WebhookEndpoint> endpoints,
      long nowMillis) {
    List<Statement> statements = new ArrayList<>();
    long at = Math.max(from.atMillis(), atMillis);
    statements.add(
        from.isNew()
            ? Statement.guarded(
                CursorConflictException::new,
                """
                INSERT INTO webhook_cursor (org_id, source, position, at)
                SELECT org_id, CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS BIGINT)
                FROM webhook_cursor WHERE org_id = ? AND source = '%s' AND position = ?
                ON CONFLICT (org_id, source) DO NOTHING\
                """
                    .formatted(NEW_CLUSTERS),
                source.name(),
                position,
                at,
                source.orgId(),
                from.position())
            : Statement.guarded(
                CursorConflictException::new,
                """
                UPDATE webhook_cursor SET position = ?, at = ?
                WHERE org_id = ? AND source = ? AND position = ?\
                """,
                position,
                at,
                source.orgId(),
                source.name(),
                from.position()));
    for (WebhookEvent event : events) {
      for (WebhookEndpoint endpoint : endpoints) {
        if (endpoint.wants(event)) {
          statements.add(waiting(endpoint, event, nowMillis));
        }
      }
    }
    return database.commit(statements);
  }

  /** Inserts a pending delivery, unless the endpoint was switched off or deleted concurrently. */
  private static Statement waiting(WebhookEndpoint endpoint, WebhookEvent event, long nowMillis) {
    return Statement.of(
        """
        INSERT INTO webhook_delivery (endpoint_id, source, position, message_id, kind, body,
        made_at, due_at, tries)
        SELECT endpoint_id, CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS TEXT),
        CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS BIGINT), 0
        FROM webhook_endpoint WHERE endpoint_id = ? AND disabled_at IS NULL
        ON CONFLICT (endpoint_id, message_id) DO NOTHING\
        """,
        event.source(),
        event.position(),
        event.messageId(),
        event.kind().label(),
        event.body(),
        nowMillis,
        nowMillis,
        endpoint.endpointId());
  }

  /**
   * Lists queues with pending deliveries after a queue, in the order of their names, with the due
   * time and the attempts of their first delivery.
   */
  Future<List<DeliveryKind.Pending>> listQueues(Optional<Schedule.Queue> after, int most) {
    return database.read(
        """
        SELECT d.endpoint_id, d.source, d.due_at, d.tries FROM
        (SELECT endpoint_id, source, MIN(position) AS position FROM webhook_delivery
        WHERE outcome IS NULL AND (endpoint_id, source) > (?, ?)
        GROUP BY endpoint_id, source ORDER BY endpoint_id, source LIMIT %s) head
        JOIN webhook_delivery d ON d.endpoint_id = head.endpoint_id AND d.source = head.source
        AND d.position = head.position AND d.outcome IS NULL ORDER BY d.endpoint_id, d.source\
        """
            .formatted(most),
        List.of(
            after.map(Schedule.Queue::endpointId).orElse(""),
            after.map(Schedule.Queue::source).orElse("")),
        row ->
            new DeliveryKind.Pending(
                new Schedule.Queue(row.text("endpoint_id"), row.text("source")),
                row.integer("due_at"),
                row.smallInteger("tries")));
  }

  /** The first pending delivery of a queue, and its endpoint. */
  record Head(WebhookEndpoint endpoint, Delivery delivery) {}

  Future<Optional<Head>> findHead(Schedule.Queue queue) {
    return database.readFirst(
        """
        SELECT %s, %s %s JOIN webhook_delivery d ON d.endpoint_id = e.endpoint_id
        WHERE e.endpoint_id = ? AND e.disabled_at IS NULL
        AND d.source = ? AND d.outcome IS NULL ORDER BY d.position LIMIT 1\
        """
            .formatted(
                WebhookRows.DELIVERY, WebhookRows.ENDPOINT.names("e", "e_"), WebhookRows.FROM_LIVE),
        List.of(queue.endpointId(), queue.source()),
        row -> new Head(WebhookRows.endpoint(row.of("e_")), WebhookRows.delivery(row)));
  }

  Future<Void> delivered(Delivery delivery, Attempt attempt, long nowMillis) {
    return database.commit(
        List.of(
            Statement.of(
                """
                UPDATE webhook_delivery SET outcome = ?, tries = tries + 1, last_try_at = ?,
                first_try_at = COALESCE(first_try_at, ?), status = ?, fault = NULL WHERE id = ?\
                """,
                Delivery.DELIVERED,
                nowMillis,
                nowMillis,
                attempt.status(),
                delivery.id())));
  }

  /** Schedules the next attempt, unless the endpoint moved or was switched off concurrently. */
  Future<Void> failed(Head head, Attempt attempt, long dueMillis, long nowMillis) {
    return database.commit(
        List.of(
            Statement.of(
                """
                UPDATE webhook_delivery SET tries = tries + 1, last_try_at = ?,
                first_try_at = COALESCE(first_try_at, ?), due_at = ?, status = ?, fault = ?
                WHERE id = ? AND outcome IS NULL AND EXISTS (SELECT 1 FROM webhook_endpoint
                WHERE endpoint_id = ? AND url = ?)\
                """,
                nowMillis,
                nowMillis,
                dueMillis,
                attempt.status(),
                attempt.fault(),
                head.delivery().id(),
                head.endpoint().endpointId(),
                head.endpoint().url())));
  }

  /** Records the final attempt, in the commit that switches the endpoint off. */
  static Statement recordLastTry(Delivery delivery, Attempt attempt, long nowMillis) {
    return Statement.of(
        """
        UPDATE webhook_delivery SET tries = tries + 1, last_try_at = ?,
        first_try_at = COALESCE(first_try_at, ?), status = ?, fault = ? WHERE id = ?\
        """,
        nowMillis,
        nowMillis,
        attempt.status(),
        attempt.fault(),
        delivery.id());
  }
}
