package dev.bourse.events;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Clusters;
import dev.bourse.events.Subscriber.EncodedEntry;
import dev.bourse.events.Subscriber.Threat;
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
 * The listeners of one cluster's events in this process. A change is read and encoded once, however
 * many there are; changes during a read are read together afterwards.
 */
final class Topic {
  private static final Logger LOG = LoggerFactory.getLogger(Topic.class);

  /** Entries of one read; further ones are read next. */
  private static final int ENTRIES = 1_000;

  /** A rival's bid of at least this percentage of the cluster's ceiling is close. */
  private static final int CLOSE_PERCENT = 95;

  private final String cluster;
  private final Clusters clusters;
  private final ActivityStore activity;
  private final Future<Void> ready;

  // The following are guarded by this object.
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
    // No listener has seen an earlier state, so the first tick that differs is news.
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

  /** Completes when the position in the cluster's activity is known. */
  Future<Void> ready() {
    return ready;
  }

  synchronized void add(Listener subscriber) {
    subscribers.add(subscriber);
  }

  /** Removes a listener; returns whether any is left. */
  synchronized boolean remove(Listener subscriber) {
    subscribers.remove(subscriber);
    return !subscribers.isEmpty();
  }

  synchronized Threat threat() {
    return threat;
  }

  /** Reads the cluster's changes, if there are any. */
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
        .onSuccess(entries -> publish(after, entries))
        .onFailure(
            e -> {
              // The events are sent with the next change.
              LOG.warn(
                  "cannot read events of cluster {}; will retry at its next change: {}",
                  cluster,
                  e.toString());
              finish(false);
            });
  }

  private void publish(ActivityStore.Position after, List<ActivityStore.StoredActivity> entries) {
    clusters
        .find(cluster)
        .map(ClusterView::fixed)
        .ifPresent(
            view -> {
              if (moveTo(view, entries)) {
                Update update = Update.of(after.id(), encode(entries, view.cluster().kind()), view);
                each(subscriber -> subscriber.take(update));
              }
            });
    finish(entries.size() == ENTRIES);
  }

  /** Returns whether there is anything to send. */
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

  static List<EncodedEntry> encode(
      List<ActivityStore.StoredActivity> entries, Cluster.Kind surface) {
    List<EncodedEntry> told = new ArrayList<>();
    entries.forEach(
        e ->
            told.add(
                new EncodedEntry(e.id(), EventText.node(e, surface).orElseGet(Buffer::buffer))));
    return told;
  }

  /**
   * Handles a tick of the cluster's pool: updates the warning, and sends the state if prices or
   * terms changed.
   */
  void onTick(Quote quote, long nowMillis) {
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
      // Terms, switches and prices change without a change of the cluster.
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
    // Uses the upper end of the rival's step, so that no warning comes too late.
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

  /** Calls listeners in one task for each event loop, however many of them it has. */
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
