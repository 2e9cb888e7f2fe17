package dev.bourse.nodes;

/**
 * The ids of a tenant's login in one grant.
 *
 * @param uid the user and group id of the login, unique among all grants
 * @param gid the group id of the tenant's organization, the same in all its grants
 */
public record LoginIds(long uid, long gid) {}
