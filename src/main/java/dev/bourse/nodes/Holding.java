package dev.bourse.nodes;

import org.jspecify.annotations.Nullable;

/**
 * A machine's answer about the allocation that it holds.
 *
 * @param nodeId the machine's id
 * @param allocationId the allocation that it is prepared for; null if it is clean
 * @param notice the last notice delivered on it; null without one since it started
 */
public record Holding(String nodeId, @Nullable String allocationId, @Nullable NodeNotice notice) {
  /** An answer without a notice. */
  public Holding(String nodeId, @Nullable String allocationId) {
    this(nodeId, allocationId, null);
  }
}
