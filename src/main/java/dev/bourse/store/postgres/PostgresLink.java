package dev.bourse.store.postgres;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.socket.nio.NioChannelOption;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.internal.CloseFuture;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.net.NetClientOptions;
import io.vertx.core.net.SocketAddress;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.pgclient.PgConnection;
import io.vertx.pgclient.PgException;
import io.vertx.pgclient.SslMode;
import io.vertx.pgclient.impl.PgConnectionFactory;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.impl.SocketConnectionBase;
import io.vertx.sqlclient.internal.SqlConnectionInternal;
import java.net.SocketOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection to the primary, which is restored at growing intervals after a loss, until it is
 * closed. Everything runs on one event loop's context, including the user's calls.
 *
 * <p>Of several hosts, the one that accepts writes is used. A standby or a former primary is not
 * kept; see {@link PrimaryHistory}. A network that drops packets silently is detected in two ways:
 * TCP keepalives end an idle connection, and {@link #probe} ends one that is used after a pause.
 */
final class PostgresLink {
  private static final Logger log = LoggerFactory.getLogger(PostgresLink.class);

  private static final long LEAST_BACKOFF_MILLIS = 50;

  /**
   * A server that is back is detected within this time: its changes have to be known here within
   * two seconds of its return, and reading them takes part of that. It costs a few attempts a
   * second.
   */
  private static final long MOST_BACKOFF_MILLIS = 500;

  /**
   * The time limit of one attempt to reconnect: TCP retransmits a lost packet after growing pauses,
   * while a new attempt is answered at once. Every {@value #FULL_ATTEMPT}th attempt may take the
   * full time, because the server may only be slow.
   */
  private static final long ATTEMPT_MILLIS = 1_500;

  private static final int FULL_ATTEMPT = 4;

  /**
   * How long a host has to answer before the next one is contacted too: longer than most take, and
   * short enough that the last of eight is contacted in the first attempt.
   */
  private static final long NEXT_HOST_MILLIS = 150;

  /**
   * How long other hosts have to identify themselves as newer primaries after the first primary has
   * answered. It bounds the delay by a host that does not answer.
   */
  private static final long RIVALS_MILLIS = 150;

  /**
   * A connection that received data this recently is used without a probe, so that a busy one never
   * pays for it.
   */
  private static final long FRESH_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** The time limit of a probe: many round trips, and several lost packets. */
  private static final long PROBE_MILLIS = 1_500;

  /**
   * TCP keepalives in seconds: the first after a pause of this length, then at this interval, until
   * this many are unanswered. They keep firewalls from dropping an idle connection, and end it
   * within five seconds when the peer is gone.
   */
  private static final int KEEPALIVE_IDLE = 2;

  private static final int KEEPALIVE_INTERVAL = 1;
  private static final int KEEPALIVE_COUNT = 3;

  /**
   * The same keepalives at the server, which otherwise keeps the session of a vanished client, and
   * its locks, for hours. It drops a connection with data unacknowledged for ten seconds.
   */
  private static final String SERVER_KEEPALIVE =
      """
      SET tcp_keepalives_idle = 2; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 3; \
      SET tcp_user_timeout = 10000; \
      """;

  private static final String ROLE =
      "SELECT pg_is_in_recovery(), CAST(current_setting('transaction_read_only') AS boolean)";

  /** The requirements of a session for its server. */
  enum Needs {
    /** Any server, including a standby. */
    ANY,
    /** The primary, even if its transactions are read-only by default. */
    PRIMARY,
    /** The primary, with transactions that may write. */
    WRITABLE
  }

  /** Flushes merged into one system call; a group of commits is some hundred commands. */
  private static final int GATHERED_FLUSHES = 1_024;

  /** The user of the connection. */
  interface User {
    /** Reports a connection that is ready for use. */
    void up(PgConnection connection);

    /**
     * Reports that the connection was lost ({@code isAway} is false) or that the server cannot be
     * reached. There is no connection until {@link #up}; its pending commands have failed or are
     * about to fail.
     */
    void down(Throwable cause, boolean isAway);

    /** Returns the requirements for the server. */
    default Needs needs() {
      return Needs.PRIMARY;
    }

    /** Returns SQL that a new session runs before it is used; empty for none. */
    default String greeting(PrimaryHistory.Primary server) {
      return "";
    }

    /**
     * Reports that a probe was not answered; {@link #down} follows. Other connections whose last
     * data arrived before this moment may be lost in the same way.
     */
    default void silent(long sinceNanos) {}
  }

  private final String name;
  private final ContextInternal context;
  private final PostgresConfig config;
  private final PrimaryHistory history;
  private final String sessionSettings;
  private final RandomGenerator random;
  private final User user;

  /** The clients of this link's sockets, see {@link #openSocket}. */
  private final CloseFuture clients = new CloseFuture();

  private final Promise<Void> first = Promise.promise();
  private @Nullable PgConnection connection;
  private PrimaryHistory.Primary primary = PrimaryHistory.UNKNOWN;
  private long heardNanos;
  private boolean isProbing;
  private boolean closed;
  private int failures;
  private int preferredHost;
  private String loggedReason = "";

  /**
   * @param name the purpose of the connection, for the log and the server's list of sessions
   * @param history shared by all connections of a store
   * @param sessionSettings SQL that sets up every new connection
   */
  PostgresLink(
      String name,
      ContextInternal context,
      PostgresConfig config,
      PrimaryHistory history,
      String sessionSettings,
      RandomGenerator random,
      User user) {
    this.name = name;
    this.context = context;
    this.config = config;
    this.history = history;
    history.onNewer(newer -> context.runOnContext(v -> leave(newer)));
    this.sessionSettings = sessionSettings;
    this.random = random;
    this.user = user;
    context.closeFuture().add(clients);
  }

  /** Connects. Completes after the first attempt even if it fails; later attempts follow. */
  Future<Void> connect() {
    context.execute(this::attempt);
    return first.future();
  }

  private void attempt() {
    if (closed) {
      return;
    }
    Future<Opened> opened =
        new Opening(
                context,
                clients,
                attemptConfig(),
                history,
                name,
                user.needs(),
                sessionSettings,
                preferredHost)
            .begin()
            .compose(this::greet);
    long limit = attemptMillis();
    opened
        .timeout(limit, TimeUnit.MILLISECONDS)
        .onSuccess(this::ready)
        .onFailure(
            failure -> {
              boolean isCutOff = !opened.isComplete() && limit < attemptConfig().connectMillis();
              opened.onSuccess(late -> abandon(late.connection));
              failed(failure, failures > 0 || !isCutOff);
            });
  }

  private Future<Opened> greet(Opened opened) {
    String greeting = user.greeting(opened.primary);
    return greeting.isEmpty()
        ? Future.succeededFuture(opened)
        : opened
            .connection
            .query(greeting)
            .execute()
            .timeout(attemptMillis(), TimeUnit.MILLISECONDS)
            .map(opened)
            .onFailure(refused -> abandon(opened.connection));
  }

  private long attemptMillis() {
    long most = attemptConfig().connectMillis();
    return !first.future().succeeded() || failures % FULL_ATTEMPT == FULL_ATTEMPT - 1
        ? most
        : Math.min(most, ATTEMPT_MILLIS);
  }

  private PostgresConfig attemptConfig() {
    return first.future().isComplete() ? config : config.whileStarting();
  }

  /**
   * Opens a connection to the host that meets the session's requirements. Runs on the given
   * context.
   */
  static Future<PgConnection> open(
      ContextInternal context, PostgresConfig config, String purpose, Needs needs, String sql) {
    return new Opening(
            context, context.closeFuture(), config, new PrimaryHistory(), purpose, needs, sql, 0)
        .begin()
        .map(Opened::connection);
  }

  /** A connection, and the primary it leads to. */
  private record Opened(PgConnection connection, PrimaryHistory.Primary primary) {
    /** Returns why a former primary is not used. */
    String refusal() {
      return """
          %s is a former primary: it is on timeline %d, and another server was promoted later. \
          Stop it; if it was restored on purpose, restart all processes of the service\
          """
          .formatted(hostOf(connection), primary.timeline());
    }
  }

  /**
   * One search for the right host. The next host is contacted when the previous one has failed or
   * has been silent for {@value #NEXT_HOST_MILLIS} ms. When a host meets the requirements, all
   * others are asked as well, and the newest primary that answers within {@value #RIVALS_MILLIS} ms
   * wins; the other connections are closed. So a silent host costs no more than that.
   */
  private static final class Opening {
    private final ContextInternal context;
    private final CloseFuture clients;
    private final PostgresConfig config;
    private final PrimaryHistory history;
    private final String purpose;
    private final Needs needs;
    private final String sql;
    private final int firstHost;
    private final List<PostgresUrl.Host> hosts;
    private final List<Throwable> failures = new ArrayList<>();
    private final List<Opened> found = new ArrayList<>();
    private final Promise<Opened> won = Promise.promise();
    private int contacted;

    Opening(
        ContextInternal context,
        CloseFuture clients,
        PostgresConfig config,
        PrimaryHistory history,
        String purpose,
        Needs needs,
        String sql,
        int firstHost) {
      this.context = context;
      this.clients = clients;
      this.config = config;
      this.history = history;
      this.purpose = purpose;
      this.needs = needs;
      this.sql = sql;
      this.firstHost = firstHost;
      hosts = config.url().hosts();
    }

    Future<Opened> begin() {
      contactNext();
      return won.future();
    }

    private void contactNext() {
      if (contacted == hosts.size() || won.future().isComplete()) {
        return;
      }
      PostgresUrl.Host host = hosts.get((firstHost + contacted) % hosts.size());
      int before = ++contacted;
      if (contacted < hosts.size()) {
        context.setTimer(
            NEXT_HOST_MILLIS,
            id -> {
              if (contacted == before) {
                contactNext();
              }
            });
      }
      openHost(context, clients, config, host, purpose, needs, sql)
          .compose(this::admit)
          .onSuccess(this::found)
          .onFailure(this::failed);
    }

    private Future<Opened> admit(Opened fresh) {
      if (history.admits(fresh.primary)) {
        return Future.succeededFuture(fresh);
      }
      abandon(fresh.connection);
      return Future.failedFuture(fresh.refusal());
    }

    private void found(Opened fresh) {
      if (won.future().isComplete()) {
        // If it is newer, the connection that won leads to a former primary.
        history.used(fresh.primary);
        abandon(fresh.connection);
        return;
      }
      found.add(fresh);
      if (found.size() == 1 && hosts.size() > 1) {
        context.setTimer(RIVALS_MILLIS, id -> decide());
      }
      while (contacted < hosts.size() && !won.future().isComplete()) {
        contactNext();
      }
      decideOnceAllAnswered();
    }

    private void failed(Throwable cause) {
      failures.add(cause);
      contactNext();
      decideOnceAllAnswered();
    }

    private void decideOnceAllAnswered() {
      if (found.size() + failures.size() == hosts.size()) {
        decide();
      }
    }

    /** Chooses the first connection whose server was not superseded by a promotion. */
    private void decide() {
      if (won.future().isComplete()) {
        return;
      }
      if (found.isEmpty()) {
        won.fail(summary());
        return;
      }
      int place = 0;
      for (int i = 1; i < found.size(); i++) {
        place = found.get(place).primary.isBefore(found.get(i).primary) ? i : place;
      }
      Opened newest = found.remove(place);
      for (Opened one : found) {
        // With the same timeline it may be the same server under another name.
        if (one.primary.isBefore(newest.primary) && history.isNews(one.primary)) {
          log.error(
              "two servers accept writes: using {} on timeline {}, not {} on timeline {}",
              hostOf(newest.connection),
              newest.primary.timeline(),
              hostOf(one.connection),
              one.primary.timeline());
        }
        abandon(one.connection);
      }
      history.used(newest.primary);
      won.complete(newest);
    }

    /**
     * Returns the failure of a single host, or one exception for all, with a server's error as the
     * cause.
     */
    private Throwable summary() {
      if (failures.size() == 1) {
        return failures.get(0);
      }
      return new IllegalStateException(
          failures.stream().map(Throwable::getMessage).distinct().collect(Collectors.joining("; ")),
          failures.stream().filter(PgException.class::isInstance).findFirst().orElse(null));
    }
  }

  private static Future<Opened> openHost(
      ContextInternal context,
      CloseFuture clients,
      PostgresConfig config,
      PostgresUrl.Host host,
      String purpose,
      Needs needs,
      String sql) {
    PgConnectOptions options = config.connectOptions(host, purpose);
    Future<PgConnection> opened =
        options.getSslMode() == SslMode.PREFER
            ? openSocket(context, clients, config, options.setSslMode(SslMode.REQUIRE))
                .recover(
                    failure ->
                        failure instanceof PgException
                            ? Future.failedFuture(failure)
                            : openSocket(
                                context,
                                clients,
                                config,
                                config.connectOptions(host, purpose).setSslMode(SslMode.DISABLE)))
            : openSocket(context, clients, config, options);
    return opened.compose(
        fresh -> {
          fresh.noticeHandler(notice -> log.debug("{}", notice.getMessage()));
          pipeline(fresh).addFirst(new FlushConsolidationHandler(GATHERED_FLUSHES, true));
          keepAlive(pipeline(fresh).channel());
          // Sent together, so that the query of the role costs no round trip of its own.
          Future<RowSet<Row>> role = fresh.query(ROLE).execute();
          Future<PrimaryHistory.Primary> primary =
              fresh
                  .query(PrimaryHistory.IDENTITY)
                  .execute()
                  .map(rows -> identity(rows.iterator().next()))
                  .otherwise(PrimaryHistory.UNKNOWN);
          Future<RowSet<Row>> settings = fresh.query(SERVER_KEEPALIVE + sql).execute();
          return role.compose(rows -> check(host, needs, rows.iterator().next()))
              .compose(right -> settings)
              .compose(set -> primary)
              .map(identity -> new Opened(fresh, identity))
              .timeout(config.connectMillis(), TimeUnit.MILLISECONDS)
              .onFailure(refused -> abandon(fresh));
        });
  }

  private static PrimaryHistory.Primary identity(Row row) {
    return PrimaryHistory.Primary.of(row.getLong("system"), row.getString("segment"));
  }

  private static Future<Void> check(PostgresUrl.Host host, Needs needs, Row role) {
    if (needs != Needs.ANY && role.getBoolean(0)) {
      return Future.failedFuture(host + " is a standby");
    }
    if (needs == Needs.WRITABLE && role.getBoolean(1)) {
      return Future.failedFuture(host + " is read-only (default_transaction_read_only is on)");
    }
    return Future.succeededFuture();
  }

  /** Sets the times on the socket itself; a platform without these options keeps the kernel's. */
  private static void keepAlive(Channel channel) {
    setOption(channel, ExtendedSocketOptions.TCP_KEEPIDLE, KEEPALIVE_IDLE);
    setOption(channel, ExtendedSocketOptions.TCP_KEEPINTERVAL, KEEPALIVE_INTERVAL);
    setOption(channel, ExtendedSocketOptions.TCP_KEEPCOUNT, KEEPALIVE_COUNT);
  }

  private static void setOption(Channel channel, SocketOption<Integer> option, int value) {
    channel.config().setOption(NioChannelOption.of(option), value);
  }

  /**
   * Opens a socket with a client of its own, which is closed with the connection or the failed
   * attempt; that also closes a socket whose server never answered. The client's own fallback from
   * an encrypted attempt to a plain one would leave the first socket open, with the server waiting
   * on it.
   *
   * <p>The client is created in a context with a close future of its own, because a Vert.x client
   * stays registered with the close future of its context after it is closed. A database that is
   * down for days costs many attempts, and all their clients would stay in memory.
   *
   * @param clients the close future that closes the client and unregisters a closed one
   */
  private static Future<PgConnection> openSocket(
      ContextInternal context,
      CloseFuture clients,
      PostgresConfig config,
      PgConnectOptions options) {
    CloseFuture client = new CloseFuture();
    if (!clients.add(client)) {
      return Future.failedFuture("the store is closed");
    }
    ClosableSocket socket = new ClosableSocket(context.owner());
    client.add(
        done -> {
          socket.closeSocket();
          done.succeed();
        });
    AtomicReference<PgConnectionFactory> factory = new AtomicReference<>();
    context
        .owner()
        .contextBuilder()
        .withEventLoop(context.nettyEventLoop())
        .withWorkerPool(context.workerPool())
        .withCloseFuture(client)
        .build()
        .dispatch(
            () ->
                factory.set(
                    new PgConnectionFactory(
                        socket,
                        new NetClientOptions()
                            .setTcpKeepAlive(true)
                            .setConnectTimeout((int) config.connectMillis()))));
    return Objects.requireNonNull(factory.get())
        .connect((Context) context, options)
        // The client's own time-out ends once the socket is open.
        .timeout(config.connectMillis(), TimeUnit.MILLISECONDS)
        .map(PgConnection::cast)
        .onSuccess(
            fresh -> pipeline(fresh).channel().closeFuture().addListener(over -> client.close()))
        .onFailure(failure -> client.close());
  }

  private void ready(Opened opened) {
    PgConnection fresh = opened.connection;
    if (closed) {
      abandon(fresh);
      return;
    }
    if (!history.admits(opened.primary)) {
      // Another connection found a newer primary after this one was admitted.
      abandon(fresh);
      failed(new IllegalStateException(opened.refusal()), true);
      return;
    }
    if (failures > 0) {
      log.info("connected to PostgreSQL again ({})", name);
    }
    failures = 0;
    loggedReason = "";
    connection = fresh;
    primary = opened.primary;
    heardNanos = System.nanoTime();
    isProbing = false;
    preferredHost = placeOf(fresh);
    pipeline(fresh).addFirst(new ActivityRecorder(fresh));
    fresh.closeHandler(v -> lost(fresh, new IllegalStateException("the connection was closed")));
    user.up(fresh);
    first.tryComplete();
  }

  /**
   * Handles an attempt that failed, and makes another.
   *
   * @param isReported whether to report the failure to the user. A first attempt that {@link
   *     #ATTEMPT_MILLIS} cut off is not reported, because queued commands would be rejected for a
   *     single lost packet or a busy machine.
   */
  private void failed(Throwable cause, boolean isReported) {
    if (closed) {
      return;
    }
    String reason = String.valueOf(cause.getMessage());
    if (!reason.equals(loggedReason)) {
      log.error("cannot reach PostgreSQL ({}): {}", name, reason);
      loggedReason = reason;
    }
    failures++;
    if (isReported) {
      user.down(cause, true);
    }
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

  /** Jitter over the upper half of the pause keeps replicas from reconnecting in step. */
  private void retry() {
    long most = Math.min(MOST_BACKOFF_MILLIS, LEAST_BACKOFF_MILLIS << Math.min(failures, 10));
    context.setTimer(Math.max(1, most / 2 + random.nextLong(most / 2)), v -> attempt());
  }

  /** Records when data was received. */
  private final class ActivityRecorder extends ChannelInboundHandlerAdapter {
    private final PgConnection heard;

    ActivityRecorder(PgConnection heard) {
      this.heard = heard;
    }

    /** Before the data is handled, so that a query that follows its answer was sent later. */
    @Override
    public void channelRead(ChannelHandlerContext socket, Object data) {
      if (connection == heard) {
        heardNanos = System.nanoTime();
      }
      socket.fireChannelRead(data);
    }
  }

  /** Returns the index of a connection's host in the address. */
  private int placeOf(PgConnection which) {
    return Math.max(0, config.url().hosts().indexOf(hostOf(which)));
  }

  private static PostgresUrl.Host hostOf(PgConnection which) {
    SocketAddress server = ((SqlConnectionInternal) which).unwrap().server();
    return new PostgresUrl.Host(server.host(), server.port());
  }

  /** Leaves a former primary, because another connection of this store leads to a newer one. */
  private void leave(PrimaryHistory.Primary newer) {
    PgConnection open = connection;
    if (open != null && primary.isBefore(newer)) {
      drop(open, "another server was promoted, on timeline " + newer.timeline());
    }
  }

  /**
   * Asks all hosts for their timelines over new connections. If one is a newer primary than those
   * in use, all connections of the store move to it. Completes when that is decided or if no host
   * has answered.
   */
  Future<Void> look() {
    return new Opening(context, clients, config, history, "look", Needs.PRIMARY, "", 0)
        .begin()
        .onSuccess(opened -> abandon(opened.connection))
        .mapEmpty();
  }

  /** Returns when data was last received over the connection. */
  long heardNanos() {
    return heardNanos;
  }

  /**
   * Checks whether a connection still leads to the server; called before a command is sent. If
   * nothing was received for a while, a trivial statement precedes the command, which distinguishes
   * a lost connection from a slow command: the connection is dropped if the statement is not
   * answered in time.
   *
   * @return whether a probe precedes the command
   */
  boolean probe(PgConnection which) {
    long sent = System.nanoTime();
    if (connection != which || isProbing || sent - heardNanos < FRESH_NANOS) {
      return isProbing;
    }
    isProbing = true;
    which
        .query("SELECT 1")
        .execute()
        .onComplete(
            answer -> {
              if (connection == which) {
                isProbing = false;
              }
            });
    context.setTimer(
        PROBE_MILLIS,
        id -> {
          if (connection == which && heardNanos - sent < 0) {
            user.silent(sent);
            drop(which, "it does not answer");
          }
        });
    return true;
  }

  /** Drops a connection that does not answer, and makes another. */
  void drop(PgConnection which, String reason) {
    if (connection == which) {
      abandon(which);
      lost(which, new IllegalStateException(reason));
    }
  }

  /**
   * Closes for good: fails pending commands and ends attempts to connect. Completes when all
   * sockets are closed, because a socket must not outlive its event loop.
   */
  Future<Void> close() {
    return Future.future(
        done ->
            context.execute(
                () -> {
                  closed = true;
                  PgConnection open = connection;
                  connection = null;
                  closePolitely(open).transform(said -> clients.close()).onComplete(done);
                }));
  }

  /**
   * Closes politely with a time limit, because the client's own close waits for the server, which
   * may be gone.
   */
  private Future<Void> closePolitely(@Nullable PgConnection open) {
    if (open == null) {
      return Future.succeededFuture();
    }
    open.closeHandler(v -> {});
    return open.close()
        .timeout(config.connectMillis(), TimeUnit.MILLISECONDS)
        .onFailure(v -> abandon(open));
  }

  /**
   * Closes the socket at once. The client's own close sends a message and waits until the server
   * closes the connection, which never happens if the server does not answer. This bypasses the
   * client's codec, which then fails all pending commands.
   */
  static void abandon(PgConnection which) {
    pipeline(which).firstContext().close();
  }

  private static ChannelPipeline pipeline(PgConnection which) {
    SocketConnectionBase socket = (SocketConnectionBase) ((SqlConnectionInternal) which).unwrap();
    return socket.socket().channelHandlerContext().pipeline();
  }
}
