package dev.bourse.store.postgres;

import dev.bourse.signals.Label;
import dev.bourse.signals.Signals;
import dev.bourse.store.Change;
import dev.bourse.store.ChangeListener;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import io.vertx.pgclient.PgConnection;
import io.vertx.sqlclient.Tuple;
import java.util.HexFormat;
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
 * Word between processes. What changed is a row of table {@code change_feed} in the commit itself,
 * which {@link PostgresFeed} reads several times a second; a notification (NOTIFY, LISTEN) brings
 * it sooner. One that is lost costs that much time and nothing else.
 *
 * <p>Notifications ({@link PostgresNotices}) go over two channels. On the older there are topics
 * and keys: all that a process of the release before the feed hears. What such a process says
 * itself has no rows of the feed, and is told from the notification. On the other there are the
 * changed rows too, where they are small: whoever holds them need not ask the server. Only for a
 * change without its row the feed is read at once. A reading of the feed finds the same changes
 * again, with their versions, and so what a lost or unreadable notification had. A group of commits
 * notifies in one statement: each transaction that does takes a lock of the whole database at
 * COMMIT, which grouping makes rare.
 *
 * <p>Only a connection that answers can be trusted to bring what there is to hear, so one that does
 * not answer a reading is given up. After that everything is compared once: what a process of the
 * release before said meanwhile is in no feed, and a server that crashed uses ids again.
 */
final class PostgresChanges implements PostgresLink.User {
  private static final Logger log = LoggerFactory.getLogger(PostgresChanges.class);

  /** Positions go in the order of the changes. */
  static final String TELL =
      """
      INSERT INTO change_feed (sender, topic, key, version)
      SELECT $1, c.topic, c.key, c.version
      FROM unnest(CAST($2 AS text[]), CAST($3 AS text[]), CAST($4 AS bigint[]))
      WITH ORDINALITY AS c(topic, key, version, n) ORDER BY c.n\
      """;

  /** How the names of processes begin whose changes are in the feed. */
  private static final String FED = "fed-";

  /** How often the feed is read without being told to: half of what a change may take. */
  private static final long READ_MILLIS = 400;

  /** Between two readings that notifications ask for: a busy service sends hundreds a second. */
  private static final long BREATH_MILLIS = 5;

  /** How long an unanswered reading is waited for. */
  private static final long SILENT_MILLIS = 2_000;

  private record Audience(Context context, ChangeListener listener) {}

  private final ContextInternal context;
  private final PostgresLink link;
  private final String sender;
  private final PostgresFeed feed;
  private final CopyOnWriteArrayList<Audience> audiences = new CopyOnWriteArrayList<>();
  private final Promise<Void> begun = Promise.promise();
  private final LongConsumer backAfterSilence;

  private final LongAdder readings = new LongAdder();
  private final LongAdder noticed = new LongAdder();
  private final LongAdder missed = new LongAdder();
  private volatile long heardNanos = System.nanoTime();

  // On the context alone.
  private @Nullable PgConnection connection;
  private boolean isReading;
  private boolean isAsked;
  private long answeredNanos;
  private boolean wasUp;
  private boolean wasSilent;
  private long silentNanos;
  private String loggedReason = "";
  private long timer = -1;

  /**
   * @param backAfterSilence told, when a server that had fallen silent answers on a new connection,
   *     since when it had not
   */
  PostgresChanges(
      VertxInternal vertx,
      PostgresConfig config,
      RandomGenerator random,
      LongConsumer backAfterSilence) {
    this.backAfterSilence = backAfterSilence;
    context = vertx.createEventLoopContext();
    byte[] name = new byte[12];
    random.nextBytes(name);
    sender = PostgresNotices.WITH_ROWS + HexFormat.of().formatHex(name);
    feed = new PostgresFeed(sender, new Telling());
    String settings =
        "SET statement_timeout = " + SILENT_MILLIS + "; LISTEN bourse_rows; LISTEN bourse_change";
    link = new PostgresLink("listener", context, config, settings, random, this);
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
    return link.close();
  }

  /** Nobody knows whether a transaction of this process is stored. Called on any thread. */
  void doubt(String transactionId) {
    context.runOnContext(v -> feed.doubt(transactionId));
  }

  @Override
  public void up(PgConnection fresh) {
    connection = fresh;
    isReading = false;
    isAsked = false;
    fresh.notificationHandler(
        notification -> heard(notification.getChannel(), notification.getPayload()));
    read(fresh);
    if (wasUp) {
      missed();
    }
    wasUp = true;
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
    if (!isReading) {
      read(open);
    } else if (System.nanoTime() - answeredNanos > SILENT_MILLIS * 1_000_000) {
      wasSilent = true;
      silentNanos = System.nanoTime();
      link.drop(open, "it does not answer");
    }
  }

  private void read(PgConnection open) {
    isReading = true;
    isAsked = false;
    long since = System.nanoTime();
    answeredNanos = since;
    feed.read(open)
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
    begun.tryFail(cause);
    String reason = String.valueOf(cause.getMessage());
    if (!reason.equals(loggedReason)) {
      log.warn("the change feed cannot be read and is tried again: {}", reason);
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

  private void heard(String channel, String payload) {
    String from = PostgresNotices.sender(payload);
    boolean isOfRows = channel.equals(PostgresNotices.ROWS);
    if (from.equals(sender) || (!isOfRows && from.startsWith(PostgresNotices.WITH_ROWS))) {
      return;
    }
    try {
      List<Change> changes = PostgresNotices.changes(payload);
      // Of what came without its row the feed tells, unless its sender leaves nothing there.
      List<Change> here =
          from.startsWith(FED)
              ? changes.stream().filter(change -> !change.row().isEmpty()).toList()
              : changes;
      noticed.add(here.size());
      tell(listener -> here.forEach(listener::changed));
      if (isOfRows && here.size() == changes.size()) {
        return;
      }
    } catch (IllegalArgumentException senseless) {
      log.warn("a notification cannot be read: {}", payload);
    }
    ask();
  }

  /** Shows what was heard. */
  void show(Signals signals) {
    signals.counters(
        "bourse_changes_heard_total",
        """
        Changes of other processes that were heard of, by a `notification`, or in the `feed`, \
        which has those of notifications again.\
        """,
        List.of(Label.KIND),
        heard -> {
          heard.put(noticed.sum(), "notification");
          heard.put(readings.sum(), "feed");
        });
    signals.counter(
        "bourse_changes_missed_total",
        """
        Times that changes may have been missed, so that all that is held was compared with what \
        is stored.\
        """,
        missed::sum);
    signals.gauge(
        "bourse_changes_heard_age_seconds",
        "How long ago the feed of changes was last read to its end; under a second is usual.",
        () -> (System.nanoTime() - heardNanos) / 1e9);
  }

  private void missed() {
    missed.increment();
    tell(ChangeListener::missed);
  }

  private void tell(Consumer<ChangeListener> word) {
    audiences.forEach(to -> to.context.runOnContext(v -> word.accept(to.listener)));
  }

  /** What the feed has, to everybody who listens. */
  private final class Telling implements PostgresFeed.Audience {
    @Override
    public void changed(List<Change> changes) {
      readings.add(changes.size());
      tell(listener -> changes.forEach(listener::changed));
    }

    @Override
    public void missed() {
      PostgresChanges.this.missed();
    }

    @Override
    public void answered() {
      answeredNanos = System.nanoTime();
    }
  }

  /** What commits tell: the values of {@link #TELL} and of {@link PostgresNotices#NOTIFY}. */
  record Told(Tuple rows, Tuple notices) {}

  /** What commits tell others; null when they change nothing that others know. */
  @Nullable Told told(List<PostgresBatch.Commit> commits) {
    List<Change> changes = commits.stream().flatMap(commit -> commit.changes.stream()).toList();
    if (changes.isEmpty()) {
      return null;
    }
    Tuple rows =
        Tuple.of(
            sender,
            changes.stream().map(Change::topic).toArray(String[]::new),
            changes.stream().map(Change::key).toArray(String[]::new),
            changes.stream()
                .map(c -> c.version() == Change.NO_VERSION ? null : Long.valueOf(c.version()))
                .toArray(Long[]::new));
    return new Told(rows, PostgresNotices.of(sender, changes));
  }
}
