package dev.bourse.webhooks;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Page;
import dev.bourse.events.ActivityStore;
import dev.bourse.store.Columns;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Rows of endpoints, of how far they were told, and of what is to be delivered. */
final class WebhookStore {
  /** The source whose cursor tells where clusters begin that have none of their own. */
  private static final String NEW_CLUSTERS = "*";

  /** Sources one look finds; the others are found by the next. */
  private static final int MAX_SOURCES = 500;

  /** Entries of a source that are told in one commit: with 16 endpoints that is 800 rows. */
  static final int PAGE = 50;

  private static final Columns<WebhookEndpoint> ENDPOINT =
      Columns.<WebhookEndpoint>of("webhook_endpoint")
          .fixed("endpoint_id", WebhookEndpoint::endpointId)
          .fixed("org_id", WebhookEndpoint::orgId)
          .changing("url", WebhookEndpoint::url)
          .changing("description", WebhookEndpoint::description)
          .changing("kinds", endpoint -> EventKind.text(endpoint.kinds()))
          .changing("clusters", WebhookStore::clusters)
          .fixed("created_at", WebhookEndpoint::createdAtMillis)
          .fixed("created_by", WebhookEndpoint::createdBy)
          .changing("disabled_at", WebhookEndpoint::disabledAtMillis)
          .changing("disabled_reason", WebhookEndpoint::disabledReason)
          .changing("secret_version", WebhookEndpoint::secretVersion)
          .changing("old_secret_until", WebhookEndpoint::oldSecretUntilMillis)
          .changing("revision", WebhookEndpoint::revision);

  private static final String DELIVERY =
      """
      d.id, d.endpoint_id, d.source, d.message_id, d.kind, d.body, d.made_at, d.due_at, d.tries,
      d.first_try_at, d.last_try_at, d.status, d.fault, d.outcome\
      """;

  private static final String FROM_LIVE =
      " FROM webhook_endpoint e JOIN org o ON o.org_id = e.org_id AND o.retired_at IS NULL ";

  private final Database database;

  WebhookStore(Database database) {
    this.database = database;
  }

  private static @Nullable String clusters(WebhookEndpoint endpoint) {
    List<String> clusters = endpoint.clusters();
    return clusters == null ? null : new JsonArray(clusters).encode();
  }

  private static WebhookEndpoint endpoint(Row row) {
    String clusters = row.textOrNull("clusters");
    return new WebhookEndpoint(
        row.text("endpoint_id"),
        row.text("org_id"),
        row.text("url"),
        row.text("description"),
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

  private static Delivery delivery(Row row) {
    Long status = row.integerOrNull("status");
    return new Delivery(
        row.integer("id"),
        row.text("endpoint_id"),
        row.text("source"),
        row.text("message_id"),
        row.text("kind"),
        row.text("body"),
        row.integer("made_at"),
        row.integer("due_at"),
        row.smallInteger("tries"),
        row.integerOrNull("first_try_at"),
        row.integerOrNull("last_try_at"),
        status == null ? null : Math.toIntExact(status),
        row.textOrNull("fault"),
        row.textOrNull("outcome"));
  }

  /** Those of an organization, oldest first. */
  Future<List<WebhookEndpoint>> listEndpoints(String orgId) {
    return database.read(
        "SELECT %s FROM webhook_endpoint WHERE org_id = ? ORDER BY created_at, endpoint_id"
            .formatted(ENDPOINT.names()),
        List.of(orgId),
        WebhookStore::endpoint);
  }

  Future<Optional<WebhookEndpoint>> findEndpoint(String orgId, String endpointId) {
    return database.readFirst(
        "SELECT %s FROM webhook_endpoint WHERE org_id = ? AND endpoint_id = ?"
            .formatted(ENDPOINT.names()),
        List.of(orgId, endpointId),
        WebhookStore::endpoint);
  }

  /** Names of these that are none of the organization's clusters, or retired. */
  Future<List<String>> listClusters(String orgId) {
    return database.read(
        "SELECT name FROM cluster WHERE org_id = ? AND retired_at IS NULL",
        List.of(orgId),
        row -> row.text("name"));
  }

  /** Where everything is that happens from now on. */
  Future<Long> newestActivity() {
    return database.readOne(
        "SELECT COALESCE(MAX(id), 0) AS id FROM activity", List.of(), row -> row.integer("id"));
  }

  /**
   * Stores an endpoint, which is told of what happens from now on.
   *
   * @param most endpoints of one organization
   * @param activity where clusters begin to be told of
   * @param trail where the organization's trail does
   * @param more the secret
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
    // Writes to one organization wait for each other here, so that what is counted next stays.
    statements.add(
        Statement.guarded(
            () ->
                conflict(
                    "retired",
                    "organization %s is retired; nothing of it can be changed any more"
                        .formatted(orgId)),
            "UPDATE org SET retired_at = NULL WHERE org_id = ? AND retired_at IS NULL",
            orgId));
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
    statements.add(ENDPOINT.insert(endpoint));
    statements.add(changed());
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

  private static ApiError conflict(String reason, String detail) {
    return ApiError.of(ErrorCode.CONFLICT, detail).with("reason", reason);
  }

  /** Stores what has changed of an endpoint, unless it was changed by another meanwhile. */
  Future<Void> update(
      WebhookEndpoint before, WebhookEndpoint next, List<Statement> more, AuditRow audit) {
    List<Statement> statements = new ArrayList<>();
    statements.add(
        ENDPOINT
            .update(
                next, "endpoint_id = ? AND revision = ?", before.endpointId(), before.revision())
            .orElse(
                () ->
                    ApiError.retryLater(
                        ErrorCode.OVERLOADED,
                        "the endpoint was changed at the same time; nothing was written",
                        1_000)));
    if (before.isEnabled() && !next.isEnabled()) {
      statements.add(giveUp(next.endpointId(), "the endpoint was switched off"));
    } else if (!before.url().equals(next.url())) {
      statements.add(tryAnew(next));
    }
    statements.add(changed());
    statements.addAll(more);
    statements.add(AuditStore.insert(audit));
    return database.commit(statements);
  }

  /** What waits has another address, and all the time to get there. */
  private static Statement tryAnew(WebhookEndpoint moved) {
    return Statement.of(
        """
        UPDATE webhook_delivery SET due_at = made_at, tries = 0, first_try_at = NULL
        WHERE endpoint_id = ? AND outcome IS NULL AND tries > 0\
        """,
        moved.endpointId());
  }

  private static Statement giveUp(String endpointId, String why) {
    return Statement.of(
        """
        UPDATE webhook_delivery SET outcome = ?, fault = COALESCE(fault, ?)
        WHERE endpoint_id = ? AND outcome IS NULL\
        """,
        Delivery.GIVEN_UP,
        why,
        endpointId);
  }

  /** Statements that make an end of an endpoint; what was sent to it goes with its time. */
  static List<Statement> deletion(WebhookEndpoint endpoint) {
    return List.of(
        giveUp(endpoint.endpointId(), "the endpoint was deleted"),
        Statement.of("DELETE FROM webhook_endpoint WHERE endpoint_id = ?", endpoint.endpointId()),
        Statement.of(
            """
            DELETE FROM webhook_cursor WHERE org_id = ?
            AND NOT EXISTS (SELECT 1 FROM webhook_endpoint WHERE org_id = ?)\
            """,
            endpoint.orgId(),
            endpoint.orgId()),
        changed());
  }

  Future<Void> commit(List<Statement> statements) {
    return database.commit(statements);
  }

  // Deliveries, as members see them.

  /** A page of an endpoint's deliveries, the newest first. */
  Future<Page<Delivery>> listDeliveries(String endpointId, int limit, Optional<Long> before) {
    return database
        .read(
            """
            SELECT %s FROM webhook_delivery d WHERE d.endpoint_id = ? AND d.id < ?
            ORDER BY d.id DESC LIMIT ?\
            """
                .formatted(DELIVERY),
            List.of(endpointId, before.orElse(Long.MAX_VALUE), limit + 1),
            WebhookStore::delivery)
        .map(found -> Page.of(found, limit));
  }

  Future<Optional<Delivery>> findDelivery(String endpointId, long id) {
    return database.readFirst(
        "SELECT %s FROM webhook_delivery d WHERE d.endpoint_id = ? AND d.id = ?"
            .formatted(DELIVERY),
        List.of(endpointId, id),
        WebhookStore::delivery);
  }

  Future<Optional<Delivery>> findDelivery(String endpointId, String messageId) {
    return database.readFirst(
        "SELECT %s FROM webhook_delivery d WHERE d.endpoint_id = ? AND d.message_id = ?"
            .formatted(DELIVERY),
        List.of(endpointId, messageId),
        WebhookStore::delivery);
  }

  /** An event that has been tried once, whatever came of it. */
  static Statement tried(
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

  /** One more attempt at what no longer waits; success is not undone by a later failure. */
  static Statement resent(Delivery delivery, Attempt attempt, long at) {
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

  // From what happened to what is to be delivered.

  /** A source of events: a cluster of an organization, or the organization itself. */
  record Source(String orgId, String name) {}

  /** How far a source was told; {@code isNew} while that is where all clusters begin. */
  record Cursor(long position, long atMillis, boolean isNew) {}

  /** Another process was told further meanwhile, or the organization has no endpoint any more. */
  static final class Moved extends RuntimeException {
    private static final long serialVersionUID = 1;

    Moved() {
      super("the source was read further by another", null, false, false);
    }
  }

  /** How often endpoints were made, changed or deleted. */
  Future<Long> countChanges() {
    return database
        .readFirst(
            "SELECT changes FROM webhook_change WHERE name = 'endpoints'",
            List.of(),
            row -> row.integer("changes"))
        .map(found -> found.orElse(0L));
  }

  /** Lets the process that delivers see that an endpoint was made, changed or deleted. */
  private static Statement changed() {
    return Statement.of(
        """
        INSERT INTO webhook_change (name, changes) VALUES ('endpoints', 1)
        ON CONFLICT (name) DO UPDATE SET changes = webhook_change.changes + 1\
        """);
  }

  /** Organizations with endpoints. */
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

  /** Organizations whose trail has more than they were told. */
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

  /** Clusters to which more has happened than was told. */
  Future<List<Source>> listClustersAhead() {
    return database.read(
        """
        SELECT c.org_id, c.name FROM webhook_cursor s JOIN cluster c ON c.org_id = s.org_id
        LEFT JOIN webhook_cursor k ON k.org_id = c.org_id AND k.source = c.name
        WHERE s.source = '%s' AND EXISTS
        (SELECT 1 FROM activity a WHERE a.cluster = c.name AND a.kind IN ('action', 'request')
        AND a.ts >= COALESCE(k.at, s.at) - CAST(? AS BIGINT)
        AND a.id > COALESCE(k.position, s.position)
        AND (a.kind = 'action' OR a.reason IS NOT NULL)) LIMIT %s\
        """
            .formatted(NEW_CLUSTERS, MAX_SOURCES),
        List.of(ActivityStore.SKEW_MILLIS),
        row -> new Source(row.text("org_id"), row.text("name")));
  }

  /** How far a source was told; empty when its organization has no endpoint. */
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
   * Stores what is to be delivered, together with how far that is, so that neither is without the
   * other. Fails with {@link Moved} when somebody else did.
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
                Moved::new,
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
                Moved::new,
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

  /** An event that waits; nothing when the endpoint was switched off or deleted meanwhile. */
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

  // The delivering itself.

  /** Queues in which something waits, so many at most; some may be empty by now. */
  Future<List<Schedule.Queue>> listQueues(int most) {
    return database.read(
        """
        SELECT DISTINCT endpoint_id, source FROM webhook_delivery WHERE outcome IS NULL
        LIMIT %s\
        """
            .formatted(most),
        List.of(),
        row -> new Schedule.Queue(row.text("endpoint_id"), row.text("source")));
  }

  /** The first that waits in a queue, and where it goes. */
  record Head(WebhookEndpoint endpoint, Delivery delivery) {}

  Future<Optional<Head>> findHead(Schedule.Queue queue) {
    return database.readFirst(
        """
        SELECT %s, %s %s JOIN webhook_delivery d ON d.endpoint_id = e.endpoint_id
        WHERE e.endpoint_id = ? AND e.disabled_at IS NULL
        AND d.source = ? AND d.outcome IS NULL ORDER BY d.position LIMIT 1\
        """
            .formatted(DELIVERY, ENDPOINT.names("e", "e_"), FROM_LIVE),
        List.of(queue.endpointId(), queue.source()),
        row -> new Head(endpoint(row.of("e_")), delivery(row)));
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

  /** Another attempt is to follow, unless the endpoint moved or was switched off meanwhile. */
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

  /** What switches an endpoint off by itself; nothing waits for it any more. */
  static List<Statement> switchOff(
      WebhookEndpoint endpoint, WebhookEndpoint.Reason reason, long nowMillis) {
    return List.of(
        Statement.guarded(
            Moved::new,
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
                    .formatted(endpoint.endpointId(), endpoint.url(), reason.label()))));
  }

  /** The attempt that was the last, in the commit that switches the endpoint off. */
  static Statement lastTry(Delivery delivery, Attempt attempt, long nowMillis) {
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

  /** A member to be told of something, and how they sign in. */
  record Recipient(String username, String email) {}

  /** Members who may sign in, so many at most, whoever made the endpoint first. */
  Future<List<Recipient>> listRecipients(WebhookEndpoint endpoint, int most) {
    return database.read(
        """
        SELECT username, email FROM member WHERE org_id = ? AND suspended_at IS NULL
        ORDER BY CASE WHEN 'member:' || username = ? THEN 0 ELSE 1 END, username LIMIT ?\
        """,
        List.of(endpoint.orgId(), endpoint.createdBy(), most),
        row -> new Recipient(row.text("username"), row.text("email")));
  }

  // Which process delivers.

  /** Another process delivers. */
  static final class NotMine extends RuntimeException {
    private static final long serialVersionUID = 1;

    NotMine() {
      super("another process delivers", null, false, false);
    }
  }

  /** Takes or keeps the lease for so long; fails with {@link NotMine} when another has it. */
  Future<Void> lease(String owner, long leaseMillis) {
    if (!database.isShared()) {
      return Future.succeededFuture();
    }
    // An expiry further ahead than any is given for was written before the clock was set back.
    return database.commit(
        List.of(
            Statement.guarded(
                NotMine::new,
                """
                INSERT INTO webhook_lease (name, owner, expires_at) VALUES ('delivery', ?, %1$s + ?)
                ON CONFLICT (name) DO UPDATE SET owner = excluded.owner,
                expires_at = excluded.expires_at
                WHERE webhook_lease.owner = excluded.owner OR webhook_lease.expires_at <= %1$s
                OR webhook_lease.expires_at > %1$s + ?\
                """
                    .formatted(database.clockSql()),
                owner,
                leaseMillis,
                leaseMillis)));
  }

  Future<Void> release(String owner) {
    return database.isShared()
        ? database.commit(List.of(Statement.of("DELETE FROM webhook_lease WHERE owner = ?", owner)))
        : Future.succeededFuture();
  }

  // Upkeep.

  /** Deletes some deliveries that are past their time, and tells whether there may be more. */
  Future<Boolean> prune(long cutoffMillis, int most) {
    return database
        .read(
            """
            SELECT d.id FROM webhook_delivery d WHERE d.made_at <= ? AND (d.outcome IS NOT NULL
            OR NOT EXISTS (SELECT 1 FROM webhook_endpoint e WHERE e.endpoint_id = d.endpoint_id
            AND e.disabled_at IS NULL))
            ORDER BY d.made_at LIMIT ?\
            """,
            List.of(cutoffMillis, most),
            row -> Statement.of("DELETE FROM webhook_delivery WHERE id = ?", row.integer("id")))
        .compose(
            gone ->
                gone.isEmpty()
                    ? Future.succeededFuture(false)
                    : database.commit(gone).map(done -> gone.size() == most));
  }

  /** Endpoints of organizations that are retired. */
  Future<List<WebhookEndpoint>> listRetired(int most) {
    return database.read(
        """
        SELECT %s FROM webhook_cursor c
        JOIN org o ON o.org_id = c.org_id AND o.retired_at IS NOT NULL
        JOIN webhook_endpoint e ON e.org_id = c.org_id WHERE c.source = '%s' LIMIT ?\
        """
            .formatted(ENDPOINT.names("e"), NEW_CLUSTERS),
        List.of(most),
        WebhookStore::endpoint);
  }

  /** Endpoints for which more waits than may. */
  Future<List<WebhookEndpoint>> listOverfull(long most, int limit) {
    return database.read(
        """
        SELECT %s FROM webhook_endpoint e JOIN
        (SELECT endpoint_id FROM webhook_delivery WHERE outcome IS NULL
        GROUP BY endpoint_id HAVING COUNT(*) > ?) AS f ON f.endpoint_id = e.endpoint_id
        WHERE e.disabled_at IS NULL LIMIT ?\
        """
            .formatted(ENDPOINT.names("e")),
        List.of(most, limit),
        WebhookStore::endpoint);
  }

  /** Endpoints with a secret whose time beside the new one is over. */
  Future<List<WebhookEndpoint>> listRotated(long nowMillis, int most) {
    return database.read(
        "SELECT %s FROM webhook_endpoint e WHERE e.old_secret_until <= ? LIMIT ?"
            .formatted(ENDPOINT.names("e")),
        List.of(nowMillis, most),
        WebhookStore::endpoint);
  }

  /** Nothing signs beside the endpoint's secret any more. */
  static Statement forgetOldSecret(WebhookEndpoint endpoint) {
    return Statement.of(
        """
        UPDATE webhook_endpoint SET old_secret_until = NULL
        WHERE endpoint_id = ? AND secret_version = ? AND old_secret_until = ?\
        """,
        endpoint.endpointId(),
        endpoint.secretVersion(),
        endpoint.oldSecretUntilMillis());
  }
}
