package dev.bourse.nodes;

import org.jspecify.annotations.Nullable;

/**
 * What a machine says about itself.
 *
 * @param nodeId the machine
 * @param allocationId the allocation it is prepared for, null when it is clean
 */
public record Holding(String nodeId, @Nullable String allocationId) {}
