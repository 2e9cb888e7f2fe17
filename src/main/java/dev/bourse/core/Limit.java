package dev.bourse.core;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A bulkhead: how much of one kind of work runs at a time, how much more may wait for its turn, and
 * how much of either one owner may have, so that nobody keeps everybody else out. What does not fit
 * is refused at once.
 *
 * <p>Work that waits begins in the order it came, on the thread that gives a place back. May be
 * used by several threads at once.
 */
public final class Limit {
  /** By then some of what runs is usually done. */
  private static final long RETRY_MILLIS = 1_000;

  private final int most;
  private final int mostWaiting;
  private final int mostOfOwner;
  private final boolean isFair;
  private final Function<String, ? extends RuntimeException> refusal;

  // The three below are guarded by this object; an owner of nothing is not in the map.
  private final Map<String, Integer> ofOwner = new HashMap<>();
  private final Deque<Place> waiting = new ArrayDeque<>();
  private int running;

  private Limit(
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
   * A limit that refuses with {@code overloaded}. Nothing waits and owners have no share, unless
   * that is asked for.
   *
   * @param what the work, in the plural, as the refused read of it
   * @param most how much of it runs at a time
   */
  public static Limit of(String what, int most) {
    return new Limit(
        most,
        0,
        Integer.MAX_VALUE,
        false,
        bound ->
            ApiError.retryLater(
                ErrorCode.OVERLOADED, "limit reached: %s %s".formatted(bound, what), RETRY_MILLIS));
  }

  /** The same limit, of which so much more may wait. */
  public Limit queueing(int mostWaiting) {
    return new Limit(most, mostWaiting, mostOfOwner, isFair, refusal);
  }

  /** The same limit, of which one owner may have so much, running and waiting together. */
  public Limit sharing(int mostOfOwner) {
    return new Limit(most, mostWaiting, mostOfOwner, isFair, refusal);
  }

  /**
   * The same limit, of which one owner may have no more than is free. An owner that is alone has
   * half; each that comes later finds as much as it may have itself, and the last place is for an
   * owner that has none. A fixed share either slows an owner that is alone, or lets a few together
   * take everything.
   */
  public Limit sharingFairly() {
    return new Limit(most, mostWaiting, mostOfOwner, true, refusal);
  }

  /**
   * The same limit that fails with something else.
   *
   * @param refusal is given how much there is already
   */
  public Limit refusing(Function<String, ? extends RuntimeException> refusal) {
    return new Limit(most, mostWaiting, mostOfOwner, isFair, refusal);
  }

  /** A place for work, to be given back when the work is done. */
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

    /** Gives the place back, once; whoever waits longest has it then. */
    @Override
    public void close() {
      Place next;
      synchronized (Limit.this) {
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
   * Begins work now, or once there is a place for it.
   *
   * @param owner whose work it is; any text when owners have no share
   * @param work is given the place, on this thread or on that which gives one back
   * @throws RuntimeException the refusal, when there is no place and none to wait in either
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
   * A place for work that begins now.
   *
   * @throws RuntimeException the refusal, when there is none
   */
  public Place enter(String owner) {
    return enter(owner, 1);
  }

  /**
   * Places for work that begins now and counts for several, such as the kilobytes it takes.
   *
   * @param weight how many, 1 or more
   * @throws RuntimeException the refusal, when there are not so many
   */
  public Place enter(String owner, int weight) {
    if (weight < 1) {
      throw new IllegalArgumentException("a weight of %d; expected at least 1".formatted(weight));
    }
    if (mostWaiting > 0) {
      throw new IllegalStateException("work of this limit may have to wait");
    }
    Place[] entered = new Place[1];
    enter(new Place(owner, weight, place -> entered[0] = place));
    return entered[0];
  }

  /** How much runs now: what a gauge shows. */
  public synchronized int running() {
    return running;
  }

  /** How much waits now. */
  public synchronized int waiting() {
    return waiting.size();
  }
}
