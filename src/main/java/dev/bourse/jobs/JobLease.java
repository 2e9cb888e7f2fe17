package dev.bourse.jobs;

import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Elects the process of a store that runs a job: the one named in the row, until the row expires by
 * the database's clock. An embedded store has one process only, which always holds it.
 */
public final class JobLease {
  private final Database database;
  private final String name;
  private final String owner;

  /**
   * @param name the lease's name, which states its purpose
   * @param owner a unique name of this process
   */
  public JobLease(Database database, String name, String owner) {
    this.database = database;
    this.name = name;
    this.owner = owner;
  }

  /** Another process holds the lease. */
  public static final class LeaseHeldException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final @Nullable String holder;

    /**
     * @param holder that process; null if it is unknown
     */
    LeaseHeldException(@Nullable String holder) {
      super("another process holds the lease", null, false, false);
      this.holder = holder;
    }

    /** The process that holds it; null if it is unknown. */
    public @Nullable String holder() {
      return holder;
    }
  }

  /**
   * Acquires or renews the lease; fails with {@link LeaseHeldException} if another process holds
   * it.
   */
  public Future<Void> take(long leaseMillis) {
    if (!database.isShared()) {
      return Future.succeededFuture();
    }
    // An expiry beyond the longest lease was written before the clock was set back.
    return database
        .commit(
            List.of(
                Statement.guarded(
                    () -> new LeaseHeldException(null),
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
                    leaseMillis)))
        .recover(e -> e instanceof LeaseHeldException ? nameHolder() : Future.failedFuture(e));
  }

  private Future<Void> nameHolder() {
    return database
        .readFirst(
            "SELECT owner FROM webhook_lease WHERE name = ?",
            List.of(name),
            row -> row.text("owner"))
        // The lease is lost, whether its holder can be named or not.
        .otherwise(Optional.empty())
        .compose(found -> Future.failedFuture(new LeaseHeldException(found.orElse(null))));
  }

  /** Releases the lease. */
  public Future<Void> release() {
    return database.isShared()
        ? database.commit(
            List.of(
                Statement.of(
                    "DELETE FROM webhook_lease WHERE name = ? AND owner = ?", name, owner)))
        : Future.succeededFuture();
  }
}
