package dev.bourse.capacity;

import dev.bourse.access.Principal;
import dev.bourse.audit.AuditRow;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;

/** What clusters want to be told of. The market raises it, once a tick at most. */
public final class AlertService {
  private final ClusterAccess access;
  private final ClusterOwners owners;

  public AlertService(Clusters clusters, ClusterOwners owners) {
    this.access = new ClusterAccess(clusters, Cluster.Kind.VM);
    this.owners = owners;
  }

  /**
   * A cluster with its alerts.
   *
   * @param cluster the cluster it names, if any
   */
  public Cluster readAlerts(Principal caller, Optional<String> cluster) {
    return access.resolve(caller, cluster).cluster();
  }

  /**
   * Sets all thresholds of a cluster; those left out are told no more. Neither the version nor the
   * write cadence knows of it: no node comes or goes by it.
   *
   * @param cluster the cluster it names, if any
   * @param detail the thresholds, as the trail records them
   */
  public Future<Cluster> writeAlerts(
      Principal caller, Optional<String> cluster, Alerts.Thresholds thresholds, String detail) {
    return owners
        .submit(
            access.resolve(caller, cluster).cluster().name(),
            (state, now) -> written(state, caller, thresholds, detail, now))
        .map(ClusterView::cluster);
  }

  private static Transition written(
      Cluster cluster, Principal caller, Alerts.Thresholds thresholds, String detail, long now) {
    Capacity.requireLive(cluster);
    Cluster.Draft draft = cluster.draft();
    draft.alerts = cluster.alerts().with(thresholds);
    return new Transition(
        cluster,
        draft.build(),
        List.of(),
        new AuditRow(
            now, cluster.orgId(), caller.actor(), "vm_alerts_put", cluster.name(), detail));
  }
}
