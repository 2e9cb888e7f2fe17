package dev.bourse.delivery;

import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Chooses the queue that is tried next. A queue holds the items for one endpoint from one source,
 * in order, and has one attempt at a time. Endpoints take turns, however many of their queues are
 * due, and each has a bounded number of concurrent attempts. An endpoint whose last attempt failed
 * has one, and all failing endpoints together have a bounded share, so that receivers that do not
 * answer leave room for others.
 *
 * <p>Pure state: the caller passes the time and makes the attempts. Not thread-safe. A choice scans
 * the endpoints with pending items, at some 20 ns each.
 */
public final class Schedule {
  /** The pending items of one endpoint from one source. */
  public record Queue(String endpointId, String source) {}

  private record Due(long atMillis, long order, Queue queue) {}

  private static final Comparator<Due> BY_TIME =
      Comparator.comparingLong(Due::atMillis).thenComparingLong(Due::order);

  /** An attempt in progress. */
  private static final class Attempt {
    /** Whether its endpoint was failing when it started. */
    final boolean isDoubtful;

    /** Whether a new item arrived during the attempt. */
    boolean isFollowed;

    Attempt(boolean isDoubtful) {
      this.isDoubtful = isDoubtful;
    }
  }

  private static final class Endpoint {
    final TreeSet<Due> waiting = new TreeSet<>(BY_TIME);
    final Map<Queue, Due> byQueue = new HashMap<>();
    final Map<Queue, Attempt> underWay = new HashMap<>();
    boolean isFailing;

    void put(Due due) {
      byQueue.put(due.queue(), due);
      waiting.add(due);
    }

    void remove(Due due) {
      byQueue.remove(due.queue());
      waiting.remove(due);
    }
  }

  private final int most;
  private final int mostOfEndpoint;
  private final int mostOfFailing;

  /** In the order of turns: the endpoint that started an attempt last is at the end. */
  private final Map<String, Endpoint> endpoints = new LinkedHashMap<>();

  private long order;
  private int underWay;
  private int doubtful;
  private int queues;

  /**
   * @param most concurrent attempts
   * @param mostOfEndpoint concurrent attempts of one endpoint
   * @param mostOfFailing concurrent attempts of all failing endpoints together
   */
  public Schedule(int most, int mostOfEndpoint, int mostOfFailing) {
    this.most = most;
    this.mostOfEndpoint = mostOfEndpoint;
    this.mostOfFailing = mostOfFailing;
  }

  /**
   * Adds an item that is due at a time; an earlier due time of the queue is kept. While the queue
   * is being tried, only the fact that another item follows is recorded.
   */
  public void put(Queue queue, long dueMillis) {
    put(queue, dueMillis, false);
  }

  /**
   * Adds an item as {@link #put(Queue, long)} does.
   *
   * @param isFailing whether earlier attempts at the item failed; if the queue is not known, its
   *     endpoint then counts as failing until an attempt succeeds
   */
  public void put(Queue queue, long dueMillis, boolean isFailing) {
    Endpoint endpoint = endpoints.computeIfAbsent(queue.endpointId(), id -> new Endpoint());
    Attempt attempt = endpoint.underWay.get(queue);
    if (attempt != null) {
      attempt.isFollowed = true;
      return;
    }
    Due known = endpoint.byQueue.get(queue);
    if (known != null && known.atMillis() <= dueMillis) {
      return;
    }
    if (known == null) {
      queues++;
      endpoint.isFailing |= isFailing;
    } else {
      endpoint.remove(known);
    }
    endpoint.put(new Due(dueMillis, order++, queue));
  }

  /** Makes a queue that waits due at an earlier time. */
  public void bringForward(Queue queue, long dueMillis) {
    Endpoint endpoint = endpoints.get(queue.endpointId());
    if (endpoint != null && endpoint.byQueue.containsKey(queue)) {
      put(queue, dueMillis);
    }
  }

  /** Returns true if a queue is known to have an item, or is being tried. */
  public boolean knows(Queue queue) {
    Endpoint endpoint = endpoints.get(queue.endpointId());
    return endpoint != null
        && (endpoint.byQueue.containsKey(queue) || endpoint.underWay.containsKey(queue));
  }

  /** Returns the next queue to try, and marks it as in progress; empty if none may start. */
  public Optional<Queue> take(long nowMillis) {
    if (underWay >= most) {
      return Optional.empty();
    }
    for (Map.Entry<String, Endpoint> each : endpoints.entrySet()) {
      Endpoint endpoint = each.getValue();
      if (mayBegin(endpoint) && endpoint.waiting.first().atMillis() <= nowMillis) {
        endpoints.remove(each.getKey());
        endpoints.put(each.getKey(), endpoint);
        return Optional.of(begin(endpoint));
      }
    }
    return Optional.empty();
  }

  private boolean mayBegin(Endpoint endpoint) {
    return !endpoint.waiting.isEmpty()
        && (endpoint.isFailing
            ? endpoint.underWay.isEmpty() && doubtful < mostOfFailing
            : endpoint.underWay.size() < mostOfEndpoint);
  }

  private Queue begin(Endpoint endpoint) {
    Due due = endpoint.waiting.first();
    endpoint.remove(due);
    queues--;
    endpoint.underWay.put(due.queue(), new Attempt(endpoint.isFailing));
    underWay++;
    doubtful += endpoint.isFailing ? 1 : 0;
    return due.queue();
  }

  /** Records a successful attempt; the next attempt shows whether the queue has more. */
  public void recordSuccess(Queue queue, long nowMillis) {
    end(queue).isFailing = false;
    put(queue, nowMillis);
  }

  /**
   * Records a failed attempt. It is repeated at a time, or at once if an item arrived during the
   * attempt, because the endpoint may have changed.
   */
  public void recordFailure(Queue queue, long dueMillis, long nowMillis) {
    long due = isFollowed(queue) ? nowMillis : dueMillis;
    end(queue).isFailing = true;
    put(queue, due);
  }

  /**
   * Records a skipped attempt: the queue is due at a time, or at once if an item arrived meanwhile.
   */
  public void postpone(Queue queue, long dueMillis, long nowMillis) {
    long due = isFollowed(queue) ? nowMillis : dueMillis;
    end(queue);
    put(queue, due);
  }

  private boolean isFollowed(Queue queue) {
    Attempt attempt = endpoint(queue).underWay.get(queue);
    return attempt != null && attempt.isFollowed;
  }

  /** Records that the queue was empty, unless an item arrived meanwhile. */
  public void recordEmpty(Queue queue, long nowMillis) {
    boolean isFollowed = isFollowed(queue);
    Endpoint endpoint = end(queue);
    if (isFollowed) {
      put(queue, nowMillis);
    } else if (endpoint.waiting.isEmpty() && endpoint.underWay.isEmpty()) {
      endpoints.remove(queue.endpointId());
    }
  }

  /** Records a failed attempt as {@link #recordFailure} does, but forgets the queue. */
  public void dropFailed(Queue queue, long nowMillis) {
    endpoint(queue).isFailing = true;
    recordEmpty(queue, nowMillis);
  }

  private Endpoint endpoint(Queue queue) {
    Endpoint endpoint = endpoints.get(queue.endpointId());
    if (endpoint == null) {
      throw new IllegalStateException("not in progress: " + queue);
    }
    return endpoint;
  }

  private Endpoint end(Queue queue) {
    Endpoint endpoint = endpoint(queue);
    Attempt attempt = endpoint.underWay.remove(queue);
    if (attempt == null) {
      throw new IllegalStateException("not in progress: " + queue);
    }
    underWay--;
    doubtful -= attempt.isDoubtful ? 1 : 0;
    return endpoint;
  }

  /** Forgets all queues and the state of endpoints; attempts in progress continue. */
  public void clear() {
    endpoints.values().removeIf(endpoint -> endpoint.underWay.isEmpty());
    endpoints
        .values()
        .forEach(
            endpoint -> {
              endpoint.waiting.clear();
              endpoint.byQueue.clear();
              endpoint.isFailing = false;
            });
    queues = 0;
  }

  /** Returns the number of attempts in progress. */
  public int underWay() {
    return underWay;
  }

  /** Returns the number of non-empty queues. */
  public int queues() {
    return queues;
  }
}
