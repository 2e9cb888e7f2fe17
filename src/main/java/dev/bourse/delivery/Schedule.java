package dev.bourse.delivery;

import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Which queue is tried next. A queue has what waits for one endpoint from one source, in order, and
 * one attempt at a time. Endpoints take turns, however many of their queues are due, and each has a
 * bounded number of attempts under way. One whose last attempt failed has one, and all such
 * together have half of what there is, so that receivers that do not answer leave room for those
 * that do.
 *
 * <p>Pure state: the caller tells the time and makes the attempts. Not for several threads. A
 * choice looks at each endpoint that has something waiting, at some 20 ns each.
 */
public final class Schedule {
  /** What waits for one endpoint from one source. */
  public record Queue(String endpointId, String source) {}

  private record Due(long atMillis, long order, Queue queue) {}

  private static final Comparator<Due> BY_TIME =
      Comparator.comparingLong(Due::atMillis).thenComparingLong(Due::order);

  /** An attempt under way. */
  private static final class Attempt {
    /** Whether its endpoint was failing when it began. */
    final boolean isDoubtful;

    /** Whether something new came to wait meanwhile. */
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

  /**
   * Attempts at once at endpoints that failed last: a quarter of the threads that look up hosts, so
   * that name servers which never answer do not hold those up whose receivers are well.
   */
  private static final int MOST_DOUBTFUL = DeliveryClient.RESOLVER_THREADS / 4;

  private final int most;
  private final int mostOfEndpoint;

  /** In the order of their turns: whoever began something last stands last. */
  private final Map<String, Endpoint> endpoints = new LinkedHashMap<>();

  private long order;
  private int underWay;
  private int doubtful;
  private int queues;

  /**
   * @param most attempts under way at once
   * @param mostOfEndpoint those of one endpoint
   */
  public Schedule(int most, int mostOfEndpoint) {
    this.most = most;
    this.mostOfEndpoint = mostOfEndpoint;
  }

  /**
   * Something waits in a queue, which may be tried from a time on; an earlier time that is known
   * stands. While the queue is being tried it is enough to know that something follows.
   */
  public void put(Queue queue, long dueMillis) {
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
    } else {
      endpoint.remove(known);
    }
    endpoint.put(new Due(dueMillis, order++, queue));
  }

  /** Whether something is known to wait in a queue, or is being tried. */
  public boolean knows(Queue queue) {
    Endpoint endpoint = endpoints.get(queue.endpointId());
    return endpoint != null
        && (endpoint.byQueue.containsKey(queue) || endpoint.underWay.containsKey(queue));
  }

  /** The next queue to try, which is under way from now on; empty when none may begin. */
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
            ? endpoint.underWay.isEmpty() && doubtful < Math.min(most / 2, MOST_DOUBTFUL)
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

  /** An attempt succeeded; whether more waits in the queue shows when it is tried again. */
  public void delivered(Queue queue, long nowMillis) {
    end(queue).isFailing = false;
    put(queue, nowMillis);
  }

  /**
   * An attempt failed, and is to be made again from a time on; at once when something came to wait
   * meanwhile, as what is tried may have changed.
   */
  public void failed(Queue queue, long dueMillis, long nowMillis) {
    long due = isFollowed(queue) ? nowMillis : dueMillis;
    end(queue).isFailing = true;
    put(queue, due);
  }

  /** No attempt was made: what waits is not due before a time, unless it changed meanwhile. */
  public void postponed(Queue queue, long dueMillis, long nowMillis) {
    long due = isFollowed(queue) ? nowMillis : dueMillis;
    end(queue);
    put(queue, due);
  }

  private boolean isFollowed(Queue queue) {
    Attempt attempt = endpoint(queue).underWay.get(queue);
    return attempt != null && attempt.isFollowed;
  }

  /** No attempt was made: nothing waits in the queue, unless it came meanwhile. */
  public void emptied(Queue queue, long nowMillis) {
    boolean isFollowed = isFollowed(queue);
    Endpoint endpoint = end(queue);
    if (isFollowed) {
      put(queue, nowMillis);
    } else if (endpoint.waiting.isEmpty() && endpoint.underWay.isEmpty()) {
      endpoints.remove(queue.endpointId());
    }
  }

  private Endpoint endpoint(Queue queue) {
    Endpoint endpoint = endpoints.get(queue.endpointId());
    if (endpoint == null) {
      throw new IllegalStateException("not under way: " + queue);
    }
    return endpoint;
  }

  private Endpoint end(Queue queue) {
    Endpoint endpoint = endpoint(queue);
    Attempt attempt = endpoint.underWay.remove(queue);
    if (attempt == null) {
      throw new IllegalStateException("not under way: " + queue);
    }
    underWay--;
    doubtful -= attempt.isDoubtful ? 1 : 0;
    return endpoint;
  }

  /** Forgets all that waits, and how endpoints did; attempts under way go on. */
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

  /** Attempts under way. */
  public int underWay() {
    return underWay;
  }

  /** Queues in which something waits. */
  public int queues() {
    return queues;
  }
}
