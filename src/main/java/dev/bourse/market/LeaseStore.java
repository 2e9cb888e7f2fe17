package dev.bourse.market;

import dev.bourse.pools.Quote;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Stores the leases of pools. */
public final class LeaseStore {
  /** No lease is longer, so an expiry further ahead is ignored. */
  private static final long MAX_LEASE_MILLIS = MarketConfig.LONGEST_LEASE.toMillis();

  private final Database database;
  private final String expiry;

  /**
   * The condition under which a lease is free. An expiry further ahead than the longest lease comes
   * from a process whose clock is ahead; it must not block the pool for days.
   */
  private final String isFree;

  LeaseStore(Database database) {
    this.database = database;
    this.expiry = database.clockSql() + " + ?";
    this.isFree = "(expires_at <= %1$s OR expires_at > %1$s + ?)".formatted(database.clockSql());
  }

  private record LeaseRow(long epoch, boolean isFree) {}

  /**
   * Acquires a pool's lease if it is free; empty if another process holds it or acquired it first.
   * The clock of the database, which all processes share, decides whether a lease has expired. In a
   * store that only one process can use, an existing lease belongs to a process that has ended.
   */
  Future<Optional<Lease>> acquire(String pool, String owner, long leaseMillis) {
    return database
        .read(
            "SELECT epoch, CASE WHEN %s THEN 1 ELSE 0 END AS is_free FROM lease WHERE pool = ?"
                .formatted(isFree),
            List.of(MAX_LEASE_MILLIS, pool),
            row -> new LeaseRow(row.integer("epoch"), row.truth("is_free")))
        .compose(
            rows -> {
              Optional<LeaseRow> found = rows.stream().findFirst();
              if (database.isShared() && found.filter(f -> !f.isFree()).isPresent()) {
                return Future.succeededFuture(Optional.empty());
              }
              Lease lease = new Lease(pool, owner, found.map(LeaseRow::epoch).orElse(0L) + 1);
              return database
                  .commit(List.of(take(lease, leaseMillis)))
                  .map(Optional.of(lease))
                  .recover(
                      e ->
                          e instanceof Lease.LeaseLostException
                              ? Future.succeededFuture(Optional.empty())
                              : Future.failedFuture(e));
            });
  }

  private Statement take(Lease lease, long leaseMillis) {
    List<Object> parameters =
        new ArrayList<>(
            List.of(lease.owner(), lease.epoch(), leaseMillis, lease.epoch(), lease.pool()));
    String sql;
    if (lease.epoch() == 1) {
      sql =
          """
          INSERT INTO lease (owner, epoch, expires_at, acquired_epoch, acquired_at, pool)
          VALUES (?, ?, %s, ?, %s, ?) ON CONFLICT (pool) DO NOTHING\
          """
              .formatted(expiry, database.clockSql());
    } else {
      sql =
          """
          UPDATE lease SET owner = ?, epoch = ?, expires_at = %s, acquired_epoch = ?,
          acquired_at = %s WHERE pool = ? AND epoch = ?\
          """
              .formatted(expiry, database.clockSql());
      parameters.add(lease.epoch() - 1);
      if (database.isShared()) {
        // The holder may have renewed the lease since it was read; then it is not free.
        sql += " AND " + isFree;
        parameters.add(MAX_LEASE_MILLIS);
      }
    }
    return Statement.guarded(Lease.LeaseLostException::new, sql, parameters.toArray());
  }

  /** Returns true if a lease must be renewed. */
  boolean leasesExpire() {
    return database.isShared();
  }

  /**
   * Renews a lease for a time from now. Fails with {@link Lease.LeaseLostException} if another
   * process has it.
   *
   * @param quote the holder's last published quote, for processes that wait for the lease
   */
  Future<Void> renew(Lease lease, long leaseMillis, Optional<Quote> quote) {
    List<Object> parameters = new ArrayList<>(List.of(leaseMillis));
    String columns = "";
    if (quote.isPresent()) {
      columns = ", quote = ?, quote_epoch = epoch";
      parameters.add(QuoteText.write(quote.get()));
    }
    return expire(lease, expiry + columns, parameters);
  }

  /**
   * Reads the last quote of the holder of a pool's lease; empty if this holder has stored none. A
   * holder of the previous release never stores one.
   */
  Future<Optional<Quote>> readQuote(String pool) {
    return database
        .read(
            "SELECT quote FROM lease WHERE pool = ? AND quote_epoch = epoch",
            List.of(pool),
            row -> row.text("quote"))
        .map(rows -> rows.stream().findFirst().flatMap(QuoteText::read));
  }

  /**
   * The process that runs a pool's market.
   *
   * @param process the name that the process gave itself
   * @param epoch how often the market has changed hands
   * @param sinceMillis when the process acquired the lease; null if its release does not record it
   */
  public record Holder(String pool, String process, long epoch, @Nullable Long sinceMillis) {}

  /** Lists the holders of the leases in force. */
  Future<List<Holder>> listHolders() {
    // In a store that only one process can use, a lease lasts as long as the process.
    String inForce = database.isShared() ? "NOT " + isFree : "expires_at > ?";
    return database.read(
        """
        SELECT pool, owner, epoch, CASE WHEN acquired_epoch = epoch THEN acquired_at END AS since
        FROM lease WHERE %s\
        """
            .formatted(inForce),
        List.of(database.isShared() ? MAX_LEASE_MILLIS : 0L),
        row ->
            new Holder(
                row.text("pool"),
                row.text("owner"),
                row.integer("epoch"),
                row.integerOrNull("since")));
  }

  /** Releases a lease. Fails with {@link Lease.LeaseLostException} if another process has it. */
  Future<Void> release(Lease lease) {
    return expire(lease, "?", List.of(0L));
  }

  /**
   * @param at the SQL expression of the new expiry, with further assignments
   */
  private Future<Void> expire(Lease lease, String at, List<Object> values) {
    List<Object> parameters = new ArrayList<>(values);
    parameters.addAll(List.of(lease.pool(), lease.owner(), lease.epoch()));
    return database.commit(
        List.of(
            Statement.guarded(
                Lease.LeaseLostException::new,
                "UPDATE lease SET expires_at = %s WHERE pool = ? AND owner = ? AND epoch = ?"
                    .formatted(at),
                parameters.toArray())));
  }
}
