package dev.bourse.walk;

import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The claims of one walk on blobs, in a table of its own. */
public final class BlobClaims {
  /** Interval at which a process renews its claim. */
  static final long RENEW_MILLIS = 60_000;

  /** When a claim expires: long enough for a process that stalls for a few minutes. */
  public static final long EXPIRY_MILLIS = 10 * RENEW_MILLIS;

  private final Database database;
  private final String table;

  public BlobClaims(Database database, String table) {
    this.database = database;
    this.table = table;
  }

  /**
   * A claim on a blob, held or waiting.
   *
   * @param renewedAtMillis when its holder last renewed it; 0 if it has none
   * @param attempts how often it was taken since its row was inserted, which identifies the holder
   *     among those of this row
   */
  public record Claim(String key, long renewedAtMillis, int attempts) {
    /** Reads a row of a table of claims. */
    public static Claim of(Row row) {
      return new Claim(row.text("blob_key"), row.integer("told_at"), row.smallInteger("attempts"));
    }

    /** Returns true if the holder has not renewed it in time, or at a time in the far future. */
    private boolean isExpired(long nowMillis) {
      return renewedAtMillis <= nowMillis - EXPIRY_MILLIS
          || renewedAtMillis > nowMillis + EXPIRY_MILLIS;
    }
  }

  /**
   * Claims a blob that has no claim, or an expired one; empty if another process has it.
   *
   * @param progress statements to commit together with the claim
   */
  Future<Optional<Claim>> take(String key, List<Statement> progress, long nowMillis) {
    return database
        .readFirst(
            "SELECT blob_key, told_at, attempts FROM %s WHERE blob_key = ?".formatted(table),
            List.of(key),
            Claim::of)
        .compose(
            known ->
                known.isPresent() && !known.get().isExpired(nowMillis)
                    ? Future.succeededFuture(Optional.empty())
                    : known
                        .map(expired -> take(expired, progress, nowMillis))
                        .orElseGet(() -> insert(key, progress, nowMillis))
                        .map(Optional::of)
                        .recover(
                            e ->
                                e instanceof ClaimLostException
                                    ? Future.succeededFuture(Optional.empty())
                                    : Future.failedFuture(e)));
  }

  private Future<Claim> insert(String key, List<Statement> progress, long nowMillis) {
    return commit(
        new Claim(key, nowMillis, 1),
        progress,
        guarded(
            """
            INSERT INTO %s (blob_key, told_at, attempts) VALUES (?, ?, 1) \
            ON CONFLICT (blob_key) DO NOTHING\
            """,
            key, nowMillis));
  }

  /** Takes an expired claim. Fails with {@link ClaimLostException} if another process did. */
  Future<Claim> take(Claim expired, List<Statement> progress, long nowMillis) {
    Claim taken = new Claim(expired.key(), nowMillis, expired.attempts() + 1);
    return commit(
        taken,
        progress,
        guarded(
            """
            UPDATE %s SET told_at = ?, attempts = ? \
            WHERE blob_key = ? AND attempts = ? AND told_at = ?\
            """,
            nowMillis,
            taken.attempts(),
            expired.key(),
            expired.attempts(),
            expired.renewedAtMillis()));
  }

  private Future<Claim> commit(Claim claim, List<Statement> progress, Statement taking) {
    List<Statement> statements = new ArrayList<>(progress);
    statements.add(taking);
    return database.commit(statements).map(claim);
  }

  private Statement guarded(String sql, Object... values) {
    return Statement.guarded(ClaimLostException::new, sql.formatted(table), values);
  }

  /** Renews a claim. Fails with {@link ClaimLostException} if another process has it. */
  public Future<Void> renew(Claim claim, long nowMillis) {
    return database.commit(
        List.of(
            guarded(
                "UPDATE %s SET told_at = ? WHERE blob_key = ? AND attempts = ?",
                nowMillis, claim.key(), claim.attempts())));
  }

  /** Releases a claim, so that any process may take it at once. */
  public Future<Void> release(Claim claim) {
    return renew(claim, 0);
  }

  /** Deletes a claim without a result. */
  public Future<Void> drop(Claim claim) {
    return database.commit(List.of(ended(claim)));
  }

  /** Ends a claim in the commit that stores the result of its visit. */
  public Statement ended(Claim claim) {
    return guarded(
        "DELETE FROM %s WHERE blob_key = ? AND attempts = ?", claim.key(), claim.attempts());
  }
}
