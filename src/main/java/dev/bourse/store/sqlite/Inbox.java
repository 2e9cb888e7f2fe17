package dev.bourse.store.sqlite;

import dev.bourse.store.StoreUnavailable;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntUnaryOperator;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The bounded queue before an engine's threads. It refuses rather than blocks, and whatever it has
 * accepted is taken by somebody: an item cannot slip in between the last take and the close.
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
   * @param noun what a weight of one is, for the message of a refusal
   * @param capacity the weight that may wait; an item heavier than that is accepted when it is
   *     alone
   */
  Inbox(String noun, int capacity, ToIntFunction<T> weight) {
    this.noun = noun;
    this.capacity = capacity;
    this.weight = weight;
  }

  /** Null when the item was accepted, else why it was not. */
  @Nullable StoreUnavailable offer(T item) {
    int more = weight.applyAsInt(item);
    lock.lock();
    try {
      if (closed) {
        return new StoreUnavailable("the store is closed", null);
      }
      if (waiting > 0 && waiting + more > capacity) {
        return new StoreUnavailable(
            waiting + " " + noun + " wait for the store; " + capacity + " may", null);
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
   * Waits for an item, then takes what is there, in order, until their weight reaches so much.
   * False when the inbox is closed and empty.
   *
   * @param share how many are taken, at most, of so many that wait
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

  /** The weight that waits. */
  int waiting() {
    lock.lock();
    try {
      return waiting;
    } finally {
      lock.unlock();
    }
  }

  /** Accepts nothing more; what was accepted can still be taken. */
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
