package dev.bourse.store.postgres;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.internal.VertxInternal;
import io.vertx.pgclient.PgConnection;
import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.Row;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Looks at a PostgreSQL server as a service would use it. Blocks. */
public final class PostgresProbe {
  /** What a store is faster or less safe by, and how many sessions there may be. */
  private static final String SETTINGS =
      """
      SELECT name::text, setting::text FROM pg_settings WHERE name IN ('server_version', 'fsync', \
      'full_page_writes', 'synchronous_commit', \
      'synchronous_standby_names', 'max_connections', \
      'superuser_reserved_connections', 'reserved_connections', 'default_transaction_read_only')\
      """;

  /** Of all users, which the list of sessions shows to few; some of the server's own among them. */
  private static final String SESSIONS =
      "SELECT COALESCE(SUM(numbackends), 0)::bigint FROM pg_stat_database WHERE datid <> 0";

  /** Any user sees the rows; only a monitoring user sees more of them than their number. */
  private static final String STANDBYS = "SELECT COUNT(*) FROM pg_stat_replication";

  private static final String TIME =
      "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint)";

  /** The first takes longer, as the server has to parse it. */
  private static final int ROUND_TRIPS = 7;

  private static final long CLOSE_SECONDS = 1;

  private PostgresProbe() {}

  /**
   * What a server said.
   *
   * @param settings by name
   * @param isStandby whether it follows another, and takes no writes
   * @param untold why the server does not report its timeline; empty for one that does
   * @param standbys connections over which the server's log is streamed, to standbys as a rule
   * @param sessions of all users, this one too
   * @param roundTripMicros of a statement that does nothing, the middle one of a few
   * @param aheadMillis how far its clock is before ours; negative when behind. Off by half a round
   *     trip at most
   */
  public record Seen(
      Map<String, String> settings,
      boolean isStandby,
      String untold,
      long standbys,
      long sessions,
      long roundTripMicros,
      long aheadMillis) {
    public Seen {
      settings = Map.copyOf(settings);
    }

    /** What a server without a timeline is not protected from. */
    public String unprotected() {
      return PrimaryHistory.UNTOLD;
    }

    /** The setting's value; empty when the server has none of the name. */
    public String setting(String name) {
      return settings.getOrDefault(name, "");
    }

    /** Sessions that ordinary users may still begin. */
    public long freeSessions() {
      return number("max_connections")
          - number("superuser_reserved_connections")
          - number("reserved_connections")
          - sessions;
    }

    private long number(String name) {
      // A server before PostgreSQL 16 reserves none for others than superusers.
      return Long.parseLong(settings.getOrDefault(name, "0"));
    }
  }

  /**
   * Asks a server.
   *
   * @throws dev.bourse.store.StoreRefused when it refuses the log-in or is too old
   * @throws dev.bourse.store.StoreUnavailable when it cannot be reached
   */
  public static Seen look(PostgresConfig config, Clock clock) {
    Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
    try {
      PgConnection connection =
          PostgresGuard.open(
                  ((VertxInternal) vertx).createEventLoopContext(),
                  config,
                  PostgresGuard.toRead(config))
              .await();
      try {
        return look(connection, clock);
      } finally {
        close(connection);
      }
    } finally {
      vertx.close().await();
    }
  }

  private static void close(PgConnection connection) {
    Future<Void> closed =
        connection
            .close()
            .timeout(CLOSE_SECONDS, TimeUnit.SECONDS)
            .onFailure(silent -> PostgresLink.abandon(connection));
    closed.otherwiseEmpty().await();
  }

  private static Seen look(PgConnection connection, Clock clock) {
    Map<String, String> settings = new LinkedHashMap<>();
    for (Row row : connection.query(SETTINGS).execute().await()) {
      settings.put(row.getString(0), row.getString(1));
    }
    boolean isStandby =
        connection
            .query("SELECT pg_is_in_recovery()")
            .execute()
            .await()
            .iterator()
            .next()
            .getBoolean(0);
    String untold =
        connection
            .query(PrimaryHistory.IDENTITY)
            .execute()
            .map("")
            .recover(
                e ->
                    e instanceof PgException refused
                        ? Future.succeededFuture(String.valueOf(refused.getErrorMessage()))
                        : Future.failedFuture(e))
            .await();
    long standbys = number(connection, STANDBYS);
    long sessions = number(connection, SESSIONS);
    List<Long> trips = new ArrayList<>();
    long ahead = 0;
    for (int i = 0; i < ROUND_TRIPS; i++) {
      long atMillis = clock.millis();
      long begin = System.nanoTime();
      long serverMillis = number(connection, TIME);
      long micros = TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - begin);
      if (trips.isEmpty() || micros < Collections.min(trips)) {
        // The shortest is the least uncertain about when the server looked at its clock.
        ahead = serverMillis - atMillis - micros / 2_000;
      }
      trips.add(micros);
    }
    Collections.sort(trips);
    return new Seen(
        settings, isStandby, untold, standbys, sessions, trips.get(trips.size() / 2), ahead);
  }

  private static long number(PgConnection connection, String sql) {
    return connection.query(sql).execute().await().iterator().next().getLong(0);
  }
}
