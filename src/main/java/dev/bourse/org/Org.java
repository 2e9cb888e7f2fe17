package dev.bourse.org;

import org.jspecify.annotations.Nullable;

/**
 * An organization as operators see it.
 *
 * @param orgId its identifier, which is never used again
 * @param display its name for people
 * @param kind {@code standard} or {@code public_research}
 * @param maxClusters how many clusters its members may bring it to; null for the service's own
 * @param createdAtMillis since when it exists
 * @param retiredAtMillis since when it is retired, null while it is not
 */
public record Org(
    String orgId,
    String display,
    String kind,
    @Nullable Integer maxClusters,
    long createdAtMillis,
    @Nullable Long retiredAtMillis) {
  public Org {
    if (orgId.isEmpty()) {
      throw new IllegalArgumentException("an organization has an id");
    }
  }
}
