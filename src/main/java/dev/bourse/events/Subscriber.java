package dev.bourse.events;

import dev.bourse.capacity.ClusterView;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** One stream of a cluster's events, from where its client stands. Used on its own loop only. */
final class Subscriber implements Listener {
  /** Updates that may wait while what the client missed is read. */
  private static final int MAX_PENDING = 64;

  private final Executor loop;
  private final Consumer<Buffer> sink;
  private final ArrayDeque<Update> pending = new ArrayDeque<>();
  private boolean isLive;
  private boolean overflowed;
  private boolean ended;
  private boolean warned;

  /** The entry of the activity up to which the client has been told. */
  private long toldId;

  Subscriber(Executor loop, Consumer<Buffer> sink) {
    this.loop = loop;
    this.sink = sink;
  }

  /** An entry's event; empty bytes for an entry that makes none. */
  record Told(long id, Buffer event) {}

  /**
   * What a change brought.
   *
   * @param afterId entries up to this one were told before
   * @param told the entries since then, by id
   * @param view the state after them
   * @param whole the events of all of it
   */
  record Update(long afterId, List<Told> told, ClusterView view, Buffer whole) {

    static Update of(long afterId, List<Told> told, ClusterView view) {
      Buffer whole = Buffer.buffer();
      told.forEach(t -> whole.appendBuffer(t.event()));
      Update update = new Update(afterId, told, view, whole);
      whole.appendBuffer(EventText.capacity(update.lastId(), view));
      return update;
    }

    long lastId() {
      return told.isEmpty() ? afterId : told.get(told.size() - 1).id();
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
      tell(update);
    } else {
      if (pending.size() == MAX_PENDING) {
        // The newest stay: the state they tell must be the one that the client is left with.
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

  private void tell(Update update) {
    if (toldId <= update.afterId()) {
      sink.accept(update.whole());
    } else {
      Buffer rest = Buffer.buffer();
      update.told().stream()
          .filter(t -> t.id() > toldId)
          .forEach(t -> rest.appendBuffer(t.event()));
      long upTo = Math.max(toldId, update.lastId());
      sink.accept(rest.appendBuffer(EventText.capacity(upTo, update.view())));
    }
    toldId = Math.max(toldId, update.lastId());
  }

  /**
   * What the client missed is read: tells it, then the state, then what came meanwhile.
   *
   * @param afterId where the client stood
   * @param missed the entries since then, by id
   * @param isGap whether there were more than are told
   * @param view the state after them
   */
  void caughtUp(long afterId, List<Told> missed, boolean isGap, ClusterView view, Threat threat) {
    if (ended) {
      return;
    }
    toldId = missed.isEmpty() ? afterId : missed.get(missed.size() - 1).id();
    Buffer first = Buffer.buffer().appendBuffer(EventText.RETRY);
    if (isGap) {
      first.appendBuffer(EventText.gap(toldId, afterId));
    } else {
      missed.forEach(t -> first.appendBuffer(t.event()));
    }
    sink.accept(first.appendBuffer(EventText.capacity(toldId, view)));
    isLive = true;
    Update next = pending.peek();
    if (overflowed && next != null && next.afterId() > toldId) {
      sink.accept(EventText.gap(next.afterId(), toldId));
    }
    pending.forEach(this::tell);
    pending.clear();
    take(threat);
  }

  /**
   * Whether a rival's ceiling is close to the cluster's.
   *
   * @param warning the event that tells it; empty when it is not
   */
  record Threat(boolean isClose, Buffer warning) {
    static final Threat NONE = new Threat(false, Buffer.buffer());
  }
}
