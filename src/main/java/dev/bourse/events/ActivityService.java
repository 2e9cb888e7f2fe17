package dev.bourse.events;

import dev.bourse.access.Principal;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterAccess;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Clusters;
import dev.bourse.core.Page;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.List;
import java.util.Optional;

/** Reads the activity and history of an organization's clusters of one surface. */
public final class ActivityService {
  /** Entries of one page of activity. */
  static final int ACTIVITY_PAGE = 30;

  private final Cluster.Kind surface;
  private final ClusterAccess access;
  private final ActivityStore activity;
  private final HistoryStore history;
  private final Clock clock;

  /**
   * @param surface the kind of the clusters
   */
  public ActivityService(
      Cluster.Kind surface,
      Clusters clusters,
      ActivityStore activity,
      HistoryStore history,
      Clock clock) {
    this.surface = surface;
    this.access = new ClusterAccess(clusters, surface);
    this.activity = activity;
    this.history = history;
    this.clock = clock;
  }

  /** Returns a page of activity, newest first, of the named or bound cluster, otherwise of all. */
  public Future<Page<ActivityStore.StoredActivity>> listActivity(
      Principal caller, Optional<String> cluster, int page, Optional<String> who) {
    return names(caller, cluster)
        .compose(names -> activity.listNewest(names, who))
        .map(
            merged -> {
              int from = (int) Math.min(merged.size(), (long) page * ACTIVITY_PAGE);
              return Page.of(merged.subList(from, merged.size()), ACTIVITY_PAGE);
            });
  }

  private Future<List<String>> names(Principal caller, Optional<String> cluster) {
    return cluster.isPresent() || caller.cluster() != null
        ? Future.succeededFuture(List.of(access.resolve(caller, cluster).cluster().name()))
        : activity.listNames(caller.org().orgId(), surface);
  }

  /** A cluster's history and the size of its nodes. */
  public record ClusterHistory(String cluster, int gpusPerNode, HistorySeries history) {}

  /** Returns the last hours in buckets. */
  public Future<ClusterHistory> readHistory(
      Principal caller, Optional<String> cluster, double hours) {
    ClusterView view = access.resolve(caller, cluster);
    return history
        .read(view.cluster(), view.pool(), HistorySeries.Buckets.of(hours, clock.millis()))
        .map(past -> new ClusterHistory(view.cluster().name(), view.pool().gpusPerNode(), past));
  }
}
