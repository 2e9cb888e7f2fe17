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

/** Reads of the past of an organization's VM clusters: their activity and their history. */
public final class ActivityService {
  /** Entries of one page of activity. */
  static final int ACTIVITY_PAGE = 30;

  private final ClusterAccess access;
  private final ActivityStore activity;
  private final HistoryStore history;
  private final Clock clock;

  public ActivityService(
      Clusters clusters, ActivityStore activity, HistoryStore history, Clock clock) {
    this.access = new ClusterAccess(clusters, Cluster.Kind.VM);
    this.activity = activity;
    this.history = history;
    this.clock = clock;
  }

  /** One page of activity, newest first, of the cluster named or bound, else of all. */
  public Future<Page<ActivityStore.StoredActivity>> listActivity(
      Principal caller, Optional<String> cluster, int page, Optional<String> who) {
    List<String> names =
        access.resolveAll(caller, cluster).stream().map(v -> v.cluster().name()).toList();
    return activity
        .listNewest(names, who)
        .map(
            merged -> {
              int from = (int) Math.min(merged.size(), (long) page * ACTIVITY_PAGE);
              return Page.of(merged.subList(from, merged.size()), ACTIVITY_PAGE);
            });
  }

  /** A cluster's past and what it is measured in. */
  public record ClusterHistory(String cluster, int gpusPerNode, History history) {}

  /** The last so many hours in buckets. */
  public Future<ClusterHistory> readHistory(
      Principal caller, Optional<String> cluster, double hours) {
    ClusterView view = access.resolve(caller, cluster);
    return history
        .read(view.cluster(), view.pool(), History.Buckets.of(hours, clock.millis()))
        .map(past -> new ClusterHistory(view.cluster().name(), view.pool().gpusPerNode(), past));
  }
}
