package dev.bourse.oauth;

import dev.bourse.core.Ids;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;

/** The registry of applications. */
final class ClientRegistry {
  /**
   * Registered applications, some 500 bytes each. Beyond this, applications that never got a token
   * are deleted first, the oldest first, because anybody can register, and a flood of registrations
   * must not evict applications in use.
   */
  private static final int MAX_REGISTERED = 20_000;

  private static final long UNUSED_MILLIS = Duration.ofDays(1).toMillis();

  /** At least the longest lifetime of a grant, so that no live grant loses its application. */
  private static final long IDLE_MILLIS = Duration.ofDays(90).toMillis();

  /** The precision of the last use. */
  private static final long USED_STEP_MILLIS = Duration.ofHours(1).toMillis();

  private final Database database;
  private final ClientDocuments documents;
  private final Clock clock;
  private final RandomGenerator random;

  ClientRegistry(
      Database database, ClientDocuments documents, Clock clock, RandomGenerator random) {
    this.database = database;
    this.documents = documents;
    this.clock = clock;
    this.random = random;
  }

  /**
   * Returns the application with an id; fails with {@link OAuthException} {@code invalid_client} if
   * there is none.
   *
   * @param caller the client address of the request, for which fetches of documents are counted
   * @throws dev.bourse.core.ApiException {@code rate-limited} when there were too many fetches
   */
  Future<Client> find(String clientId, String caller) {
    if (clientId.equals(Client.COMMAND_LINE.clientId())) {
      return Future.succeededFuture(Client.COMMAND_LINE);
    }
    if (ClientDocuments.isAddress(clientId)) {
      return documents.find(clientId, caller);
    }
    return database
        .read(
            """
            SELECT client_id, name, redirect_uris, grant_types FROM oauth_client
            WHERE client_id = ?\
            """,
            List.of(clientId),
            row ->
                new Client(
                    row.text("client_id"),
                    row.text("name"),
                    new JsonArray(row.text("redirect_uris")).stream().map(String::valueOf).toList(),
                    Set.of(row.text("grant_types").split(" ", -1))))
        .map(
            found -> {
              if (found.isEmpty()) {
                throw new OAuthException(
                    OAuthException.INVALID_CLIENT,
                    "client_id: no such client is registered; registrations that are not used end");
              }
              return found.get(0);
            });
  }

  /**
   * Registers an application (RFC 7591); fails with {@link OAuthException} if its metadata is not
   * valid.
   *
   * @return the registered metadata, as the answer to the client
   */
  Future<JsonObject> register(JsonObject metadata) {
    String clientId = "brc_" + Ids.base62(random, 22);
    Client client;
    try {
      client = ClientMetadata.read(clientId, metadata);
    } catch (OAuthException e) {
      return Future.failedFuture(e);
    }
    long now = clock.millis();
    JsonArray redirectUris = new JsonArray(client.redirectUris());
    return database
        .commit(
            List.of(
                Statement.of(
                    """
                    DELETE FROM oauth_client WHERE client_id IN (SELECT client_id FROM
                    oauth_client ORDER BY CASE WHEN used_at IS NULL THEN 1 ELSE 0 END,
                    COALESCE(used_at, created_at) DESC, client_id LIMIT 100 OFFSET %d)\
                    """
                        .formatted(MAX_REGISTERED - 1)),
                Statement.of(
                    """
                    INSERT INTO oauth_client (client_id, name, redirect_uris, grant_types,
                    created_at) VALUES (?, ?, ?, ?, ?)\
                    """,
                    client.clientId(),
                    client.name(),
                    redirectUris.encode(),
                    String.join(" ", client.grantTypes()),
                    now)))
        .map(
            stored ->
                new JsonObject()
                    .put("client_id", client.clientId())
                    .put("client_id_issued_at", now / 1_000)
                    .put("client_name", client.name())
                    .put("redirect_uris", redirectUris)
                    .put(
                        "grant_types",
                        new JsonArray(client.grantTypes().stream().sorted().toList()))
                    .put("response_types", new JsonArray().add("code"))
                    .put("token_endpoint_auth_method", "none")
                    .put("scope", String.join(" ", Scopes.defaultLabels())));
  }

  /** Records that an application got a token, in the commit that creates the token. */
  static Statement used(String clientId, long nowMillis) {
    return Statement.of(
        """
        UPDATE oauth_client SET used_at = ? WHERE client_id = ?
        AND (used_at IS NULL OR used_at < ?)\
        """,
        nowMillis,
        clientId,
        nowMillis - USED_STEP_MILLIS);
  }

  /** Deletes applications that never got a token in time, and those long unused. */
  static List<Statement> sweep(long nowMillis) {
    return List.of(
        Statement.of(
            "DELETE FROM oauth_client WHERE used_at IS NULL AND created_at < ?",
            nowMillis - UNUSED_MILLIS),
        Statement.of(
            "DELETE FROM oauth_client WHERE used_at < ?",
            nowMillis - IDLE_MILLIS - USED_STEP_MILLIS));
  }
}
