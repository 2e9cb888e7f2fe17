package dev.bourse.nodes;

import org.jspecify.annotations.Nullable;

/**
 * What a machine says about itself.
 *
 * @param nodeId the machine
 * @param allocationId the allocation it is prepared for, null when it is clean
 * @param notice what its tenant's programs were told last, null for nothing since it started
 */
public record Holding(String nodeId, @Nullable String allocationId, @Nullable NodeNotice notice) {
  /** One whose programs were told nothing. */
  public Holding(String nodeId, @Nullable String allocationId) {
    this(nodeId, allocationId, null);
  }
}
