package dev.bourse.access;

/**
 * A customer: the owner of clusters, keys, tokens and members.
 *
 * @param orgId its identifier in every path and answer
 * @param display its name for people
 * @param kind {@code standard} or {@code public_research}; the public feed is open to the latter
 */
public record Organization(String orgId, String display, String kind) {
  public Organization {
    if (orgId.isEmpty()) {
      throw new IllegalArgumentException("an organization has an id");
    }
  }
}
