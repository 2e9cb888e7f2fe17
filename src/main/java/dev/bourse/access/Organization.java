package dev.bourse.access;

/**
 * A customer: the owner of clusters, keys, tokens and members.
 *
 * @param orgId its id in every path and answer
 * @param display its display name
 * @param kind {@code standard} or {@code public_research}; the public feed is open to the latter
 * @param sshKeysNeedWrite whether its API tokens need {@code capacity:write} to add and revoke ssh
 *     keys
 */
public record Organization(String orgId, String display, String kind, boolean sshKeysNeedWrite) {
  public Organization {
    if (orgId.isEmpty()) {
      throw new IllegalArgumentException("an organization has an id");
    }
  }

  /** Creates an organization whose API tokens may all write ssh keys. */
  public Organization(String orgId, String display, String kind) {
    this(orgId, display, kind, false);
  }
}
