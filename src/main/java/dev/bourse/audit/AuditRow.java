package dev.bourse.audit;

/**
 * A row of the audit trail without its id, which the store assigns in increasing order.
 *
 * @param atMillis the time of the action
 * @param orgId the organization it is about, {@link Trails#PLATFORM} if there is none
 * @param actor {@code token:<id>}, {@code member:<username>}, {@code operator:<name>} or {@code
 *     system:<part>}
 * @param action the action, for example {@code vm_capacity_put}
 * @param subject the cluster's name, or the organization for rows about keys and tokens
 * @param detail the recorded arguments, as text for people
 */
public record AuditRow(
    long atMillis, String orgId, String actor, String action, String subject, String detail) {}
