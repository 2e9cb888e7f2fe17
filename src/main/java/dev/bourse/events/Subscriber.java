package dev.bourse.events;

import dev.bourse.capacity.ClusterView;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** One client's stream of a cluster's events. Used on its own loop only. */
final class Subscriber implements Listener {
  /** Updates that may wait while missed events are read. */
  private static final int MAX_PENDING = 64;

  private final Executor loop;
  private final Consumer<Buffer> sink;
  private final ArrayDeque<Update> pending = new ArrayDeque<>();
  private boolean isLive;
  private boolean overflowed;
  private boolean ended;
  private boolean warned;

  /** The id of the last entry that was sent. */
  private long sentId;

  Subscriber(Executor loop, Consumer<Buffer> sink) {
    this.loop = loop;
    this.sink = sink;
  }

  /** An entry's encoded event; empty for an entry without one. */
  record EncodedEntry(long id, Buffer event) {}

  /**
   * A change of the cluster.
   *
   * @param afterId the entry before the change
   * @param entries the entries of the change, by id
   * @param view the state after them
   * @param whole the encoded events of all of it
   */
  record Update(long afterId, List<EncodedEntry> entries, ClusterView view, Buffer whole) {

    static Update of(long afterId, List<EncodedEntry> entries, ClusterView view) {
      Buffer whole = Buffer.buffer();
      entries.forEach(t -> whole.appendBuffer(t.event()));
      Update update = new Update(afterId, entries, view, whole);
      whole.appendBuffer(EventText.capacity(update.lastId(), view));
      return update;
    }

    long lastId() {
      return entries.isEmpty() ? afterId : entries.get(entries.size() - 1).id();
    }
  }

  @Override
  public Executor loop() {
    return loop;
  }

  void end() {
    ended = true;
    pending.clear();
  }

  @Override
  public void take(Update update) {
    if (ended) {
      return;
    }
    if (isLive) {
      send(update);
    } else {
      if (pending.size() == MAX_PENDING) {
        // Keeps the newest, because the client must end up with the latest state.
        pending.remove();
        overflowed = true;
      }
      pending.add(update);
    }
  }

  @Override
  public void take(Threat threat) {
    if (isLive && !ended) {
      if (threat.isClose() && !warned) {
        sink.accept(threat.warning());
      }
      warned = threat.isClose();
    }
  }

  private void send(Update update) {
    if (sentId <= update.afterId()) {
      sink.accept(update.whole());
    } else {
      Buffer rest = Buffer.buffer();
      update.entries().stream()
          .filter(t -> t.id() > sentId)
          .forEach(t -> rest.appendBuffer(t.event()));
      long upTo = Math.max(sentId, update.lastId());
      sink.accept(rest.appendBuffer(EventText.capacity(upTo, update.view())));
    }
    sentId = Math.max(sentId, update.lastId());
  }

  /**
   * Sends the missed events, then the state, then the updates that arrived during the read.
   *
   * @param afterId the client's position
   * @param missed the entries after it, by id
   * @param isGap whether some are left out
   * @param view the state after them
   */
  void startLive(
      long afterId, List<EncodedEntry> missed, boolean isGap, ClusterView view, Threat threat) {
    if (ended) {
      return;
    }
    sentId = missed.isEmpty() ? afterId : missed.get(missed.size() - 1).id();
    Buffer first = Buffer.buffer().appendBuffer(EventText.RETRY);
    if (isGap) {
      first.appendBuffer(EventText.gap(sentId, afterId));
    } else {
      missed.forEach(t -> first.appendBuffer(t.event()));
    }
    sink.accept(first.appendBuffer(EventText.capacity(sentId, view)));
    isLive = true;
    Update next = pending.peek();
    if (overflowed && next != null && next.afterId() > sentId) {
      sink.accept(EventText.gap(next.afterId(), sentId));
    }
    pending.forEach(this::send);
    pending.clear();
    take(threat);
  }

  /**
   * Whether a rival's bid is close to the cluster's ceiling.
   *
   * @param warning the encoded event; empty if none is close
   */
  record Threat(boolean isClose, Buffer warning) {
    static final Threat NONE = new Threat(false, Buffer.buffer());
  }
}
