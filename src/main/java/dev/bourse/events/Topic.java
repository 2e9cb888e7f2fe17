package dev.bourse.events;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Clusters;
import dev.bourse.events.Subscriber.Threat;
import dev.bourse.events.Subscriber.Told;
import dev.bourse.events.Subscriber.Update;
import dev.bourse.pools.PoolPrices;
import dev.bourse.pools.PriceGrid;
import dev.bourse.pools.Quote;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All who follow one cluster's events in this process. A change is read and encoded once, however
 * many follow the cluster; changes that come while one is being read are told together.
 */
final class Topic {
  private static final Logger LOG = LoggerFactory.getLogger(Topic.class);

  /** Entries of one reading; what is beyond them is read next. */
  private static final int ENTRIES = 1_000;

  /** A rival's bid of at least this percentage of the own ceiling is close. */
  private static final int CLOSE_PERCENT = 95;

  private final String cluster;
  private final Clusters clusters;
  private final ActivityStore activity;
  private final Future<Void> ready;

  // Below: guarded by this object.
  private final Set<Listener> subscribers = new LinkedHashSet<>();
  private ActivityStore.Position position = ActivityStore.Position.START;
  private boolean isBusy = true;
  private boolean changedMeanwhile;
  private @Nullable ClusterView lastView;
  private @Nullable PoolPrices lastPrices;
  private Threat threat = Threat.NONE;

  Topic(String cluster, Clusters clusters, ActivityStore activity) {
    this.cluster = cluster;
    this.clusters = clusters;
    this.activity = activity;
    this.ready = activity.findNewestAction(cluster).map(this::begin);
  }

  private synchronized Void begin(ActivityStore.Position newest) {
    position = newest;
    // Nobody has been shown an earlier one, so whatever differs from it at a tick is news.
    clusters
        .find(cluster)
        .ifPresent(
            view -> {
              lastView = view.fixed();
              lastPrices = view.prices();
            });
    isBusy = false;
    if (changedMeanwhile) {
      changed();
    }
    return null;
  }

  /** Once it is known where the cluster's activity stands. */
  Future<Void> ready() {
    return ready;
  }

  synchronized void add(Listener subscriber) {
    subscribers.add(subscriber);
  }

  /** Whether anybody is left. */
  synchronized boolean remove(Listener subscriber) {
    subscribers.remove(subscriber);
    return !subscribers.isEmpty();
  }

  synchronized Threat threat() {
    return threat;
  }

  /** The cluster changed, or may have. */
  synchronized void changed() {
    changedMeanwhile = isBusy;
    if (!isBusy) {
      isBusy = true;
      read(position);
    }
  }

  private void read(ActivityStore.Position after) {
    activity
        .listActionsAfter(cluster, after, ENTRIES)
        .onSuccess(entries -> tell(after, entries))
        .onFailure(
            e -> {
              // What is not told now is told with the next change.
              LOG.warn("events of cluster {} wait: {}", cluster, e.toString());
              finish(false);
            });
  }

  private void tell(ActivityStore.Position after, List<ActivityStore.StoredActivity> entries) {
    clusters
        .find(cluster)
        .map(ClusterView::fixed)
        .ifPresent(
            view -> {
              if (moveTo(view, entries)) {
                Update update = Update.of(after.id(), told(entries), view);
                each(subscriber -> subscriber.take(update));
              }
            });
    finish(entries.size() == ENTRIES);
  }

  /** Whether there is anything to tell. */
  private synchronized boolean moveTo(
      ClusterView view, List<ActivityStore.StoredActivity> entries) {
    ClusterView before = lastView;
    PoolPrices pricesBefore = lastPrices;
    lastView = view;
    lastPrices = view.prices();
    position = position.after(entries);
    return !entries.isEmpty()
        || before == null
        || pricesBefore == null
        || !pricesBefore.agreesWith(lastPrices)
        || !before.encoded().etag().equals(view.encoded().etag());
  }

  private synchronized void finish(boolean isMore) {
    if (changedMeanwhile || isMore) {
      changedMeanwhile = false;
      read(position);
    } else {
      isBusy = false;
    }
  }

  static List<Told> told(List<ActivityStore.StoredActivity> entries) {
    List<Told> told = new ArrayList<>();
    entries.forEach(e -> told.add(new Told(e.id(), EventText.node(e).orElseGet(Buffer::buffer))));
    return told;
  }

  /** The pool of the cluster ticked: who is close, and whether anything changed but the cluster. */
  void ticked(Quote quote, long nowMillis) {
    ClusterView view = clusters.find(cluster).orElse(null);
    if (view == null) {
      return;
    }
    Threat now = threat(view.cluster(), quote, nowMillis);
    boolean isNews;
    boolean isStale;
    synchronized (this) {
      isNews = now.isClose() != threat.isClose();
      threat = now;
      // Terms, switches and prices change without the cluster.
      isStale =
          lastView != null
              && lastPrices != null
              && (!lastView.isSameAs(view) || !lastPrices.agreesWith(view.prices()));
    }
    if (isNews) {
      each(subscriber -> subscriber.take(now));
    }
    if (isStale) {
      changed();
    }
  }

  boolean isOf(String pool) {
    return clusters.find(cluster).filter(v -> v.cluster().pool().equals(pool)).isPresent();
  }

  private synchronized Threat threat(Cluster held, Quote quote, long nowMillis) {
    long ceiling = held.ceilingCents();
    long rival = quote.rivalry().rivalCents(held.orgId());
    // The upper end of the rival's step counts, so that no warning comes too late.
    if (held.posture() == Cluster.Posture.STATIC
        || rival == 0
        || PriceGrid.stepEnd(rival) * 100 < ceiling * CLOSE_PERCENT) {
      return Threat.NONE;
    }
    int exposed =
        (int)
            held.allocations().stream()
                .filter(a -> a.state() == Allocation.State.ACTIVE)
                .filter(a -> !a.isShielded(nowMillis, ceiling))
                .count();
    return exposed == 0
        ? Threat.NONE
        : new Threat(true, EventText.warning(position.id(), ceiling, rival, exposed));
  }

  /** One turn of each event loop, however many of its clients follow the cluster. */
  private void each(Consumer<Listener> action) {
    Map<Executor, List<Listener>> byLoop = new HashMap<>();
    synchronized (this) {
      for (Listener subscriber : subscribers) {
        byLoop.computeIfAbsent(subscriber.loop(), loop -> new ArrayList<>()).add(subscriber);
      }
    }
    byLoop.forEach((loop, some) -> loop.execute(() -> some.forEach(action)));
  }
}
