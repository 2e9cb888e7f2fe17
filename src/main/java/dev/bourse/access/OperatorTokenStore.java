package dev.bourse.access;

import dev.bourse.core.Page;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Rows of operators' tokens. */
public final class OperatorTokenStore {
  /** Guards of a write. */
  static final String UNKNOWN = "unknown";

  static final String LAST = "last";
  static final String LIMIT = "limit";

  private static final String COLUMNS =
      "SELECT token_id, name, created_by, created_at, expires_at, revoked_at FROM operator_token";

  /** The oldest row: rows are never deleted, so every process takes the same one. */
  private static final String OLDEST =
      "UPDATE operator_token SET name = name WHERE token_id ="
          + " (SELECT token_id FROM operator_token ORDER BY created_at, token_id LIMIT 1)";

  private static final String LIVE =
      "revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)";

  private final Database database;

  OperatorTokenStore(Database database) {
    this.database = database;
  }

  /**
   * An operator's token as people see it.
   *
   * @param tokenId its public part
   * @param name whose it is
   * @param createdBy the actor who minted it
   * @param createdAtMillis when
   * @param expiresAtMillis when it stops working, null for never
   * @param revokedAtMillis when it was revoked, null when it was not
   */
  public record Listed(
      String tokenId,
      String name,
      String createdBy,
      long createdAtMillis,
      @Nullable Long expiresAtMillis,
      @Nullable Long revokedAtMillis) {}

  /** A page of all of them, by id, dead ones too. */
  Future<Page<Listed>> list(int limit, Optional<String> after) {
    List<Object> parameters = new ArrayList<>();
    after.ifPresent(parameters::add);
    parameters.add(limit + 1);
    return database
        .read(
            COLUMNS
                + (after.isPresent() ? " WHERE token_id > ?" : "")
                + " ORDER BY token_id LIMIT ?",
            parameters,
            OperatorTokenStore::listed)
        .map(found -> Page.of(found, limit));
  }

  /** Makes writes to operators' tokens come one after the other; goes first in a commit. */
  static Statement lock() {
    return Statement.of(OLDEST);
  }

  /** Demands that fewer than so many are live. */
  static Statement demandFewer(int most, long nowMillis) {
    return Statement.guarded(
        LIMIT,
        OLDEST + " AND (SELECT COUNT(*) FROM operator_token WHERE " + LIVE + ") < " + most,
        nowMillis);
  }

  static Statement revoke(String tokenId, long nowMillis) {
    return Statement.guarded(
        UNKNOWN,
        "UPDATE operator_token SET revoked_at = ? WHERE token_id = ? AND revoked_at IS NULL",
        nowMillis,
        tokenId);
  }

  /** Demands that somebody is left. */
  static Statement demandAnyLive(long nowMillis) {
    return Statement.guarded(
        LAST, OLDEST + " AND EXISTS (SELECT 1 FROM operator_token WHERE " + LIVE + ")", nowMillis);
  }

  private static Listed listed(Row row) {
    return new Listed(
        row.text(0),
        row.text(1),
        row.text(2),
        row.integer(3),
        row.integerOrNull(4),
        row.integerOrNull(5));
  }
}
