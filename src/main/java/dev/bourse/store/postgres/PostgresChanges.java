package dev.bourse.store.postgres;

import dev.bourse.signals.Signals;
import dev.bourse.store.Change;
import dev.bourse.store.ChangeListener;
import dev.bourse.store.StoreSignals;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import io.vertx.pgclient.PgConnection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports changes of other processes. Each commit stores its changes in table {@code commit_log},
 * which {@link CommitLogReader} reads several times a second. A notification (NOTIFY, LISTEN) only
 * triggers an immediate read, so a lost notification only costs that delay. It is sent after the
 * commit, because a NOTIFY within the transaction holds a database-wide lock until the commit is on
 * disk.
 *
 * <p>Only a connection that answers reliably delivers notifications, so a connection that does not
 * answer a read is dropped.
 */
final class PostgresChanges implements PostgresLink.User {
  private static final Logger LOG = LoggerFactory.getLogger(PostgresChanges.class);

  private static final String CHANNEL = "bourse_commits";

  /** The interval of reads without a notification: half of the time a change may take. */
  private static final long READ_MILLIS = 400;

  /**
   * The pause between two reads that notifications trigger; a busy service sends hundreds a second.
   */
  private static final long READ_PAUSE_MILLIS = 5;

  /**
   * The interval at which all hosts are asked for their timelines, which bounds how long a
   * promotion stays undetected when no connection is lost. It costs each host one connection.
   */
  private static final long LOOK_MILLIS = 5_000;

  /** How long to wait for an answer to a read. */
  private static final long SILENT_MILLIS = 2_000;

  /**
   * Readings that the server may cancel as too slow before the first one that succeeds; the start
   * fails with the last of them. A busy server is slow once or twice.
   */
  private static final int SLOW_STARTS = 5;

  private record Audience(Context context, ChangeListener listener) {}

  private final ContextInternal context;
  private final PrimaryHistory history;
  private final PostgresLink link;
  private final OwnGroups own;
  private final CommitLogReader log;
  private final CopyOnWriteArrayList<Audience> audiences = new CopyOnWriteArrayList<>();
  private final Promise<Void> connected = Promise.promise();
  private final LongConsumer backAfterSilence;

  private final LongAdder changesHeard = new LongAdder();
  private final LongAdder missed = new LongAdder();
  private final StoreSignals counted;
  private final Runnable setBackRead;
  private volatile long heardNanos = System.nanoTime();

  // On the context alone.
  private PrimaryHistory.Primary primary = PrimaryHistory.UNKNOWN;
  private @Nullable PgConnection connection;
  private boolean isReading;
  private int slowReadings;
  private boolean isAsked;
  private long answeredNanos;
  private boolean isNotifying;

  /** The sender in the next notification; empty if none is due. */
  private String pendingSender = "";

  private boolean wasSilent;
  private boolean isLooking;
  private long lookedNanos = System.nanoTime();
  private long silentNanos;
  private String loggedReason = "";
  private long timer = -1;

  /**
   * @param setBackRead called when the log shows that the database was set back
   * @param backAfterSilence called when a server that had stopped answering answers on a new
   *     connection, with the time of its last answer
   */
  PostgresChanges(
      VertxInternal vertx,
      PostgresConfig config,
      PrimaryHistory history,
      RandomGenerator random,
      OwnGroups own,
      StoreSignals counted,
      Runnable setBackRead,
      LongConsumer backAfterSilence) {
    this.history = history;
    this.setBackRead = setBackRead;
    this.own = own;
    this.counted = counted;
    this.backAfterSilence = backAfterSilence;
    context = vertx.createEventLoopContext();
    log = new CommitLogReader(own, new ListenerRelay());
    String settings = "SET statement_timeout = " + SILENT_MILLIS + "; LISTEN " + CHANNEL;
    link = new PostgresLink("listener", context, config, history, settings, random, this);
  }

  /** Connects. After success, every change that is stored from then on is reported. */
  Future<Void> connect() {
    timer = context.setPeriodic(READ_MILLIS, id -> tick());
    return link.connect().compose(up -> connected.future());
  }

  void add(ChangeListener listener, Context home) {
    audiences.add(new Audience(home, listener));
  }

  Future<Void> close() {
    context.owner().cancelTimer(timer);
    // A reading under way fails now, which is not worth a warning.
    context.execute(() -> connection = null);
    return link.close();
  }

  /**
   * Notifies the readers of other processes, over this connection, because over the writer's
   * connection the NOTIFY would become part of the next group. Called on any thread; calls during a
   * pending notification are merged.
   *
   * @param sender the sender of the stored groups, in hexadecimal digits
   */
  void wakeOthers(String sender) {
    context.runOnContext(
        v -> {
          PgConnection open = connection;
          if (open == null || isNotifying) {
            pendingSender = open == null ? "" : sender;
            return;
          }
          isNotifying = true;
          open.query("NOTIFY " + CHANNEL + ", '" + sender + "'")
              .execute()
              .onComplete(
                  done -> {
                    isNotifying = false;
                    String next = pendingSender;
                    pendingSender = "";
                    if (!next.isEmpty()) {
                      wakeOthers(next);
                    }
                  });
        });
  }

  /**
   * Reports this process's own changes that were stored after their callers had stopped waiting.
   */
  void storedLate(List<Change> changes) {
    notifyListeners(listener -> changes.forEach(listener::changed));
  }

  /**
   * Records that the database lost groups that it had stored. Called on any thread.
   *
   * @param afterSilence see {@link CommitLogReader.Receiver#setBack}
   */
  void setBack(boolean afterSilence) {
    if (afterSilence) {
      LOG.warn(
          """
          other processes deleted this process's rows of the commit log because it stored nothing \
          for a long time; comparing everything in memory with the database, which may have been \
          set back\
          """);
    } else {
      LOG.error(
          """
          the database was set back to an earlier state and has lost commits; comparing everything \
          in memory with it\
          """);
    }
    counted.recordSetBack();
    missed();
  }

  @Override
  public void up(PgConnection fresh) {
    PrimaryHistory.Primary newest = history.newest();
    // A server without a timeline may be another one on each connection.
    if (!newest.hasTimeline() || !newest.equals(primary)) {
      log.promoted();
    }
    primary = newest;
    connection = fresh;
    isReading = false;
    isAsked = false;
    isNotifying = false;
    pendingSender = "";
    fresh.notificationHandler(
        notification -> {
          if (!own.isOwn(notification.getPayload())) {
            ask();
          }
        });
    read(fresh);
  }

  @Override
  public void down(Throwable cause, boolean isAway) {
    connection = null;
  }

  private void tick() {
    PgConnection open = connection;
    if (open == null) {
      return;
    }
    look();
    if (!isReading) {
      read(open);
    } else if (System.nanoTime() - answeredNanos > SILENT_MILLIS * 1_000_000) {
      wasSilent = true;
      silentNanos = System.nanoTime();
      link.drop(open, "it does not answer");
    }
  }

  /** Asks for timelines, because connections to a former primary that still runs stay healthy. */
  private void look() {
    if (!isLooking && System.nanoTime() - lookedNanos > LOOK_MILLIS * 1_000_000) {
      isLooking = true;
      link.look()
          .onComplete(
              looked -> {
                isLooking = false;
                lookedNanos = System.nanoTime();
              });
    }
  }

  private void read(PgConnection open) {
    isReading = true;
    isAsked = false;
    long since = System.nanoTime();
    answeredNanos = since;
    log.read(open)
        .onComplete(
            (read, failure) -> {
              if (connection != open) {
                return;
              }
              isReading = false;
              if (failure == null) {
                loggedReason = "";
                connected.tryComplete();
                if (wasSilent) {
                  wasSilent = false;
                  backAfterSilence.accept(silentNanos);
                }
                heardNanos = since;
                notifyListeners(listener -> listener.heardUntil(since));
              } else if (failure instanceof CommitLogReader.StandbyException) {
                link.drop(open, String.valueOf(failure.getMessage()));
                backAfterSilence.accept(System.nanoTime());
              } else {
                failed(failure);
              }
              if (isAsked) {
                context.setTimer(READ_PAUSE_MILLIS, id -> ask());
              }
            });
  }

  /** Logs a failure; the next tick retries. */
  private void failed(Throwable cause) {
    if (!PostgresFailure.isCancelled(cause) || ++slowReadings == SLOW_STARTS) {
      connected.tryFail(cause);
    }
    String reason = String.valueOf(cause.getMessage());
    if (!reason.equals(loggedReason)) {
      LOG.warn("reading the commit log failed and will be retried: {}", reason);
      loggedReason = reason;
    }
  }

  /** Schedules a read soon; calls until then are merged. */
  private void ask() {
    PgConnection open = connection;
    if (isReading) {
      isAsked = true;
    } else if (open != null) {
      read(open);
    }
  }

  /** Registers the metrics. */
  void registerMetrics(Signals signals) {
    signals.counter(
        "bourse_changes_heard_total",
        "Changes of other processes that were read in the commit log.",
        changesHeard::sum);
    signals.counter(
        "bourse_changes_missed_total",
        """
        Times that changes may have been missed, after which everything in memory was compared \
        with the database.\
        """,
        missed::sum);
    signals.gauge(
        "bourse_changes_heard_age_seconds",
        "How long ago the commit log was last read to its end; under a second is usual.",
        () -> (System.nanoTime() - heardNanos) / 1e9);
  }

  /** Reports that everything held is to be compared with the store. Called on any thread. */
  void missed() {
    missed.increment();
    notifyListeners(ChangeListener::missed);
  }

  private void notifyListeners(Consumer<ChangeListener> word) {
    audiences.forEach(to -> to.context.runOnContext(v -> word.accept(to.listener)));
  }

  /** Forwards the log's contents to all listeners. */
  private final class ListenerRelay implements CommitLogReader.Receiver {
    @Override
    public void changed(List<Change> changes) {
      changesHeard.add(changes.size());
      answeredNanos = System.nanoTime();
      notifyListeners(listener -> changes.forEach(listener::changed));
    }

    @Override
    public void missed() {
      PostgresChanges.this.missed();
    }

    @Override
    public void setBack(boolean afterSilence) {
      PostgresChanges.this.setBack(afterSilence);
      setBackRead.run();
    }
  }
}
