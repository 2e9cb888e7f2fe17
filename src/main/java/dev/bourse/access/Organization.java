package dev.bourse.access;

/**
 * A customer: the owner of clusters, keys, tokens and members.
 *
 * @param orgId its identifier in every path and answer
 * @param display its name for people
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

  /** One whose API tokens all may write ssh keys. */
  public Organization(String orgId, String display, String kind) {
    this(orgId, display, kind, false);
  }
}
