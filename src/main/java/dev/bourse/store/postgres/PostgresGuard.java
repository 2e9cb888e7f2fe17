package dev.bourse.store.postgres;

import dev.bourse.store.StoreRefusedException;
import dev.bourse.store.StoreUnavailableException;
import io.vertx.core.Future;
import io.vertx.core.internal.ContextInternal;
import io.vertx.pgclient.PgConnection;
import io.vertx.pgclient.PgException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Opens sessions that work on the whole store, to migrate or move it: their statements have no
 * time-out, and their server has been checked to be suitable.
 */
final class PostgresGuard {
  private static final int LEAST_VERSION = 130_000;

  /** Class 28: the log-in was rejected; 3D000: the database does not exist. */
  private static final List<String> REFUSALS = List.of("28000", "28P01", "3D000", "42501");

  private PostgresGuard() {}

  /**
   * Returns the requirements of a read-only session: a single host may be a standby; of several
   * hosts, the primary is used.
   */
  static PostgresLink.Needs toRead(PostgresConfig config) {
    return config.url().hosts().size() == 1 ? PostgresLink.Needs.ANY : PostgresLink.Needs.PRIMARY;
  }

  /**
   * Opens a session.
   *
   * <p>Fails with {@link StoreRefusedException} if the server rejects the log-in or is too old, and
   * with {@link StoreUnavailableException} if it cannot be reached or does not meet the
   * requirements.
   */
  static Future<PgConnection> open(
      ContextInternal context, PostgresConfig config, PostgresLink.Needs needs) {
    PostgresConfig patient = config.whileStarting();
    Future<PgConnection> opened =
        PostgresLink.open(context, patient, "schema", needs, PostgresSchemaSession.SETTINGS);
    return opened
        .timeout(patient.connectMillis(), TimeUnit.MILLISECONDS)
        .recover(
            failure -> {
              opened.onSuccess(PostgresLink::abandon);
              return Future.failedFuture(unreachable(config, failure));
            })
        .compose(
            guard ->
                checkVersion(guard)
                    .map(guard)
                    .recover(
                        failure ->
                            guard
                                .close()
                                .transform(closed -> Future.failedFuture(lost(config, failure)))));
  }

  private static Future<Void> checkVersion(PgConnection guard) {
    return guard
        .query("SELECT CAST(current_setting('server_version_num') AS bigint)")
        .execute()
        .map(
            rows -> {
              long version = rows.iterator().next().getLong(0);
              if (version < LEAST_VERSION) {
                throw new StoreRefusedException(
                    "PostgreSQL " + version / 10_000 + " is too old; use 13 or later", null);
              }
              return null;
            });
  }

  /** Returns the exception, for operators, of a failed connection. */
  static RuntimeException unreachable(PostgresConfig config, Throwable failure) {
    String message = config.url() + " cannot be used: " + failure.getMessage();
    Throwable word = failure.getCause() instanceof PgException ? failure.getCause() : failure;
    return word instanceof PgException answer && REFUSALS.contains(answer.getSqlState())
        ? new StoreRefusedException(message, failure)
        : PostgresFailure.unavailable(message, failure);
  }

  /** Maps a later failure; failures of the server become {@link StoreUnavailableException}. */
  static Throwable lost(PostgresConfig config, Throwable failure) {
    if (failure instanceof StoreRefusedException || failure instanceof StoreUnavailableException) {
      return failure;
    }
    return PostgresFailure.of(failure, true) == PostgresFailure.STATEMENT
        ? failure
        : unreachable(config, failure);
  }
}
