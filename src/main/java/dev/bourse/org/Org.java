package dev.bourse.org;

import org.jspecify.annotations.Nullable;

/**
 * An organization as operators see it.
 *
 * @param orgId its identifier, which is never reused
 * @param display its display name
 * @param kind {@code standard} or {@code public_research}
 * @param maxClusters the most clusters its members may create; null for the service's default
 * @param createdAtMillis when it was created
 * @param retiredAtMillis when it was retired, null if it was not
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
