package dev.bourse.edge.limits;

import io.netty.channel.EventLoop;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The event loops that share the limit of connections. A loop without a candidate to close for a
 * new connection asks the others. Otherwise, silent connections of one loop could take all of the
 * room, and new connections to another loop would be rejected for as long as they stay silent.
 */
final class Neighbours {
  /**
   * The number of connections that may exceed the limit for one or two turns of a loop: small
   * compared with the limit of thousands, and enough for the arrivals of such a turn.
   */
  private static final int MOST_ASKING = 64;

  private static final Logger LOG = LoggerFactory.getLogger(Neighbours.class);

  private final Map<EventLoop, BooleanSupplier> rooms = new ConcurrentHashMap<>();
  private final Semaphore asking = new Semaphore(MOST_ASKING);

  /**
   * Adds a loop.
   *
   * @param makeRoom runs on that loop: closes a connection if there is no room, and returns whether
   *     there is room then
   */
  void join(EventLoop loop, BooleanSupplier makeRoom) {
    rooms.putIfAbsent(loop, makeRoom);
  }

  /**
   * Asks the other loops one after another, until one has made room.
   *
   * @param loop the calling loop
   * @param answer receives the result on that loop, in a later turn
   * @return false if there is no other loop or too many requests are in progress
   */
  boolean ask(EventLoop loop, Consumer<Boolean> answer) {
    if (rooms.size() < 2 || !asking.tryAcquire()) {
      return false;
    }
    askNext(
        rooms.keySet().iterator(),
        loop,
        found -> {
          asking.release();
          run(loop, () -> answer.accept(found));
        });
    return true;
  }

  private void askNext(Iterator<EventLoop> others, EventLoop asks, Consumer<Boolean> answer) {
    while (others.hasNext()) {
      EventLoop other = others.next();
      if (other != asks && run(other, () -> look(other, others, asks, answer))) {
        return;
      }
    }
    answer.accept(false);
  }

  private void look(
      EventLoop other, Iterator<EventLoop> others, EventLoop asks, Consumer<Boolean> answer) {
    if (hasRoom(other)) {
      answer.accept(true);
    } else {
      askNext(others, asks, answer);
    }
  }

  /**
   * Returns the loop's answer; a failure counts as no room, so that the caller always gets an
   * answer.
   */
  private boolean hasRoom(EventLoop loop) {
    try {
      BooleanSupplier makeRoom = rooms.get(loop);
      return makeRoom != null && makeRoom.getAsBoolean();
    } catch (RuntimeException fault) {
      LOG.error("making room for a connection failed", fault);
      return false;
    }
  }

  /** Runs a task on a loop; returns false if the loop has stopped. */
  private static boolean run(Executor loop, Runnable work) {
    try {
      loop.execute(work);
      return true;
    } catch (RejectedExecutionException stopped) {
      return false;
    }
  }
}
