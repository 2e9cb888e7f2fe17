package dev.bourse.mcp;

import dev.bourse.core.ApiException;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;
import java.util.function.Supplier;

/**
 * Reads and writes the rows of used confirm tokens and ended sessions, which are kept until they
 * would expire.
 */
public final class McpStore {
  /**
   * How long rows are kept after the expiry of their token or session: clocks of processes differ
   * by seconds, and a process whose clock is behind must still find the row.
   */
  private static final long MARGIN_MILLIS = 3_600_000;

  private final Database database;

  public McpStore(Database database) {
    this.database = database;
  }

  Future<Boolean> isUsed(String nonce) {
    return has("SELECT 1 FROM confirm_used WHERE nonce = ?", nonce);
  }

  /**
   * Marks a token used.
   *
   * @param used makes the failure of the commit when it was used before
   */
  Statement use(String nonce, long expiresAtMillis, Supplier<ApiException> used) {
    return Statement.guarded(
        used,
        "INSERT INTO confirm_used (nonce, expires_at) VALUES (?, ?) ON CONFLICT DO NOTHING",
        nonce,
        expiresAtMillis);
  }

  Future<Void> spend(Statement use) {
    return database.commit(List.of(use));
  }

  Future<Boolean> isEnded(String sessionSha256) {
    return has("SELECT 1 FROM mcp_session_ended WHERE session_sha256 = ?", sessionSha256);
  }

  Future<Void> end(String sessionSha256, long expiresAtMillis) {
    return database.commit(
        List.of(
            Statement.of(
                """
                INSERT INTO mcp_session_ended (session_sha256, expires_at) VALUES (?, ?)
                ON CONFLICT DO NOTHING\
                """,
                sessionSha256,
                expiresAtMillis)));
  }

  private Future<Boolean> has(String sql, String key) {
    return database.exists(sql, List.of(key));
  }

  /** Deletes expired rows. Returns false, because one run deletes all of them. */
  public Future<Boolean> sweep(long nowMillis) {
    long before = nowMillis - MARGIN_MILLIS;
    return database
        .commit(
            List.of(
                Statement.of("DELETE FROM confirm_used WHERE expires_at < ?", before),
                Statement.of("DELETE FROM mcp_session_ended WHERE expires_at < ?", before)))
        .map(false);
  }
}
