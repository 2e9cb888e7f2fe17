package dev.bourse.audit;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * The requested part of a trail.
 *
 * @param reads whether rows of audited reads are included
 * @param limit the requested number of entries, 1 to {@link #MAX_LIMIT}; empty if the client gave
 *     none
 * @param before returns only entries below this id; {@link Long#MAX_VALUE} for all
 */
public record TrailQuery(boolean reads, OptionalInt limit, long before) {
  /** Entries of a page unless the client requests another number. */
  public static final int DEFAULT_LIMIT = 100;

  /** The longest page; clients continue with {@code before}. */
  public static final int MAX_LIMIT = 500;

  public TrailQuery {
    if (limit.isPresent() && (limit.getAsInt() < 1 || limit.getAsInt() > MAX_LIMIT)) {
      throw new IllegalArgumentException("limit: " + limit.getAsInt());
    }
    if (before < 1) {
      throw new IllegalArgumentException("before: " + before);
    }
  }

  /**
   * Returns the query for the parameters {@code reads}, {@code limit} and {@code before}. A limit
   * out of range is moved to the nearest bound.
   */
  public static TrailQuery of(String reads, Optional<Long> limit, Optional<Long> before) {
    return new TrailQuery(
        reads.equals("1"),
        limit.isEmpty()
            ? OptionalInt.empty()
            : OptionalInt.of((int) Math.max(1, Math.min(limit.get(), MAX_LIMIT))),
        before.orElse(Long.MAX_VALUE));
  }

  /** Returns the maximum number of entries of a page. */
  int pageSize() {
    return limit.orElse(DEFAULT_LIMIT);
  }
}
