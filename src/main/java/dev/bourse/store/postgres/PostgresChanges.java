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
 * Tells what other processes changed. Changes are in table {@code commit_log}, stored by the commit
 * itself, which {@link CommitLogReader} reads several times a second; a notification (NOTIFY,
 * LISTEN) only makes it read at once. A notification that is lost costs that much time and nothing
 * else. It is sent after the commit, because one that is sent within takes a lock of the whole
 * database until the commit is on disk.
 *
 * <p>Only a connection that answers can be trusted to bring notifications, so one that does not
 * answer a reading is given up.
 */
final class PostgresChanges implements PostgresLink.User {
  private static final Logger LOG = LoggerFactory.getLogger(PostgresChanges.class);

  private static final String CHANNEL = "bourse_commits";

  /** How often the log is read without being told to: half of what a change may take. */
  private static final long READ_MILLIS = 400;

  /** Between two readings that notifications ask for: a busy service sends hundreds a second. */
  private static final long BREATH_MILLIS = 5;

  /**
   * How often all hosts are asked for their timelines: a promotion that this process does not
   * notice by a lost connection takes no longer to be noticed. It costs each host one connection.
   */
  private static final long LOOK_MILLIS = 5_000;

  /** How long an unanswered reading is waited for. */
  private static final long SILENT_MILLIS = 2_000;

  /**
   * Readings that the server may cancel as too slow before the first one that succeeds; the start
   * fails with the last of them. A busy server is slow once or twice.
   */
  private static final int SLOW_STARTS = 5;

  private record Audience(Context context, ChangeListener listener) {}

  private final ContextInternal context;
  private final PostgresLink link;
  private final OwnGroups own;
  private final CommitLogReader log;
  private final CopyOnWriteArrayList<Audience> audiences = new CopyOnWriteArrayList<>();
  private final Promise<Void> begun = Promise.promise();
  private final LongConsumer backAfterSilence;

  private final LongAdder heard = new LongAdder();
  private final LongAdder missed = new LongAdder();
  private final StoreSignals counted;
  private final Runnable setBackRead;
  private volatile long heardNanos = System.nanoTime();

  // On the context alone.
  private @Nullable PgConnection connection;
  private boolean isReading;
  private int slowReadings;
  private boolean isAsked;
  private long answeredNanos;
  private boolean isWaking;

  /** The sender that others are to be woken for next; empty for none. */
  private String wakes = "";

  private boolean wasSilent;
  private boolean isLooking;
  private long lookedNanos = System.nanoTime();
  private long silentNanos;
  private String loggedReason = "";
  private long timer = -1;

  /**
   * @param setBackRead called when the log shows that the database was set back
   * @param backAfterSilence told, when a server that had fallen silent answers on a new connection,
   *     since when it had not
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
    this.setBackRead = setBackRead;
    this.own = own;
    this.counted = counted;
    this.backAfterSilence = backAfterSilence;
    context = vertx.createEventLoopContext();
    log = new CommitLogReader(own, new Telling());
    String settings = "SET statement_timeout = " + SILENT_MILLIS + "; LISTEN " + CHANNEL;
    link = new PostgresLink("listener", context, config, history, settings, random, this);
  }

  /** When this succeeds, nothing that is stored from now on goes unheard. */
  Future<Void> connect() {
    timer = context.setPeriodic(READ_MILLIS, id -> tick());
    return link.connect().compose(up -> begun.future());
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
   * Wakes the readers of other processes, over this connection: over the writer's it would be part
   * of the next group. Called on any thread; several calls during one are one.
   *
   * @param sender of the groups that are stored, in hexadecimal digits
   */
  void wakeOthers(String sender) {
    context.runOnContext(
        v -> {
          PgConnection open = connection;
          if (open == null || isWaking) {
            wakes = open == null ? "" : sender;
            return;
          }
          isWaking = true;
          open.query("NOTIFY " + CHANNEL + ", '" + sender + "'")
              .execute()
              .onComplete(
                  done -> {
                    isWaking = false;
                    String next = wakes;
                    wakes = "";
                    if (!next.isEmpty()) {
                      wakeOthers(next);
                    }
                  });
        });
  }

  /** Tells this process of its own changes, which are stored although their callers gave up. */
  void storedLate(List<Change> changes) {
    tell(listener -> changes.forEach(listener::changed));
  }

  /**
   * The database lost groups that it had stored. Called on any thread.
   *
   * @param afterSilence see {@link CommitLogReader.Audience#setBack}
   */
  void setBack(boolean afterSilence) {
    if (afterSilence) {
      LOG.warn(
          """
          this process stored nothing for so long that other processes have deleted its rows of \
          the commit log, so it cannot tell whether the database was set back meanwhile; \
          everything in memory is compared with it\
          """);
    } else {
      LOG.error(
          """
          the database was set back to an earlier state: commits that it had stored are gone, and \
          everything in memory is compared with it\
          """);
    }
    counted.setBack();
    missed();
  }

  @Override
  public void up(PgConnection fresh) {
    connection = fresh;
    isReading = false;
    isAsked = false;
    isWaking = false;
    wakes = "";
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

  /** Connections to a former primary that still runs stay healthy, so they tell nothing. */
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
                begun.tryComplete();
                if (wasSilent) {
                  wasSilent = false;
                  backAfterSilence.accept(silentNanos);
                }
                heardNanos = since;
                tell(listener -> listener.heardUntil(since));
              } else if (failure instanceof CommitLogReader.StandbyException) {
                link.drop(open, String.valueOf(failure.getMessage()));
                backAfterSilence.accept(System.nanoTime());
              } else {
                failed(failure);
              }
              if (isAsked) {
                context.setTimer(BREATH_MILLIS, id -> ask());
              }
            });
  }

  /** The next tick tries again. */
  private void failed(Throwable cause) {
    if (!PostgresFailure.isCancelled(cause) || ++slowReadings == SLOW_STARTS) {
      begun.tryFail(cause);
    }
    String reason = String.valueOf(cause.getMessage());
    if (!reason.equals(loggedReason)) {
      LOG.warn("the commit log cannot be read and is tried again: {}", reason);
      loggedReason = reason;
    }
  }

  /** Reads soon; several calls meanwhile are one. */
  private void ask() {
    PgConnection open = connection;
    if (isReading) {
      isAsked = true;
    } else if (open != null) {
      read(open);
    }
  }

  /** Shows what was heard. */
  void show(Signals signals) {
    signals.counter(
        "bourse_changes_heard_total",
        "Changes of other processes that were read in the commit log.",
        heard::sum);
    signals.counter(
        "bourse_changes_missed_total",
        """
        Times that changes may have been missed, so that all that is held was compared with what \
        is stored.\
        """,
        missed::sum);
    signals.gauge(
        "bourse_changes_heard_age_seconds",
        "How long ago the commit log was last read to its end; under a second is usual.",
        () -> (System.nanoTime() - heardNanos) / 1e9);
  }

  /** Everything held is to be compared with the store. Called on any thread. */
  void missed() {
    missed.increment();
    tell(ChangeListener::missed);
  }

  private void tell(Consumer<ChangeListener> word) {
    audiences.forEach(to -> to.context.runOnContext(v -> word.accept(to.listener)));
  }

  /** Tells everybody who listens. */
  private final class Telling implements CommitLogReader.Audience {
    @Override
    public void changed(List<Change> changes) {
      heard.add(changes.size());
      answeredNanos = System.nanoTime();
      tell(listener -> changes.forEach(listener::changed));
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
