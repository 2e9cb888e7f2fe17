package dev.bourse.market;

import dev.bourse.access.NodeAgent;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Clusters;
import dev.bourse.core.ApiException;
import dev.bourse.core.Bulkhead;
import dev.bourse.core.BulkheadPair;
import dev.bourse.core.ErrorCode;
import dev.bourse.nodes.NodeNotice;
import dev.bourse.signals.Signals;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Long polls of nodes' agents for the next notice of their node. A poll may be open at any process,
 * because each of them publishes the same states: the notice and its sequence are those that {@link
 * NoticeDelivery} computes, so the machine keeps the newer one, whichever way it came.
 *
 * <p>A poll holds a promise and no thread or timer. All polls of a process are kept on one context;
 * a published state of a cluster with polls makes it look at that cluster, and one timer ends the
 * polls whose time is over and looks at the clusters whose notices change with the time.
 */
public final class NoticePolls {
  /** Proxies and clients commonly time out after 30 s; this leaves a margin of 5 s. */
  private static final long MOST_MILLIS = 25_000;

  /**
   * Concurrent polls of one node: its agent has one, and one whose connection was cut may remain
   * until its time is over.
   */
  static final int MOST_PER_NODE = 2;

  private static final long SWEEP_MILLIS = 1_000;

  private final Clusters clusters;
  private final Clock clock;
  private final LongSupplier nanos;
  private final Executor home;
  private final BulkheadPair places;
  private final LongAdder answered = new LongAdder();

  /** The clusters with polls. Only {@link #home} changes it; publishers look up its keys. */
  private final Map<String, Group> groups = new ConcurrentHashMap<>();

  /** Clusters that {@link #home} was asked to look at. */
  private final Set<String> changed = ConcurrentHashMap.newKeySet();

  private boolean isEnded;

  /**
   * @param home runs tasks one after the other
   * @param nanos a monotonic clock
   * @param most concurrent polls of the process, shared fairly among organizations
   */
  NoticePolls(Clusters clusters, Clock clock, LongSupplier nanos, Executor home, int most) {
    this.clusters = clusters;
    this.clock = clock;
    this.nanos = nanos;
    this.home = home;
    this.places =
        new BulkheadPair(
            Bulkhead.of("polls for notices of this node", Integer.MAX_VALUE).sharing(MOST_PER_NODE),
            Bulkhead.of("polls for notices", most).sharingFairly());
    clusters.onPublished(this::notePublished);
  }

  /**
   * Returns polls that run on a context of their own.
   *
   * @param nanos a monotonic clock
   * @param most concurrent polls of the process, shared fairly among organizations
   */
  public static NoticePolls start(
      Vertx vertx, Clusters clusters, Clock clock, LongSupplier nanos, int most) {
    Context context = vertx.getOrCreateContext();
    NoticePolls polls =
        new NoticePolls(
            clusters, clock, nanos, task -> context.runOnContext(go -> task.run()), most);
    context.runOnContext(go -> vertx.setPeriodic(SWEEP_MILLIS, tick -> polls.sweep()));
    return polls;
  }

  /** Registers the metrics of polls. */
  public void registerMetrics(Signals signals) {
    signals.gauge("bourse_notice_polls", "Agents that wait for a notice here.", this::running);
    signals.counter(
        "bourse_notice_polls_answered_total",
        "Notices that agents received from this process.",
        answered::sum);
  }

  /** Returns the number of open polls. */
  int running() {
    return places.running();
  }

  /**
   * The last notice that a machine has.
   *
   * @param notice a notice or its withdrawal
   * @param sequence its sequence
   */
  record Known(NodeNotice notice, long sequence) {
    /** Returns the notice of a parameter {@code last}, which the contract's pattern accepts. */
    static Known parse(String last) {
      int end = last.lastIndexOf(':');
      return new Known(
          NodeNotice.parse(last.substring(0, end).replace(':', ' ')).orElseThrow(),
          Long.parseLong(last.substring(end + 1)));
    }
  }

  /**
   * Waits for a notice that is newer than the last one of a machine; returns at once if there is
   * one. Empty if there is none within the time. Fails with {@code unauthorized} when the
   * allocation ends, and with {@code overloaded} for too many polls of the node, of its
   * organization or in total.
   *
   * @param last the parameter {@code last} of the contract; empty if the machine has no notice
   * @param millis the longest wait
   * @param ifGone receives the action to run when the caller disconnects
   */
  Future<Optional<JsonObject>> next(
      NodeAgent agent, Optional<String> last, long millis, Consumer<Runnable> ifGone) {
    Optional<Known> known = last.map(Known::parse);
    Poll poll =
        new Poll(
            agent.allocationId(),
            known.map(Known::notice).filter(notice -> !notice.isWithdrawn()).orElse(null),
            known.map(Known::sequence).orElse(0L),
            nanos.getAsLong() + TimeUnit.MILLISECONDS.toNanos(Math.min(millis, MOST_MILLIS)),
            places.enter(agent.budgetKey(), agent.owner()),
            Promise.promise());
    home.execute(() -> begin(poll));
    ifGone.accept(() -> home.execute(() -> end(poll)));
    return poll.answer.future();
  }

  /** Ends all polls now, and refuses later ones, because the service is stopping. */
  public void end() {
    home.execute(
        () -> {
          isEnded = true;
          List.copyOf(groups.values()).forEach(group -> group.all().forEach(this::end));
        });
  }

  private void begin(Poll poll) {
    ClusterView view = clusters.findHolder(poll.allocationId).orElse(null);
    if (isEnded) {
      leave(poll);
      poll.answer.tryFail(
          ApiException.of(ErrorCode.OVERLOADED, "this process is stopping; ask again later"));
      return;
    }
    if (view == null) {
      fail(poll);
      return;
    }
    String name = view.cluster().name();
    poll.cluster = name;
    // Added before the state is read, so that no state is missed.
    Group group = groups.computeIfAbsent(name, Group::new);
    group.polls.computeIfAbsent(poll.allocationId, id -> new ArrayList<>(1)).add(poll);
    Cluster cluster = clusters.find(name).map(ClusterView::cluster).orElse(null);
    Allocation held = cluster == null ? null : group.findOpen(cluster, poll.allocationId);
    if (cluster == null || held == null) {
      fail(poll);
      return;
    }
    long now = clock.millis();
    // Not later than before: other polls of the cluster may wait for a change that is due.
    group.changesAtMillis = Math.min(group.changesAtMillis, changesAtMillis(cluster, now));
    look(poll, cluster, held, now);
  }

  private static long changesAtMillis(Cluster cluster, long nowMillis) {
    return ProgramNotices.nextChangeMillis(cluster, nowMillis).orElse(Long.MAX_VALUE);
  }

  /** Runs on the publisher's thread. */
  private void notePublished(Cluster cluster) {
    String name = cluster.name();
    if (groups.containsKey(name) && changed.add(name)) {
      home.execute(
          () -> {
            changed.remove(name);
            look(name);
          });
    }
  }

  /** Answers the polls of a cluster whose notice has changed or whose allocation has ended. */
  private void look(String name) {
    Group group = groups.get(name);
    if (group == null) {
      return;
    }
    Map<String, List<Poll>> ended = new HashMap<>(group.polls);
    Cluster cluster = clusters.find(name).map(ClusterView::cluster).orElse(null);
    if (cluster != null) {
      long now = clock.millis();
      group.changesAtMillis = changesAtMillis(cluster, now);
      for (Allocation held : cluster.allocations()) {
        List<Poll> polls = held.isOpen() ? ended.remove(held.allocationId()) : null;
        if (polls != null) {
          List.copyOf(polls).forEach(poll -> look(poll, cluster, held, now));
        }
      }
    }
    ended.values().forEach(polls -> List.copyOf(polls).forEach(this::fail));
  }

  private void look(Poll poll, Cluster cluster, Allocation held, long nowMillis) {
    ProgramNotices.next(cluster, held, poll.last, nowMillis)
        // A process that learns of changes late must not undo a newer notice.
        .filter(due -> due.sequence() > poll.sequence)
        .ifPresent(
            due -> {
              answered.increment();
              leave(poll);
              poll.answer.tryComplete(
                  Optional.of(new JsonObject(due.notice().toJson(due.sequence()))));
            });
  }

  /** Ends the polls whose time is over, and looks at clusters whose notices change by now. */
  void sweep() {
    long now = clock.millis();
    long monotonic = nanos.getAsLong();
    for (Group group : List.copyOf(groups.values())) {
      if (now >= group.changesAtMillis) {
        look(group.name);
      }
      for (Poll poll : group.all()) {
        if (poll.deadlineNanos - monotonic <= 0) {
          end(poll);
        }
      }
    }
  }

  private void end(Poll poll) {
    leave(poll);
    poll.answer.tryComplete(Optional.empty());
  }

  private void fail(Poll poll) {
    leave(poll);
    poll.answer.tryFail(ApiException.of(ErrorCode.UNAUTHORIZED, "the node's allocation has ended"));
  }

  private void leave(Poll poll) {
    poll.places.close();
    Group group = poll.cluster == null ? null : groups.get(poll.cluster);
    List<Poll> polls = group == null ? null : group.polls.get(poll.allocationId);
    if (group != null && polls != null && polls.remove(poll) && polls.isEmpty()) {
      group.polls.remove(poll.allocationId);
      if (group.polls.isEmpty()) {
        groups.remove(group.name);
      }
    }
  }

  /** The polls of a cluster's nodes. Used on {@link #home}. */
  private static final class Group {
    private final String name;
    private final Map<String, List<Poll>> polls = new HashMap<>();

    /** The next time at which notices change although the cluster does not. */
    private long changesAtMillis = Long.MAX_VALUE;

    private @Nullable Cluster indexed;
    private Map<String, Allocation> open = Map.of();

    Group(String name) {
      this.name = name;
    }

    /** Finds an open allocation by an index, because a large cluster has thousands of polls. */
    @SuppressWarnings("ReferenceEquality") // Another object is indexed again.
    @Nullable Allocation findOpen(Cluster cluster, String allocationId) {
      if (indexed != cluster) {
        indexed = cluster;
        open = new HashMap<>();
        for (Allocation held : cluster.allocations()) {
          if (held.isOpen()) {
            open.put(held.allocationId(), held);
          }
        }
      }
      return open.get(allocationId);
    }

    List<Poll> all() {
      return polls.values().stream().flatMap(List::stream).toList();
    }
  }

  /** One poll. Used on {@link #home}. */
  private static final class Poll {
    private final String allocationId;
    private final @Nullable NodeNotice last;
    private final long sequence;
    private final long deadlineNanos;
    private final BulkheadPair.Places places;
    private final Promise<Optional<JsonObject>> answer;

    /** The cluster that it is kept under; null before it begins. */
    private @Nullable String cluster;

    Poll(
        String allocationId,
        @Nullable NodeNotice last,
        long sequence,
        long deadlineNanos,
        BulkheadPair.Places places,
        Promise<Optional<JsonObject>> answer) {
      this.allocationId = allocationId;
      this.last = last;
      this.sequence = sequence;
      this.deadlineNanos = deadlineNanos;
      this.places = places;
      this.answer = answer;
    }
  }
}
