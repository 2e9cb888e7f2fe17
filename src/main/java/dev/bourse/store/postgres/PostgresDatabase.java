package dev.bourse.store.postgres;

import dev.bourse.signals.Signals;
import dev.bourse.store.BatchedPromise;
import dev.bourse.store.Change;
import dev.bourse.store.ChangeListener;
import dev.bourse.store.Database;
import dev.bourse.store.Migrations;
import dev.bourse.store.RowMapper;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreSignals;
import dev.bourse.store.StoreUnavailableException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import io.vertx.pgclient.PgException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The store on a PostgreSQL server (13 or later), which other processes may use too.
 *
 * <p>One connection writes groups of commits, a few answer queries, one listens. The store needs
 * sessions of its own: a connection pooler in front of the server must pool sessions, not
 * transactions.
 *
 * <p>While the server is unreachable, every call is rejected at once; connections are restored
 * automatically. The outcome of a commit whose answer was lost is settled as soon as the server is
 * back; see {@link StoreUnavailableException#mayBeStored()} for a server that is not back in time.
 */
public final class PostgresDatabase implements Database {
  private static final Logger LOG = LoggerFactory.getLogger(PostgresDatabase.class);

  /** The lineage of a server that reports no timeline, as some hosted services do. */
  private static final String NO_LINEAGE = "";

  private final ContextInternal home;
  private final StoreSignals counted = new StoreSignals();
  private final PostgresWriter writer;
  private final PostgresReaders readers;
  private final PostgresChanges changes;
  private final PostgresOrder order;
  private final CommitLogPruning pruning;
  private @Nullable Future<Void> closed;

  private PostgresDatabase(ContextInternal home, PostgresConfig config, RandomGenerator random) {
    this.home = home;
    VertxInternal vertx = home.owner();
    OwnGroups own = new OwnGroups(random);
    PrimaryHistory history = new PrimaryHistory();
    changes =
        new PostgresChanges(
            vertx,
            config,
            history,
            random,
            own,
            counted,
            this::setBackRead,
            this::backAfterSilence);
    writer =
        new PostgresWriter(vertx, config, history, random, own, changes, this::isActive, counted);
    readers = new PostgresReaders(vertx, config, history, random, counted);
    order = new PostgresOrder(vertx, this);
    changes.add(order, home);
    pruning = new CommitLogPruning(this, own);
  }

  /**
   * Connects and brings the schema up to date. Several processes that start at once do so one after
   * the other.
   *
   * <p>Fails with {@link StoreRefusedException} if the server rejects the log-in, is too old, or
   * has an unknown schema, and with {@link StoreUnavailableException} if it cannot be reached.
   *
   * @param migrations the class-path folder of the schema, see {@link Migrations#load}
   * @param random spreads actions of several processes in time, and draws this one's name
   */
  public static Future<PostgresDatabase> open(
      Vertx vertx, PostgresConfig config, String migrations, Clock clock, RandomGenerator random) {
    ContextInternal home = ((VertxInternal) vertx).createEventLoopContext();
    Promise<PostgresDatabase> opened = Promise.promise();
    vertx
        .executeBlocking(() -> Migrations.load(migrations), false)
        .onComplete(
            (schema, failure) -> {
              if (failure == null) {
                home.runOnContext(
                    v -> open(home, config, schema, clock, random).onComplete(opened));
              } else {
                opened.fail(failure);
              }
            });
    return opened.future();
  }

  private static Future<PostgresDatabase> open(
      ContextInternal home,
      PostgresConfig config,
      Migrations schema,
      Clock clock,
      RandomGenerator random) {
    return PostgresGuard.open(home, config, PostgresLink.Needs.WRITABLE)
        .compose(
            guard -> {
              PostgresSchemaSession session = new PostgresSchemaSession(guard, home.owner());
              return session
                  .lock()
                  .compose(v -> schema.applyOrServe(session, clock))
                  .eventually(guard::close)
                  .recover(failure -> Future.failedFuture(PostgresGuard.lost(config, failure)));
            })
        .compose(
            applied -> {
              PostgresDatabase database = new PostgresDatabase(home, config, random);
              return database
                  .connect()
                  .map(database)
                  .recover(
                      failure ->
                          database
                              .close()
                              .transform(
                                  x ->
                                      Future.failedFuture(
                                          PostgresGuard.unreachable(config, failure))));
            });
  }

  private void setBackRead() {
    writer.setBackRead();
  }

  /**
   * Drops connections that wait for an answer from before the silence, because the answer is lost
   * or very late.
   */
  private void backAfterSilence(long sinceNanos) {
    writer.dropSentBefore(sinceNanos);
    readers.dropSentBefore(sinceNanos);
  }

  private Future<Boolean> isActive(int processId) {
    return exists(
        "SELECT 1 AS one FROM pg_stat_activity WHERE pid = ? AND state = 'active'",
        List.of(processId));
  }

  private Future<Void> connect() {
    return Future.all(writer.connect(), readers.connect(), changes.connect())
        .onSuccess(connected -> warnIfNoTimeline())
        .mapEmpty();
  }

  /** Warns without delaying the start. */
  private void warnIfNoTimeline() {
    lineage()
        .onSuccess(
            lineage -> {
              if (lineage.equals(NO_LINEAGE)) {
                LOG.warn("{}", PrimaryHistory.NO_TIMELINE);
              }
            });
  }

  @Override
  public <T> Future<List<T>> read(String sql, List<?> parameters, RowMapper<T> mapper) {
    BatchedPromise<List<T>> reply = new BatchedPromise<>(home);
    StoreUnavailableException refusal;
    try {
      PostgresSql query = PostgresSql.of(sql);
      refusal =
          readers.offer(new PostgresReaders.Query<>(query, query.bind(parameters), mapper, reply));
    } catch (IllegalArgumentException faulty) {
      return Future.failedFuture(faulty);
    }
    return refusal == null ? reply.future() : Future.failedFuture(refusal);
  }

  @Override
  public Future<Void> commit(List<Statement> statements, List<Change> changed) {
    BatchedPromise<@Nullable Void> reply = new BatchedPromise<>(home, statements);
    StoreUnavailableException refusal;
    try {
      List<PostgresBatch.Bound> bound = new ArrayList<>(statements.size());
      for (Statement statement : statements) {
        bound.add(PostgresBatch.Bound.of(statement));
      }
      refusal = writer.offer(new PostgresBatch.Commit(bound, List.copyOf(changed), reply));
    } catch (IllegalArgumentException faulty) {
      return Future.failedFuture(faulty);
    }
    return refusal == null ? reply.future() : Future.failedFuture(refusal);
  }

  @Override
  public void listen(ChangeListener listener) {
    Context current = Vertx.currentContext();
    changes.add(listener, current == null ? home : current);
  }

  @Override
  public Future<Long> settledTrail(long enough) {
    return order.settled(enough);
  }

  @Override
  public String newTrailIdsSql() {
    return PostgresOrder.NEW_IDS;
  }

  /**
   * Returns the timeline, because each promotion and each recovery from an archive starts a new
   * one.
   */
  @Override
  public Future<String> lineage() {
    return readOne(
            PrimaryHistory.IDENTITY,
            List.of(),
            row -> PrimaryHistory.Primary.of(row.integer("system"), row.text("segment")))
        .map(
            server -> {
              if (!server.hasTimeline()) {
                throw new StoreUnavailableException("the server has become a standby", null);
              }
              return "%d.%08X".formatted(server.system(), server.timeline());
            })
        .recover(
            e ->
                e instanceof PgException
                    ? Future.succeededFuture(NO_LINEAGE)
                    : Future.failedFuture(e));
  }

  @Override
  public long setBacks() {
    return counted.setBacks();
  }

  /**
   * Not {@code now()}, which is the start of the transaction and so the same for several commits.
   */
  @Override
  public String clockSql() {
    return "CAST(FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) AS BIGINT)";
  }

  @Override
  public void registerMetrics(Signals signals) {
    counted.registerMetrics(signals);
    signals.gauge(
        "bourse_store_statements_waiting", "Statements that wait to be stored.", writer::waiting);
    signals.gauge(
        "bourse_store_reads_waiting", "Queries that wait for a reader.", readers::waiting);
    signals.gauge(
        "bourse_store_connections",
        "Connections to PostgreSQL that answer queries.",
        readers::connected);
    changes.registerMetrics(signals);
  }

  @Override
  public Future<Boolean> prune() {
    return pruning.step();
  }

  @Override
  public boolean isShared() {
    return true;
  }

  @Override
  public synchronized Future<Void> close() {
    if (closed == null) {
      Promise<Void> drained = Promise.promise();
      Promise<Void> answered = Promise.promise();
      writer.drain(drained::complete);
      readers.drain(answered::complete);
      closed =
          Future.all(drained.future(), answered.future())
              .compose(
                  v -> Future.join(writer.close(), readers.close(), changes.close()).mapEmpty());
    }
    return closed;
  }
}
