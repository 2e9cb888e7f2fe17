package dev.bourse.store.postgres;

import dev.bourse.store.Change;
import dev.bourse.store.ChangeListener;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import io.vertx.pgclient.PgConnection;
import io.vertx.sqlclient.Tuple;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Word between processes. What changed is a row of table {@code change_feed} in the commit itself,
 * which {@link PostgresFeed} reads; a notification (NOTIFY, LISTEN) only says that it is worth
 * while to read now. Without one the feed is read several times a second anyway, so a lost one
 * costs that much time and nothing else.
 *
 * <p>The text of a notification is the sender's name, then a line for each change: topic, tab, key.
 * That is the form of the release before the feed, which two releases on one database need: it
 * hears this one's changes by it, and what it says itself, which has no rows, is told from it. A
 * name that begins with {@link #FED} says that there are rows. A group of commits shares one
 * notification: each that has any takes a lock of the whole database at COMMIT, which grouping
 * makes rare.
 *
 * <p>Only a connection that answers can be trusted to bring what there is to hear, so one that does
 * not answer a reading is given up. After that everything is compared once: what a process of the
 * release before said meanwhile is in no feed, and a server that crashed uses ids again.
 */
final class PostgresChanges implements PostgresLink.User {
  private static final Logger log = LoggerFactory.getLogger(PostgresChanges.class);

  static final String NOTIFY = "SELECT pg_notify('bourse_change', $1)";

  /** Positions go in the order of the changes. */
  static final String TELL =
      """
      INSERT INTO change_feed (sender, topic, key) SELECT $1, c.topic, c.key
      FROM unnest(CAST($2 AS text[]), CAST($3 AS text[]))
      WITH ORDINALITY AS c(topic, key, n) ORDER BY c.n\
      """;

  /** How the names of processes begin whose changes are in the feed. */
  private static final String FED = "fed-";

  /** The server takes payloads under 8,000 bytes. */
  private static final int PAYLOAD_BYTES = 7_900;

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
    sender = FED + HexFormat.of().formatHex(name);
    feed = new PostgresFeed(sender, new Telling());
    String settings = "SET statement_timeout = " + SILENT_MILLIS + "; LISTEN bourse_change";
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
    fresh.notificationHandler(notification -> heard(notification.getPayload()));
    read(fresh);
    if (wasUp) {
      tell(ChangeListener::missed);
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

  private void heard(String payload) {
    String[] lines = payload.split("\n", -1);
    if (lines[0].equals(sender)) {
      return;
    }
    if (!lines[0].startsWith(FED)) {
      tellLines(lines, payload);
    }
    ask();
  }

  /** What a process of the release before says; the feed lacks it. */
  private void tellLines(String[] lines, String payload) {
    List<Change> changes = new ArrayList<>(lines.length);
    for (int i = 1; i < lines.length; i++) {
      String[] parts = lines[i].split("\t", 2);
      if (parts.length < 2) {
        log.warn("a notification cannot be read: {}", payload);
        return;
      }
      changes.add(new Change(parts[0], parts[1]));
    }
    tell(listener -> changes.forEach(listener::changed));
  }

  private void tell(Consumer<ChangeListener> word) {
    audiences.forEach(to -> to.context.runOnContext(v -> word.accept(to.listener)));
  }

  /** What the feed has, to everybody who listens. */
  private final class Telling implements PostgresFeed.Audience {
    @Override
    public void changed(List<Change> changes) {
      tell(listener -> changes.forEach(listener::changed));
    }

    @Override
    public void missed() {
      tell(ChangeListener::missed);
    }

    @Override
    public void answered() {
      answeredNanos = System.nanoTime();
    }
  }

  /** The rows of commits for {@link #TELL}; null when they change nothing that others know. */
  @Nullable Tuple rows(List<PostgresBatch.Commit> commits) {
    List<Change> changes = commits.stream().flatMap(commit -> commit.changes.stream()).toList();
    return changes.isEmpty()
        ? null
        : Tuple.of(
            sender,
            changes.stream().map(Change::topic).toArray(String[]::new),
            changes.stream().map(Change::key).toArray(String[]::new));
  }

  /** The notifications that carry the changes of commits; usually one, none when there are none. */
  List<String> messages(List<PostgresBatch.Commit> commits) {
    List<String> messages = new ArrayList<>(1);
    StringBuilder text = new StringBuilder();
    int bytes = 0;
    for (PostgresBatch.Commit commit : commits) {
      for (Change change : commit.changes) {
        String line = "\n" + change.topic() + "\t" + change.key();
        int more = line.getBytes(StandardCharsets.UTF_8).length;
        if (bytes + more > PAYLOAD_BYTES) {
          messages.add(text.toString());
          bytes = 0;
        }
        if (bytes == 0) {
          text.setLength(0);
          text.append(sender);
          bytes = sender.length();
        }
        text.append(line);
        bytes += more;
      }
    }
    if (bytes > 0) {
      messages.add(text.toString());
    }
    return messages;
  }
}
