package dev.bourse.store.sqlite;

import dev.bourse.store.StoreUnavailableException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntUnaryOperator;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The bounded queue of an engine's threads. A full queue rejects items without blocking. Every
 * accepted item is taken, because an item cannot arrive between the last take and the close.
 */
final class Inbox<T> {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition filled = lock.newCondition();
  private final ArrayDeque<T> items = new ArrayDeque<>();
  private final String noun;
  private final int capacity;
  private final ToIntFunction<T> weight;
  private int waiting;
  private boolean closed;

  /**
   * @param noun the unit of the weight, used in the message of a rejection
   * @param capacity the weight that may wait; a heavier item is accepted if the queue is empty
   */
  Inbox(String noun, int capacity, ToIntFunction<T> weight) {
    this.noun = noun;
    this.capacity = capacity;
    this.weight = weight;
  }

  /** Returns null if the item was accepted, otherwise the reason for its rejection. */
  @Nullable StoreUnavailableException offer(T item) {
    int more = weight.applyAsInt(item);
    lock.lock();
    try {
      if (closed) {
        return new StoreUnavailableException("the store is closed", null);
      }
      if (waiting > 0 && waiting + more > capacity) {
        return new StoreUnavailableException(
            "%d %s are waiting; at most %d may".formatted(waiting, noun, capacity), null);
      }
      items.add(item);
      waiting += more;
      filled.signal();
      return null;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits for an item, then takes waiting items in order, up to a weight. Returns false when the
   * inbox is closed and empty.
   *
   * @param share maps the number of waiting items to the maximum number to take
   */
  boolean take(List<T> into, IntUnaryOperator share, int mostWeight) {
    lock.lock();
    try {
      while (items.isEmpty()) {
        if (closed) {
          return false;
        }
        filled.awaitUninterruptibly();
      }
      int mostItems = share.applyAsInt(items.size());
      int count = 0;
      int taken = 0;
      T item;
      while (count < mostItems && taken < mostWeight && (item = items.poll()) != null) {
        into.add(item);
        count++;
        taken += weight.applyAsInt(item);
      }
      waiting -= taken;
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the weight that waits. */
  int waiting() {
    lock.lock();
    try {
      return waiting;
    } finally {
      lock.unlock();
    }
  }

  /** Rejects new items; accepted ones can still be taken. */
  void close() {
    lock.lock();
    try {
      closed = true;
      filled.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
