package dev.bourse.nodes;

/**
 * The ids of a tenant's login in one grant.
 *
 * @param uid the login's user and group id, which no other grant has
 * @param gid the group id of the tenant's organization, the same in all its grants
 */
public record LoginIds(long uid, long gid) {}
