package dev.bourse.simulation;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Declaration;
import dev.bourse.capacity.Hold;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A cluster's demand and allocations as a text; equal states have equal texts. */
final class Contents {
  private Contents() {}

  /** Returns the stored state; "nothing" if the cluster is not stored. */
  static String stored(World world, String cluster) {
    String allocations =
        String.join(
            ",",
            world
                .server
                .engine()
                .query(
                    "SELECT allocation_id || ' ' || node_id || ' ' || state AS found FROM"
                        + " allocation WHERE cluster = ? AND gone_at IS NULL ORDER BY found",
                    List.of(cluster),
                    row -> row.text("found")));
    return world
        .server
        .engine()
        .query(
            "SELECT version, max_gpus, ceiling_cents, hold_stage, retired_at, maintenance"
                + " FROM cluster WHERE name = ?",
            List.of(cluster),
            row ->
                text(
                    row.integer("version"),
                    row.integerOrNull("max_gpus"),
                    row.integerOrNull("ceiling_cents"),
                    row.textOrNull("hold_stage"),
                    row.integerOrNull("retired_at"),
                    row.truth("maintenance"),
                    allocations))
        .stream()
        .findFirst()
        .orElse("nothing");
  }

  /** Returns the state that a process shows; "nothing" if it does not know the cluster. */
  static String shown(Replica process, String cluster) {
    return Clients.shown(process, cluster).map(Contents::text).orElse("nothing");
  }

  private static String text(Cluster cluster) {
    Declaration declared = cluster.declared();
    Hold hold = cluster.hold();
    return text(
        cluster.version(),
        declared == null ? null : Long.valueOf(declared.maxGpus()),
        declared == null ? null : Long.valueOf(declared.ceilingCents()),
        hold == null ? null : hold.stage().name(),
        cluster.retiredAtMillis(),
        cluster.maintenance(),
        cluster.allocations().stream()
            .map(Contents::text)
            .sorted()
            .collect(Collectors.joining(",")));
  }

  private static String text(Allocation allocation) {
    return allocation.allocationId() + " " + allocation.nodeId() + " " + allocation.state();
  }

  private static String text(
      long version,
      @Nullable Long maxGpus,
      @Nullable Long ceilingCents,
      @Nullable String hold,
      @Nullable Long retiredAt,
      boolean isInMaintenance,
      String allocations) {
    return "version %d: %s GPUs at %s cents, hold %s, retired %s, maintenance %s, nodes [%s]"
        .formatted(version, maxGpus, ceilingCents, hold, retiredAt, isInMaintenance, allocations);
  }
}
