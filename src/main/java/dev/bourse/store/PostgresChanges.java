package dev.bourse.store;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import io.vertx.pgclient.PgConnection;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Word between processes over NOTIFY and LISTEN. A notification is part of the transaction that
 * carries it and is delivered after it, in the order of the commits.
 *
 * <p>The text of one is the sender's name, then a line for each change: topic, tab, key. A group of
 * commits shares one notification: each that has any takes a lock of the whole database at COMMIT,
 * which grouping makes rare.
 *
 * <p>Only a connection that answers can be trusted to bring what there is to hear, so it is asked
 * at short intervals, and given up when it does not answer.
 */
final class PostgresChanges implements PostgresLink.User {
  private static final Logger log = LoggerFactory.getLogger(PostgresChanges.class);

  static final String NOTIFY = "SELECT pg_notify('bourse_change', $1)";

  /** The server takes payloads under 8,000 bytes. */
  private static final int PAYLOAD_BYTES = 7_900;

  /** How long a silent connection is trusted; a change goes unheard for twice that at most. */
  private static final long HEARTBEAT_MILLIS = 2_000;

  private record Audience(Context context, ChangeListener listener) {}

  private final ContextInternal context;
  private final PostgresLink link;
  private final String sender;
  private final CopyOnWriteArrayList<Audience> audiences = new CopyOnWriteArrayList<>();
  private @Nullable PgConnection connection;
  private boolean isAwaited;
  private boolean wasUp;
  private long heartbeat;

  PostgresChanges(VertxInternal vertx, PostgresConfig config, RandomGenerator random) {
    context = vertx.createEventLoopContext();
    byte[] name = new byte[12];
    random.nextBytes(name);
    sender = HexFormat.of().formatHex(name);
    link = new PostgresLink("listener", context, config, "LISTEN bourse_change", random, this);
  }

  Future<Void> connect() {
    heartbeat = context.setPeriodic(HEARTBEAT_MILLIS, timer -> beat());
    return link.connect();
  }

  void add(ChangeListener listener, Context home) {
    audiences.add(new Audience(home, listener));
  }

  Future<Void> close() {
    context.owner().cancelTimer(heartbeat);
    return link.close();
  }

  @Override
  public void up(PgConnection fresh) {
    connection = fresh;
    isAwaited = false;
    fresh.notificationHandler(notification -> heard(notification.getPayload()));
    if (wasUp) {
      audiences.forEach(to -> to.context.runOnContext(v -> to.listener.missed()));
    }
    wasUp = true;
  }

  @Override
  public void down(Throwable cause, boolean isAway) {
    connection = null;
  }

  private void beat() {
    PgConnection open = connection;
    if (open == null) {
      return;
    }
    if (isAwaited) {
      link.drop(open, "it does not answer");
      return;
    }
    isAwaited = true;
    open.query("SELECT 1").execute().onSuccess(v -> isAwaited = false);
  }

  private void heard(String payload) {
    String[] lines = payload.split("\n", -1);
    if (lines[0].equals(sender)) {
      return;
    }
    List<Change> changes = new ArrayList<>(lines.length);
    for (int i = 1; i < lines.length; i++) {
      String[] parts = lines[i].split("\t", 2);
      if (parts.length < 2) {
        log.warn("a notification makes no sense: {}", payload);
        return;
      }
      changes.add(new Change(parts[0], parts[1]));
    }
    audiences.forEach(to -> to.context.runOnContext(v -> changes.forEach(to.listener::changed)));
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
