package dev.bourse.oauth;

import dev.bourse.access.CallerGuard;
import dev.bourse.access.MemberToken;
import dev.bourse.access.MemberTokens;
import dev.bourse.access.Revocations;
import dev.bourse.access.Scope;
import dev.bourse.access.TokenLimits;
import dev.bourse.audit.AuditStore;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Ids;
import dev.bourse.core.Text;
import dev.bourse.core.Times;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Members' credentials for jobs, which publish checkpoints in the member's name and do nothing
 * else. A credential is a grant that the member makes without an application: everything that ends
 * a member's grants ends it too. Its token has an audience of its own, which only the operations
 * accept that publish.
 */
final class PublishingCredentials {
  /** The longest time until a credential expires: how long signing keys are kept for a token. */
  static final long LONGEST_MILLIS = Duration.ofDays(30).toMillis();

  /** Live credentials of one member, all listed on the account page. */
  static final int MAX_OF_MEMBER = 20;

  /**
   * Credentials that one member mints in a day: one each quarter of an hour. Each process keeps a
   * revoked one in memory until its token would have expired.
   */
  static final int MAX_A_DAY = 100;

  private static final long DAY_MILLIS = Duration.ofDays(1).toMillis();

  /** Ended in one run of the job; the next run ends the rest. */
  private static final int ENDED_AT_ONCE = 100;

  /** Distinguishes these grants from those to applications, whose ids are longer or addresses. */
  private static final String CLIENT_ID = "publishing";

  private static final Set<Scope> SCOPES = Set.of(Scope.CHECKPOINTS_WRITE);

  /** The actor that ends a credential with its node. */
  private static final String MARKET = "system:market";

  private static final String HELD = "a.gone_at IS NULL AND a.state <> 'RECLAIMING'";

  private final Database database;
  private final GrantStore store;
  private final GrantRevocation revocation;
  private final MemberTokens tokens;
  private final Clock clock;
  private final RandomGenerator random;

  PublishingCredentials(
      Database database,
      GrantStore store,
      GrantRevocation revocation,
      MemberTokens tokens,
      Clock clock,
      RandomGenerator random) {
    this.database = database;
    this.store = store;
    this.revocation = revocation;
    this.tokens = tokens;
    this.clock = clock;
    this.random = random;
  }

  /**
   * A credential to mint.
   *
   * @param maxBytes the bytes it may publish in total
   * @param node a node of the organization with which it ends: its public address, or the name of a
   *     Kubernetes cluster's node; null for none
   */
  record Order(String name, long expiresAtMillis, long maxBytes, @Nullable String node) {}

  /**
   * A credential as its member sees it.
   *
   * @param publishedBytes published and announced bytes
   * @param usedAtMillis when it last announced something, null before
   */
  record Credential(
      String id,
      String name,
      long createdAtMillis,
      long expiresAtMillis,
      long maxBytes,
      long publishedBytes,
      @Nullable Long usedAtMillis,
      @Nullable String node) {}

  /**
   * A new credential.
   *
   * @param token the token, which is not stored
   */
  record Minted(Credential credential, String token) {}

  /**
   * Parses the expiry of a credential, in whole seconds as tokens have it.
   *
   * @throws ApiException {@code bad-request} if it is not a time in the next 30 days
   */
  long expiry(String expiresAt) {
    long now = clock.millis();
    long millis = Times.parse(expiresAt).orElse(0) / 1_000 * 1_000;
    if (millis <= now || millis > now + LONGEST_MILLIS) {
      throw ApiException.badField("expires_at", expiresAt, "an RFC 3339 time in the next 30 days");
    }
    return millis;
  }

  /**
   * Mints a credential. Fails with {@code unknown-node} if the organization does not hold the node,
   * and with {@code conflict} past {@link #MAX_OF_MEMBER} and {@link #MAX_A_DAY}.
   *
   * @param callerInForce fails the commit if the caller's session or grant has ended
   */
  Future<Minted> mint(String orgId, String username, Order order, List<Statement> callerInForce) {
    String node = order.node();
    return (node == null
            ? Future.succeededFuture(Optional.<String>empty())
            : allocation(orgId, node).map(Optional::of))
        .compose(allocation -> mint(orgId, username, order, callerInForce, allocation));
  }

  private Future<Minted> mint(
      String orgId,
      String username,
      Order order,
      List<Statement> callerInForce,
      Optional<String> allocation) {
    long now = clock.millis();
    long expiresAt = order.expiresAtMillis();
    Grant grant =
        new Grant(
            Ids.next(Revocations.CREDENTIAL_PREFIX, random),
            orgId,
            username,
            CLIENT_ID,
            order.name(),
            SCOPES,
            tokens.publishingAudience(),
            false,
            now,
            expiresAt,
            expiresAt,
            null,
            null,
            TokenLimits.NONE);
    List<Statement> statements = new ArrayList<>(CallerGuard.of(orgId, grant.actor()));
    statements.addAll(callerInForce);
    statements.add(
        Statement.guarded(
            PublishingCredentials::tooMany,
            """
            UPDATE org SET retired_at = retired_at WHERE org_id = ?
            AND (SELECT COUNT(*) FROM oauth_grant WHERE org_id = ? AND username = ?
            AND publish_bytes IS NOT NULL AND revoked_at IS NULL AND expires_at > ?) < %s\
            """
                .formatted(MAX_OF_MEMBER),
            orgId,
            orgId,
            username,
            now));
    // Rows of ended credentials stay for a day, so this counts all that were minted in it.
    statements.add(
        Statement.guarded(
            DailyLimitException::new,
            """
            UPDATE org SET retired_at = retired_at WHERE org_id = ?
            AND (SELECT COUNT(*) FROM oauth_grant WHERE org_id = ? AND username = ?
            AND publish_bytes IS NOT NULL AND created_at > ?) < %s\
            """
                .formatted(MAX_A_DAY),
            orgId,
            orgId,
            username,
            now - DAY_MILLIS));
    statements.add(GrantStore.insert(grant));
    statements.add(
        Statement.of(
            """
            UPDATE oauth_grant SET begun_at = created_at, publish_bytes = ?, allocation_id = ?
            WHERE grant_id = ?\
            """,
            order.maxBytes(),
            allocation.orElse(null),
            grant.grantId()));
    statements.add(
        AuditStore.insert(
            grant.row(
                "oauth_grant",
                now,
                " name=%s max_bytes=%s expires_at=%s%s"
                    .formatted(
                        Text.shown(order.name()),
                        order.maxBytes(),
                        Times.rfc3339(expiresAt),
                        order.node() == null ? "" : " node=" + order.node()))));
    return database
        .commit(statements)
        .recover(
            fault ->
                fault instanceof DailyLimitException
                    ? mintedToday(orgId, username)
                    : Future.failedFuture(fault))
        .map(
            stored ->
                new Minted(
                    new Credential(
                        grant.grantId(),
                        order.name(),
                        now,
                        expiresAt,
                        order.maxBytes(),
                        0,
                        null,
                        order.node()),
                    tokens.issue(
                        new MemberToken(
                            orgId,
                            username,
                            grant.resource(),
                            SCOPES,
                            CLIENT_ID,
                            grant.grantId(),
                            Math.max(1_000, expiresAt - now)))));
  }

  private static final class DailyLimitException extends RuntimeException {
    DailyLimitException() {
      super("too many credentials minted in a day", null, false, false);
    }
  }

  /** Fails with the time at which the member may mint the next credential. */
  private Future<Void> mintedToday(String orgId, String username) {
    return database
        .readFirst(
            """
            SELECT created_at FROM oauth_grant WHERE org_id = ? AND username = ?
            AND publish_bytes IS NOT NULL ORDER BY created_at DESC LIMIT 1 OFFSET %s\
            """
                .formatted(MAX_A_DAY - 1),
            List.of(orgId, username),
            row -> row.integer("created_at"))
        .compose(
            found ->
                Future.failedFuture(
                    ApiException.of(
                            ErrorCode.CONFLICT,
                            "you minted %s publishing credentials within a day; the next is"
                                + " possible at %s",
                            MAX_A_DAY,
                            Times.rfc3339(found.orElseGet(clock::millis) + DAY_MILLIS))
                        .with("reason", "limit")));
  }

  private static ApiException tooMany() {
    return ApiException.of(
            ErrorCode.CONFLICT,
            "you have %s publishing credentials, the most a member may have; revoke one first",
            MAX_OF_MEMBER)
        .with("reason", "limit");
  }

  private Future<String> allocation(String orgId, String node) {
    return database
        .readFirst(
            """
            SELECT a.allocation_id FROM allocation a JOIN cluster c ON c.name = a.cluster
            WHERE c.org_id = ? AND (a.public_ip = ? OR (c.kind = 'K8S' AND a.node_id = ?)) AND %s\
            """
                .formatted(HELD),
            List.of(orgId, node, node),
            row -> row.text("allocation_id"))
        .map(
            found ->
                found.orElseThrow(
                    () ->
                        ApiException.of(
                            ErrorCode.UNKNOWN_NODE,
                            "node: the organization holds no node %s",
                            Text.shown(node))));
  }

  /** Returns a member's live credentials, the newest first. */
  Future<List<Credential>> list(String orgId, String username) {
    return database.read(
        """
        SELECT g.grant_id, g.client_name, g.created_at, g.expires_at, g.publish_bytes, g.used_at,
        CASE WHEN c.kind = 'K8S' THEN a.node_id ELSE a.public_ip END AS node,
        CAST(g.published_bytes + (SELECT COALESCE(SUM(r.bytes), 0)
        FROM checkpoint_revision r WHERE r.credential_id = g.grant_id AND r.state = 'pending')
        AS BIGINT) AS published
        FROM oauth_grant g LEFT JOIN allocation a ON a.allocation_id = g.allocation_id
        LEFT JOIN cluster c ON c.name = a.cluster
        WHERE g.org_id = ? AND g.username = ? AND g.publish_bytes IS NOT NULL
        AND g.revoked_at IS NULL AND g.expires_at > ? AND (g.allocation_id IS NULL OR (%s))
        ORDER BY g.created_at DESC, g.grant_id LIMIT %s\
        """
            .formatted(HELD, MAX_OF_MEMBER),
        List.of(orgId, username, clock.millis()),
        PublishingCredentials::credential);
  }

  private static Credential credential(Row row) {
    return new Credential(
        row.text("grant_id"),
        row.text("client_name"),
        row.integer("created_at"),
        row.integer("expires_at"),
        row.integer("publish_bytes"),
        row.integer("published"),
        row.integerOrNull("used_at"),
        row.textOrNull("node"));
  }

  /** Revokes a member's credential at once; fails with {@code not-found} without one. */
  Future<Long> revoke(String orgId, String username, String id) {
    long now = clock.millis();
    return list(orgId, username)
        .compose(
            found -> {
              if (found.stream().noneMatch(one -> one.id().equals(id))) {
                throw ApiException.notFound("publishing credential", id);
              }
              return end(id, Optional.empty(), " reason=member");
            })
        .map(now);
  }

  /**
   * Ends the credentials whose node is reclaimed. Their writes are refused from the reclaim on;
   * this also ends uploads under way, and refuses their tokens.
   *
   * @return whether there are more
   */
  Future<Boolean> endWithNodes() {
    return database
        .read(
            """
            SELECT g.grant_id FROM oauth_grant g WHERE g.allocation_id IS NOT NULL
            AND g.revoked_at IS NULL AND g.expires_at > ? AND NOT EXISTS (SELECT 1 FROM allocation a
            WHERE a.allocation_id = g.allocation_id AND %s) LIMIT %s\
            """
                .formatted(HELD, ENDED_AT_ONCE),
            List.of(clock.millis()),
            row -> row.text("grant_id"))
        .compose(
            found -> {
              Future<Void> ended = Future.succeededFuture();
              for (String id : found) {
                ended = ended.compose(done -> end(id, Optional.of(MARKET), " reason=node"));
              }
              return ended.map(found.size() == ENDED_AT_ONCE);
            });
  }

  /**
   * @param system the part of the service that ends it; empty for its member
   */
  private Future<Void> end(String id, Optional<String> system, String further) {
    return store
        .find(id)
        .compose(
            found ->
                found.isPresent()
                    ? revocation.end(found.get(), system.orElseGet(found.get()::actor), further)
                    : Future.succeededFuture());
  }
}
