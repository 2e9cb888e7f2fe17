package dev.bourse.delivery;

import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;

/**
 * Which of the processes of a store delivers: the one whose name the row has, until it expires by
 * the database's clock. The embedded store has but one process.
 */
final class DeliveryLease {
  private final Database database;
  private final String name;
  private final String owner;

  /**
   * @param name what is delivered
   * @param owner this process, as no other is called
   */
  DeliveryLease(Database database, String name, String owner) {
    this.database = database;
    this.name = name;
    this.owner = owner;
  }

  /** Another process delivers. */
  static final class NotMine extends RuntimeException {
    private static final long serialVersionUID = 1;

    NotMine() {
      super("another process delivers", null, false, false);
    }
  }

  /** Takes or keeps the lease for so long; fails with {@link NotMine} when another has it. */
  Future<Void> take(long leaseMillis) {
    if (!database.isShared()) {
      return Future.succeededFuture();
    }
    // An expiry further ahead than any is given for was written before the clock was set back.
    return database.commit(
        List.of(
            Statement.guarded(
                NotMine::new,
                """
                INSERT INTO webhook_lease (name, owner, expires_at) VALUES (?, ?, %1$s + ?)
                ON CONFLICT (name) DO UPDATE SET owner = excluded.owner,
                expires_at = excluded.expires_at
                WHERE webhook_lease.owner = excluded.owner OR webhook_lease.expires_at <= %1$s
                OR webhook_lease.expires_at > %1$s + ?\
                """
                    .formatted(database.clockSql()),
                name,
                owner,
                leaseMillis,
                leaseMillis)));
  }

  /** Leaves the delivering to whoever asks next. */
  Future<Void> release() {
    return database.isShared()
        ? database.commit(
            List.of(
                Statement.of(
                    "DELETE FROM webhook_lease WHERE name = ? AND owner = ?", name, owner)))
        : Future.succeededFuture();
  }
}
