package dev.bourse.nodes;

import org.jspecify.annotations.Nullable;

/**
 * The result of an examination of a machine.
 *
 * @param holding the allocation that the machine is prepared for
 * @param health the health of its hardware
 * @param baseline the digest of its baseline, the list of the configuration that root owns, as last
 *     taken or accepted on the machine; null without one
 */
public record Examination(Holding holding, Health health, @Nullable String baseline) {}
