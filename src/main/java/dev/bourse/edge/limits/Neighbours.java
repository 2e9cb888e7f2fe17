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
 * The event loops that share the room for connections. One that has nobody to close for a newcomer
 * asks the others: without that, silent connections of one loop could take all of the room, and
 * whoever is dealt to another loop would be turned away for as long as they say nothing.
 */
final class Neighbours {
  /**
   * How many newcomers may be one too many at a time, for as long as a turn or two of a loop takes:
   * few beside the thousands that there is room for, and as many as arrive in such a turn.
   */
  private static final int MOST_ASKING = 64;

  private static final Logger LOG = LoggerFactory.getLogger(Neighbours.class);

  private final Map<EventLoop, BooleanSupplier> rooms = new ConcurrentHashMap<>();
  private final Semaphore asking = new Semaphore(MOST_ASKING);

  /**
   * A loop has connections.
   *
   * @param makeRoom run on that loop: closes one of them if there is no room, and tells whether
   *     there is some then
   */
  void join(EventLoop loop, BooleanSupplier makeRoom) {
    rooms.putIfAbsent(loop, makeRoom);
  }

  /**
   * Asks the others to make room, one after the other until one has.
   *
   * @param loop the one that asks, on which this is called
   * @param answer told on it, in a later turn, whether one has
   * @return false when nobody was asked, as there is nobody or as too many ask already
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

  /** One that fails has none: whoever asks is told, however it ends. */
  private boolean hasRoom(EventLoop loop) {
    try {
      BooleanSupplier makeRoom = rooms.get(loop);
      return makeRoom != null && makeRoom.getAsBoolean();
    } catch (RuntimeException fault) {
      LOG.error("no room could be made for a connection", fault);
      return false;
    }
  }

  /** Whether a loop will run something; one that has stopped will not. */
  private static boolean run(Executor loop, Runnable work) {
    try {
      loop.execute(work);
      return true;
    } catch (RejectedExecutionException stopped) {
      return false;
    }
  }
}
