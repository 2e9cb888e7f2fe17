package dev.bourse.core;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A bulkhead: limits how much of one kind of work runs at once, how much more may wait, and how
 * much of both one owner may have, so that no owner can starve the others. Work beyond these limits
 * is rejected at once.
 *
 * <p>Waiting work starts in order of arrival, on the thread that releases a place. Safe for use by
 * several threads.
 */
public final class Bulkhead {
  /** After this time, some of the running work has usually ended. */
  private static final long RETRY_MILLIS = 1_000;

  private final int most;
  private final int mostWaiting;
  private final int mostOfOwner;
  private final boolean isFair;
  private final Function<String, ? extends RuntimeException> refusal;

  // This object guards the three fields below; the map holds no owner without work.
  private final Map<String, Integer> ofOwner = new HashMap<>();
  private final Deque<Place> waiting = new ArrayDeque<>();
  private int running;

  private Bulkhead(
      int most,
      int mostWaiting,
      int mostOfOwner,
      boolean isFair,
      Function<String, ? extends RuntimeException> refusal) {
    if (most < 1 || mostWaiting < 0 || mostOfOwner < 1) {
      throw new IllegalArgumentException(
          "a limit of %d, %d of one owner and %d waiting; expected at least 1, 1 and 0"
              .formatted(most, mostOfOwner, mostWaiting));
    }
    this.most = most;
    this.mostWaiting = mostWaiting;
    this.mostOfOwner = mostOfOwner;
    this.isFair = isFair;
    this.refusal = refusal;
  }

  /**
   * A limit that rejects with {@code overloaded}. By default nothing waits and owners have no share
   * of their own.
   *
   * @param what a plural noun for the work, used in the error detail
   * @param most the most that runs at once, at least 1
   */
  public static Bulkhead of(String what, int most) {
    return new Bulkhead(
        most,
        0,
        Integer.MAX_VALUE,
        false,
        bound ->
            ApiException.retryLater(
                ErrorCode.OVERLOADED, "limit reached: %s %s".formatted(bound, what), RETRY_MILLIS));
  }

  /**
   * The same limit with a queue.
   *
   * @param mostWaiting the most that waits, 0 or more
   */
  public Bulkhead queueing(int mostWaiting) {
    return new Bulkhead(most, mostWaiting, mostOfOwner, isFair, refusal);
  }

  /**
   * The same limit with a share for each owner.
   *
   * @param mostOfOwner the most of one owner, running and waiting together, at least 1
   */
  public Bulkhead sharing(int mostOfOwner) {
    return new Bulkhead(most, mostWaiting, mostOfOwner, isFair, refusal);
  }

  /**
   * Returns the same limit with a share that adapts to the load: an owner may take a place only
   * while it has fewer places than are free. A lone owner gets half of all places, and the last
   * place goes to an owner that has none. A fixed share would either slow down a lone owner or let
   * a few owners take everything together.
   */
  public Bulkhead sharingFairly() {
    return new Bulkhead(most, mostWaiting, mostOfOwner, true, refusal);
  }

  /**
   * The same limit with another exception.
   *
   * @param refusal makes the exception from a text that says how much work there is already
   */
  public Bulkhead refusing(Function<String, ? extends RuntimeException> refusal) {
    return new Bulkhead(most, mostWaiting, mostOfOwner, isFair, refusal);
  }

  /** A place for work; the holder closes it when the work is done. */
  public final class Place implements AutoCloseable {
    private final String owner;
    private final int weight;
    private final Consumer<Place> work;
    private boolean isClosed;

    private Place(String owner, int weight, Consumer<Place> work) {
      this.owner = owner;
      this.weight = weight;
      this.work = work;
    }

    /**
     * Releases the place; calls after the first have no effect. The longest-waiting work gets the
     * place.
     */
    @Override
    public void close() {
      Place next;
      synchronized (Bulkhead.this) {
        if (isClosed) {
          return;
        }
        isClosed = true;
        ofOwner.computeIfPresent(owner, (same, held) -> held == weight ? null : held - weight);
        next = waiting.poll();
        running -= next == null ? weight : 0;
      }
      if (next != null) {
        next.work.accept(next);
      }
    }
  }

  /**
   * Starts work now, or when a place becomes free.
   *
   * @param owner the owner of the work; any text when owners have no share
   * @param work receives the place, on this thread or on the thread that releases one
   * @throws RuntimeException the refusal, when both the places and the queue are full
   */
  public void enter(String owner, Consumer<Place> work) {
    enter(new Place(owner, 1, work));
  }

  private void enter(Place place) {
    synchronized (this) {
      int own = ofOwner.getOrDefault(place.owner, 0);
      int taken = running + waiting.size();
      long free = (long) most + mostWaiting - taken;
      long ownFree = isFair ? Math.min(mostOfOwner, free) : mostOfOwner;
      if (own > 0 && (long) own + place.weight > ownFree) {
        throw refusal.apply("you have %d".formatted(own));
      }
      if (place.weight > Math.min(free, mostOfOwner)) {
        throw refusal.apply("there are %d".formatted(taken));
      }
      ofOwner.put(place.owner, own + place.weight);
      if (running == most) {
        waiting.add(place);
        return;
      }
      running += place.weight;
    }
    place.work.accept(place);
  }

  /**
   * Takes a place for work that starts now.
   *
   * @throws RuntimeException the refusal, when there is none
   */
  public Place enter(String owner) {
    return enter(owner, 1);
  }

  /**
   * Takes several places for work that starts now, such as one for each kilobyte it needs.
   *
   * @param weight the number of places, 1 or more
   * @throws RuntimeException the refusal, when fewer are free
   */
  public Place enter(String owner, int weight) {
    if (weight < 1) {
      throw new IllegalArgumentException("a weight of %d; expected at least 1".formatted(weight));
    }
    if (mostWaiting > 0) {
      throw new IllegalStateException("this limit has a queue; enter with a callback");
    }
    Place[] entered = new Place[1];
    enter(new Place(owner, weight, place -> entered[0] = place));
    return entered[0];
  }

  /** The number of running items, for a gauge. */
  public synchronized int running() {
    return running;
  }

  /** The number of waiting items. */
  public synchronized int waiting() {
    return waiting.size();
  }
}
