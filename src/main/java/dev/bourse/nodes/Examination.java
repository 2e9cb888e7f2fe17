package dev.bourse.nodes;

import org.jspecify.annotations.Nullable;

/**
 * What a visit to a machine found.
 *
 * @param holding the allocation that the machine is prepared for
 * @param health its hardware
 * @param baseline the digest of the list of what root owns, as it was last taken or accepted on the
 *     machine; null if there is none
 */
public record Examination(Holding holding, Health health, @Nullable String baseline) {}
