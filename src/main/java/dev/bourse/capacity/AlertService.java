package dev.bourse.capacity;

import dev.bourse.access.Principal;
import dev.bourse.audit.AuditRow;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;

/** Reads and sets the alert thresholds of clusters. The market raises the alerts at its ticks. */
public final class AlertService {
  private final ClusterAccess access;
  private final ClusterOwners owners;

  /**
   * @param surface the kind of the clusters
   */
  public AlertService(Cluster.Kind surface, Clusters clusters, ClusterOwners owners) {
    this.access = new ClusterAccess(clusters, surface);
    this.owners = owners;
  }

  /**
   * Returns a cluster with its alerts.
   *
   * @param cluster the cluster that the call names; empty for the caller's only one
   */
  public Cluster readAlerts(Principal caller, Optional<String> cluster) {
    return access.resolve(caller, cluster).cluster();
  }

  /**
   * Replaces all thresholds of a cluster. An empty threshold turns its alert off. The write does
   * not change the version and is not subject to the write cadence, because it moves no node.
   *
   * @param cluster the cluster that the call names; empty for the caller's only one
   * @param detail the thresholds, as the audit trail records them
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
            now,
            cluster.orgId(),
            caller.actor(),
            cluster.kind() == Cluster.Kind.VM ? "vm_alerts_put" : "k8s_alerts_put",
            cluster.name(),
            detail));
  }
}
