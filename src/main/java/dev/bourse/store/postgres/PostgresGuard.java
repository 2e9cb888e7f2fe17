package dev.bourse.store.postgres;

import dev.bourse.store.StoreRefused;
import dev.bourse.store.StoreUnavailable;
import io.vertx.core.Future;
import io.vertx.core.internal.ContextInternal;
import io.vertx.pgclient.PgConnection;
import io.vertx.pgclient.PgException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * How a session is opened that works on the whole store, to migrate or move it: none of its
 * statements is under a time-out, and the server is one the store can be kept on.
 */
final class PostgresGuard {
  private static final int LEAST_VERSION = 130_000;

  /** Class 28: the log-in was refused; 3D000: there is no such database. */
  private static final List<String> REFUSALS = List.of("28000", "28P01", "3D000", "42501");

  /**
   * How many times as long as any later connection the first may take: its process is loading the
   * client's code meanwhile, and everything else that starts with it.
   */
  private static final int COLD = 4;

  private PostgresGuard() {}

  /**
   * Returns what a session that only reads needs: a single host is read even when it is a standby,
   * and of several the primary.
   */
  static PostgresLink.Needs toRead(PostgresConfig config) {
    return config.url().hosts().size() == 1 ? PostgresLink.Needs.ANY : PostgresLink.Needs.PRIMARY;
  }

  /**
   * Opens a session.
   *
   * <p>Fails with {@link StoreRefused} when the server refuses the log-in or is too old, and with
   * {@link StoreUnavailable} when it cannot be reached or is not what the session needs.
   */
  static Future<PgConnection> open(
      ContextInternal context, PostgresConfig config, PostgresLink.Needs needs) {
    Future<PgConnection> opened =
        PostgresLink.open(context, config, "schema", needs, PostgresSchemaSession.SETTINGS);
    return opened
        .timeout(COLD * config.connectMillis(), TimeUnit.MILLISECONDS)
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
                throw new StoreRefused(
                    "PostgreSQL " + version / 10_000 + " is too old; 13 is the least", null);
              }
              return null;
            });
  }

  /** A failure to connect, as operators are told. */
  static RuntimeException unreachable(PostgresConfig config, Throwable failure) {
    String message = config.url() + " cannot be used: " + failure.getMessage();
    Throwable word = failure.getCause() instanceof PgException ? failure.getCause() : failure;
    return word instanceof PgException answer && REFUSALS.contains(answer.getSqlState())
        ? new StoreRefused(message, failure)
        : PostgresFailure.unavailable(message, failure);
  }

  /** A failure later on: what is about the server becomes {@link StoreUnavailable}. */
  static Throwable lost(PostgresConfig config, Throwable failure) {
    if (failure instanceof StoreRefused || failure instanceof StoreUnavailable) {
      return failure;
    }
    return PostgresFailure.of(failure, true) == PostgresFailure.STATEMENT
        ? failure
        : unreachable(config, failure);
  }
}
