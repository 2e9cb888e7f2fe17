package dev.bourse.capacity;

/** Publishes clusters as their owners do. */
public final class Shown {
  private Shown() {}

  public static void publish(Clusters clusters, Cluster cluster) {
    clusters.publish(cluster);
  }

  /** Publishes a cluster after a member has retired it. */
  public static void publishRetired(Clusters clusters, Cluster cluster) {
    clusters.publish(SelfService.retire("member:ann", false).apply(cluster, Sample.T0).next());
  }
}
