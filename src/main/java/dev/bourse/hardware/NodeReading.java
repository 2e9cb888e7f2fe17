package dev.bourse.hardware;

import dev.bourse.capacity.Allocation;
import dev.bourse.schemas.vm.GpuMetricsJson;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What this process knows of a held node's GPUs.
 *
 * @param node the node's name on its cluster's surface
 * @param held the allocation
 * @param heardAtMillis the time of the last report; null if there was none within an hour
 * @param gpus the latest measurements of each GPU; all are unknown if the node is silent
 */
public record NodeReading(
    String node, Allocation held, @Nullable Long heardAtMillis, List<GpuMetricsJson> gpus) {
  public NodeReading {
    gpus = List.copyOf(gpus);
  }
}
