package dev.bourse.access;

import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.InList;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Rows of the public halves of signing keys. */
final class SigningKeyStore {
  /**
   * Far more than the number of processes times the unexpired keys of each. It keeps a process that
   * loses its data folder at each start from filling the memory of the others.
   */
  private static final int MAX_KEYS = 1_000;

  private final Database database;

  SigningKeyStore(Database database) {
    this.database = database;
  }

  /** Returns when each known key was made, by its thumbprint. */
  Future<Map<String, Long>> listMadeAt() {
    return database
        .read(
            "SELECT kid, made_at FROM signing_key ORDER BY made_at DESC, kid LIMIT " + MAX_KEYS,
            List.of(),
            row -> Map.entry(row.text("kid"), row.integer("made_at")))
        .map(
            found ->
                found.stream().collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue)));
  }

  /** Returns every key that may have signed an unexpired token, newest first. */
  Future<List<JsonObject>> listPublic(long nowMillis) {
    return database.read(
        """
        SELECT public_jwk FROM signing_key WHERE expires_at > ? ORDER BY made_at DESC, kid \
        LIMIT %s\
        """
            .formatted(MAX_KEYS),
        List.of(nowMillis),
        row -> new JsonObject(row.text("public_jwk")));
  }

  /** Returns the given keys except those whose tokens have all expired. */
  Future<List<JsonObject>> listPublic(List<String> kids, long nowMillis) {
    List<String> all = InList.of(kids);
    List<Object> values = new ArrayList<>(all);
    values.add(nowMillis);
    return database.read(
        "SELECT public_jwk FROM signing_key WHERE kid IN %s AND expires_at > ?"
            .formatted(InList.marks(all)),
        values,
        row -> new JsonObject(row.text("public_jwk")));
  }

  /**
   * Publishes the public half.
   *
   * @param along statements of the same commit
   */
  Future<Void> publish(
      SigningKey key, long madeAtMillis, long expiresAtMillis, List<Statement> along) {
    return commit(
        key.kid(),
        along,
        Statement.of(
            """
            INSERT INTO signing_key (kid, public_jwk, made_at, expires_at) VALUES (?, ?, ?, ?)
            ON CONFLICT (kid) DO UPDATE SET expires_at = excluded.expires_at\
            """,
            key.kid(),
            key.publicJwk().encode(),
            madeAtMillis,
            expiresAtMillis));
  }

  /**
   * Retires a key, which verifies tokens until the last one has expired.
   *
   * @param along statements of the same commit
   */
  Future<Void> retire(String kid, long nowMillis, long expiresAtMillis, List<Statement> along) {
    return commit(
        kid,
        along,
        Statement.of(
            "UPDATE signing_key SET retired_at = ?, expires_at = ? WHERE kid = ?",
            nowMillis,
            expiresAtMillis,
            kid));
  }

  Future<Void> deleteExpired(long nowMillis) {
    return database.commit(
        List.of(
            Statement.of("DELETE FROM signing_key WHERE expires_at <= ?", nowMillis),
            SharedSigningKeys.DELETE_EXPIRED));
  }

  private Future<Void> commit(String kid, List<Statement> along, Statement statement) {
    List<Statement> all = new ArrayList<>(along);
    all.add(statement);
    return database.commit(all, List.of(new Change(SigningKeys.CHANGED, kid)));
  }
}
