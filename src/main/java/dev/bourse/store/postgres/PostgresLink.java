package dev.bourse.store.postgres;

import io.netty.channel.ChannelPipeline;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.net.NetClientOptions;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.pgclient.PgConnection;
import io.vertx.pgclient.PgException;
import io.vertx.pgclient.SslMode;
import io.vertx.pgclient.impl.PgConnectionFactory;
import io.vertx.sqlclient.impl.SocketConnectionBase;
import io.vertx.sqlclient.internal.SqlConnectionInternal;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection that comes back by itself, at growing intervals, until it is closed. Everything
 * happens on one event loop's context, its user's calls too.
 */
final class PostgresLink {
  private static final Logger log = LoggerFactory.getLogger(PostgresLink.class);

  private static final long LEAST_BACKOFF_MILLIS = 50;

  /**
   * A server that is back is noticed within this: what was changed meanwhile is known here within
   * two seconds of its return, and reading it takes some of them. It costs a handful of attempts a
   * second.
   */
  private static final long MOST_BACKOFF_MILLIS = 500;

  /**
   * How long one attempt to come back may take: a packet lost with the server's way is sent again
   * after growing pauses, while a new attempt is answered at once. Every {@value #PATIENT}th takes
   * as long as it is allowed, for a server that is only slow.
   */
  private static final long HASTY_MILLIS = 1_500;

  private static final int PATIENT = 4;

  /** Flushes gathered into one system call; a group of commits is some hundred commands. */
  private static final int GATHERED_FLUSHES = 1_024;

  /** Whoever works over the connection. */
  interface User {
    /** There is a connection, ready for use. */
    void up(PgConnection connection);

    /**
     * The connection was lost, when {@code isAway} is false, or an attempt to make one failed.
     * There is none until {@link #up}; what was under way over it has failed or is about to.
     */
    void down(Throwable cause, boolean isAway);
  }

  private final String name;
  private final ContextInternal context;
  private final PostgresConfig config;
  private final String sessionSettings;
  private final RandomGenerator random;
  private final User user;
  private final Promise<Void> first = Promise.promise();
  private @Nullable PgConnection connection;
  private boolean closed;
  private int failures;
  private String loggedReason = "";

  /**
   * @param name what the connection is for, for the log
   * @param sessionSettings SQL that every new connection is set up with
   */
  PostgresLink(
      String name,
      ContextInternal context,
      PostgresConfig config,
      String sessionSettings,
      RandomGenerator random,
      User user) {
    this.name = name;
    this.context = context;
    this.config = config;
    this.sessionSettings = sessionSettings;
    this.random = random;
    this.user = user;
  }

  /** Begins; completes with the first attempt, which decides nothing for the later ones. */
  Future<Void> connect() {
    context.execute(this::attempt);
    return first.future();
  }

  private void attempt() {
    if (closed) {
      return;
    }
    Future<PgConnection> opened = open(context, config, sessionSettings);
    opened
        .timeout(attemptMillis(), TimeUnit.MILLISECONDS)
        .onSuccess(this::ready)
        .onFailure(
            failure -> {
              opened.onSuccess(PostgresLink::abandon);
              failed(failure);
            });
  }

  private long attemptMillis() {
    return !first.future().succeeded() || failures % PATIENT == PATIENT - 1
        ? config.connectMillis()
        : Math.min(config.connectMillis(), HASTY_MILLIS);
  }

  /** A connection of its own, set up. On the context given. */
  static Future<PgConnection> open(ContextInternal context, PostgresConfig config, String sql) {
    PgConnectOptions options = config.connectOptions();
    Future<PgConnection> opened =
        options.getSslMode() == SslMode.PREFER
            ? openSocket(context, options.setSslMode(SslMode.REQUIRE))
                .recover(
                    failure ->
                        failure instanceof PgException
                            ? Future.failedFuture(failure)
                            : openSocket(
                                context, config.connectOptions().setSslMode(SslMode.DISABLE)))
            : openSocket(context, options);
    return opened.compose(
        fresh -> {
          fresh.noticeHandler(notice -> log.debug("{}", notice.getMessage()));
          pipeline(fresh).addFirst(new FlushConsolidationHandler(GATHERED_FLUSHES, true));
          return fresh.query(sql).execute().map(fresh).onFailure(refused -> abandon(fresh));
        });
  }

  /**
   * One attempt with a client of its own, closed with the connection. The client's own fallback
   * from an encrypted attempt to a plain one leaves the first socket open, and the server waiting
   * on it.
   */
  private static Future<PgConnection> openSocket(
      ContextInternal context, PgConnectOptions options) {
    PgConnectionFactory client =
        new PgConnectionFactory(context.owner(), new NetClientOptions().setTcpKeepAlive(true));
    return client
        .connect((Context) context, options)
        .map(PgConnection::cast)
        .onSuccess(
            fresh ->
                pipeline(fresh)
                    .channel()
                    .closeFuture()
                    .addListener(closed -> client.close((v, failure) -> {})))
        .onFailure(failure -> client.close((v, ignored) -> {}));
  }

  private void ready(PgConnection fresh) {
    if (closed) {
      abandon(fresh);
      return;
    }
    if (failures > 0) {
      log.info("PostgreSQL is reached again ({})", name);
    }
    failures = 0;
    loggedReason = "";
    connection = fresh;
    fresh.closeHandler(v -> lost(fresh, new IllegalStateException("the connection was closed")));
    user.up(fresh);
    first.tryComplete();
  }

  private void failed(Throwable cause) {
    if (closed) {
      return;
    }
    String reason = String.valueOf(cause.getMessage());
    if (!reason.equals(loggedReason)) {
      log.error("PostgreSQL cannot be reached ({}): {}", name, reason);
      loggedReason = reason;
    }
    failures++;
    user.down(cause, true);
    first.tryFail(cause);
    retry();
  }

  private void lost(PgConnection which, Throwable cause) {
    if (connection != which) {
      return;
    }
    connection = null;
    if (!closed) {
      log.warn("a connection to PostgreSQL was lost ({}): {}", name, cause.getMessage());
      user.down(cause, false);
      retry();
    }
  }

  /** Full jitter over the upper half keeps replicas from knocking together. */
  private void retry() {
    long most = Math.min(MOST_BACKOFF_MILLIS, LEAST_BACKOFF_MILLIS << Math.min(failures, 10));
    context.setTimer(Math.max(1, most / 2 + random.nextLong(most / 2)), v -> attempt());
  }

  /** Gives up the connection, which does not answer, and makes another. */
  void drop(PgConnection which, String reason) {
    if (connection == which) {
      abandon(which);
      lost(which, new IllegalStateException(reason));
    }
  }

  /** Closes for good, without waiting for what is under way. */
  Future<Void> close() {
    return Future.future(
        done ->
            context.execute(
                () -> {
                  closed = true;
                  PgConnection open = connection;
                  connection = null;
                  if (open != null) {
                    open.closeHandler(v -> {});
                    // The client's own close waits for the server, which may be gone.
                    open.close()
                        .timeout(config.connectMillis(), TimeUnit.MILLISECONDS)
                        .onFailure(v -> abandon(open));
                  }
                  done.complete();
                }));
  }

  /**
   * Closes the socket at once. The client's own close sends a farewell and waits for the server to
   * hang up, which one that does not answer never does; so it goes round the client's codec, which
   * then fails whatever is under way.
   */
  static void abandon(PgConnection which) {
    pipeline(which).firstContext().close();
  }

  private static ChannelPipeline pipeline(PgConnection which) {
    SocketConnectionBase socket = (SocketConnectionBase) ((SqlConnectionInternal) which).unwrap();
    return socket.socket().channelHandlerContext().pipeline();
  }
}
