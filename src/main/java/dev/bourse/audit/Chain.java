package dev.bourse.audit;

/**
 * One chain of seals: an owner's reads, or its writes. They are sealed apart because they are kept
 * for different times.
 *
 * @param orgId the organization, {@link Trails#PLATFORM} for the platform
 * @param isRead whether its rows record reads
 */
public record Chain(String orgId, boolean isRead) {}
