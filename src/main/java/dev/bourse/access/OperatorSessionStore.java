package dev.bourse.access;

import dev.bourse.store.Columns;
import dev.bourse.store.Database;
import dev.bourse.store.InList;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Rows of operators' sessions. */
final class OperatorSessionStore {
  /** Sessions per token: several browsers, several times each. One more ends the oldest. */
  static final int MAX_PER_TOKEN = 20;

  private static final Columns<Stored> SESSION =
      Columns.<Stored>of("operator_session")
          .fixed("session_sha256", Stored::id)
          .fixed("token_id", Stored::tokenId)
          .fixed("created_at", Stored::createdAtMillis)
          .fixed("expires_at", Stored::expiresAtMillis);

  /** Selects sessions whose token is not revoked. */
  private static final String LIVE =
      """
      SELECT %s, t.name, t.read_only, t.site FROM operator_session s
      JOIN operator_token t ON t.token_id = s.token_id
      WHERE %s IS NULL AND s.session_sha256 IN\
      """
          .formatted(SESSION.names("s"), AccessStore.operatorRevokedAt("t."));

  private final Database database;

  OperatorSessionStore(Database database) {
    this.database = database;
  }

  record Stored(String id, String tokenId, long createdAtMillis, long expiresAtMillis) {}

  /**
   * A session whose token is not revoked.
   *
   * @param name the token's name
   * @param reach the token's reach
   */
  record Live(Stored session, String name, OperatorReach reach) {}

  Future<Optional<Live>> find(String id) {
    return database.readFirst(LIVE + " (?)", List.of(id), OperatorSessionStore::live);
  }

  Future<List<Live>> listLive(Set<String> ids) {
    List<String> values = InList.of(List.copyOf(ids));
    return database.read(LIVE + InList.marks(values), values, OperatorSessionStore::live);
  }

  /**
   * Starts a session, ends the one it replaces, and ends the token's oldest sessions beyond the
   * limit. Fails with {@code unauthorized} if the token was revoked just now.
   */
  Future<Void> start(Stored session, Optional<String> replaced, Statement record) {
    List<Statement> statements = new ArrayList<>();
    statements.add(
        Statement.guarded(
            () -> BearerAuthenticator.unauthorized("the token is unknown or revoked"),
            "UPDATE operator_token SET name = name WHERE token_id = ? AND %s IS NULL"
                .formatted(AccessStore.operatorRevokedAt("")),
            session.tokenId()));
    statements.add(SESSION.insert(session));
    statements.add(
        Statement.of(
            """
            DELETE FROM operator_session WHERE token_id = ? AND session_sha256 NOT IN
            (SELECT session_sha256 FROM operator_session WHERE token_id = ?
            ORDER BY created_at DESC, session_sha256 LIMIT %d)\
            """
                .formatted(MAX_PER_TOKEN),
            session.tokenId(),
            session.tokenId()));
    replaced.ifPresent(id -> statements.add(ending(id)));
    statements.add(record);
    return database.commit(statements);
  }

  Future<Void> end(String id, Statement record) {
    return database.commit(List.of(ending(id), record));
  }

  private static Statement ending(String id) {
    return Statement.of("DELETE FROM operator_session WHERE session_sha256 = ?", id);
  }

  /** Deletes expired sessions. */
  Future<Void> sweep(long nowMillis) {
    return database.commit(
        List.of(Statement.of("DELETE FROM operator_session WHERE expires_at <= ?", nowMillis)));
  }

  private static Live live(Row row) {
    return new Live(
        new Stored(
            row.text("session_sha256"),
            row.text("token_id"),
            row.integer("created_at"),
            row.integer("expires_at")),
        row.text("name"),
        AccessStore.reach(row));
  }
}
