package dev.bourse.audit;

/**
 * A chain of seals: the reads or the writes of an owner. They are sealed separately because their
 * retention times differ.
 *
 * @param orgId the organization, {@link Trails#PLATFORM} for the platform
 * @param isRead whether its rows record reads
 */
public record Chain(String orgId, boolean isRead) {}
