package dev.bourse.delivery;

import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;

/**
 * Elects the process of a store that delivers: the one named in the row, until the row expires by
 * the database's clock. An embedded store has one process only.
 */
final class DeliveryLease {
  private final Database database;
  private final String name;
  private final String owner;

  /**
   * @param name the kind of delivery
   * @param owner a unique name of this process
   */
  DeliveryLease(Database database, String name, String owner) {
    this.database = database;
    this.name = name;
    this.owner = owner;
  }

  /** Another process holds the lease. */
  static final class LeaseHeldException extends RuntimeException {
    private static final long serialVersionUID = 1;

    LeaseHeldException() {
      super("another process delivers", null, false, false);
    }
  }

  /**
   * Acquires or renews the lease; fails with {@link LeaseHeldException} if another process holds
   * it.
   */
  Future<Void> take(long leaseMillis) {
    if (!database.isShared()) {
      return Future.succeededFuture();
    }
    // An expiry beyond the longest lease was written before the clock was set back.
    return database.commit(
        List.of(
            Statement.guarded(
                LeaseHeldException::new,
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

  /** Releases the lease. */
  Future<Void> release() {
    return database.isShared()
        ? database.commit(
            List.of(
                Statement.of(
                    "DELETE FROM webhook_lease WHERE name = ? AND owner = ?", name, owner)))
        : Future.succeededFuture();
  }
}
