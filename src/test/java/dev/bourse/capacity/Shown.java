package dev.bourse.capacity;

/** Publishes clusters as their owners do. */
public final class Shown {
  private Shown() {}

  public static void publish(Clusters clusters, Cluster cluster) {
    clusters.publish(cluster);
  }
}
