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

/** Inspects a PostgreSQL server from the service's point of view. Blocks. */
public final class PostgresProbe {
  /** Settings that affect the store's speed, safety and number of sessions. */
  private static final String SETTINGS =
      """
      SELECT name::text, setting::text FROM pg_settings WHERE name IN ('server_version', 'fsync', \
      'full_page_writes', 'synchronous_commit', \
      'synchronous_standby_names', 'max_connections', \
      'superuser_reserved_connections', 'reserved_connections', 'default_transaction_read_only')\
      """;

  /**
   * Counts sessions of all users, which the list of sessions does not show to ordinary users; it
   * includes some of the server's own.
   */
  private static final String SESSIONS =
      "SELECT COALESCE(SUM(numbackends), 0)::bigint FROM pg_stat_database WHERE datid <> 0";

  /** Any user sees the rows; only a monitoring user sees their contents. */
  private static final String STANDBYS = "SELECT COUNT(*) FROM pg_stat_replication";

  private static final String TIME =
      "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint)";

  /** The first round trip takes longer because the server has to parse the statement. */
  private static final int ROUND_TRIPS = 7;

  private static final long CLOSE_SECONDS = 1;

  private PostgresProbe() {}

  /**
   * The properties of a server.
   *
   * @param settings settings by name
   * @param isStandby whether it follows another server and takes no writes
   * @param timelineFault why the server does not report its timeline; empty if it does
   * @param standbys connections that stream the server's log, usually to standbys
   * @param sessions sessions of all users, including this one
   * @param roundTripMicros the median round trip of a statement that does nothing
   * @param aheadMillis how far its clock is ahead of ours, negative if it is behind; accurate to
   *     half a round trip
   */
  public record Seen(
      Map<String, String> settings,
      boolean isStandby,
      String timelineFault,
      long standbys,
      long sessions,
      long roundTripMicros,
      long aheadMillis) {
    public Seen {
      settings = Map.copyOf(settings);
    }

    /** Returns the protection that is missing on a server without a timeline. */
    public String unprotected() {
      return PrimaryHistory.NO_TIMELINE;
    }

    /** Returns a setting's value; empty if the server has no setting of that name. */
    public String setting(String name) {
      return settings.getOrDefault(name, "");
    }

    /** Returns how many more sessions ordinary users can start. */
    public long freeSessions() {
      return number("max_connections")
          - number("superuser_reserved_connections")
          - number("reserved_connections")
          - sessions;
    }

    private long number(String name) {
      // Servers before PostgreSQL 16 reserve sessions for superusers only.
      return Long.parseLong(settings.getOrDefault(name, "0"));
    }
  }

  /**
   * Inspects a server.
   *
   * @throws dev.bourse.store.StoreRefusedException if it rejects the log-in or is too old
   * @throws dev.bourse.store.StoreUnavailableException if it cannot be reached
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
    String timelineFault =
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
        // The shortest round trip gives the most accurate reading of the server's clock.
        ahead = serverMillis - atMillis - micros / 2_000;
      }
      trips.add(micros);
    }
    Collections.sort(trips);
    return new Seen(
        settings, isStandby, timelineFault, standbys, sessions, trips.get(trips.size() / 2), ahead);
  }

  private static long number(PgConnection connection, String sql) {
    return connection.query(sql).execute().await().iterator().next().getLong(0);
  }
}
