package dev.bourse.audit;

/**
 * One row of the audit trail, but for its id, which the store assigns in increasing order.
 *
 * @param atMillis when
 * @param orgId the organization it is about, {@link Trails#PLATFORM} for none
 * @param actor {@code token:<id>}, {@code member:<username>}, {@code operator:<name>} or {@code
 *     system:<part>}
 * @param action what was done, such as {@code vm_capacity_put}
 * @param subject the cluster's name, or the organization for rows about keys and tokens
 * @param detail the recorded arguments, for people
 */
public record AuditRow(
    long atMillis, String orgId, String actor, String action, String subject, String detail) {}
