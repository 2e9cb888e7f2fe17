package dev.bourse.delivery;

import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;

/**
 * A kind of delivery: where its pending items are stored, and how one is sent. A {@link
 * DeliveryEngine} calls it on one event loop.
 *
 * @param <T> an item together with its receiver
 */
public interface DeliveryKind<T> {
  /**
   * Numbers that tell whether a scan may find more than the last one.
   *
   * @param changes increases with each change to a receiver, which may make its items due at once
   * @param items increases with new items
   */
  record Mark(long changes, long items) {
    private static final Mark NONE = new Mark(0, 0);
    static final Mark UNKNOWN = new Mark(-1, -1);
  }

  /**
   * A queue that may have a pending item; it is read when it is tried.
   *
   * @param dueMillis earliest time of the next attempt, as stored
   * @param tries attempts at its first item so far, which failed
   */
  record Pending(Schedule.Queue queue, long dueMillis, int tries) {}

  /** Reads the current mark; called at each poll. */
  default Future<Mark> readMark() {
    return Future.succeededFuture(Mark.NONE);
  }

  /**
   * Makes new items; called at each poll before the queues are listed.
   *
   * @param isScan true to look at every source; false for a poll, which skips the costly ones
   */
  default Future<Void> prepare(boolean isScan) {
    return Future.succeededFuture();
  }

  /**
   * Lists queues with pending items in a fixed order.
   *
   * @param after the last queue of the page before; empty for the first page
   * @param most queues of a page
   */
  Future<List<Pending>> listPending(Optional<Schedule.Queue> after, int most);

  /** Returns the first pending item of a queue; empty if there is none for this process. */
  Future<Optional<T>> findNext(Schedule.Queue queue);

  /** Returns the attempts at an item so far. */
  AttemptHistory history(T item);

  /**
   * Makes one attempt, which ends within a bounded time. Errors of the receiver are in the attempt;
   * the future fails only if the store does.
   */
  Future<Attempt> send(T item);

  /**
   * Stores a success. This and the other results may fail with {@link ReceiverChangedException}.
   */
  Future<Void> recordDelivered(T item, Attempt attempt, long nowMillis);

  /** Stores a failure and the time of the next attempt. */
  Future<Void> recordFailed(T item, Attempt attempt, long nextAtMillis, long nowMillis);

  /** Stores the last failure of an item, and ends its deliveries. */
  Future<Void> giveUp(T item, Attempt attempt, long nowMillis);

  /**
   * Returns true if work other than attempts is in progress; its end is reported by {@link
   * DeliveryEngine#workEnded}.
   */
  default boolean isBusy() {
    return false;
  }

  /** Forgets the state in memory, because another process delivers now. */
  default void leaseLost() {}
}
