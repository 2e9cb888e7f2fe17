package dev.bourse.audit;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * Which part of a trail is asked for.
 *
 * @param reads whether rows of audited reads are shown beside the writes
 * @param limit how many entries were asked for, 1 to {@link #MAX_LIMIT}; empty when nothing was
 *     said
 * @param before only entries below this id; {@link Long#MAX_VALUE} for all
 */
public record TrailQuery(boolean reads, OptionalInt limit, long before) {
  /** Entries of a page unless the client says otherwise. */
  public static final int DEFAULT_LIMIT = 100;

  /** Longest page; more are asked for by {@code before}. */
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
   * What clients ask for with the parameters {@code reads}, {@code limit} and {@code before}. A
   * limit out of range is moved to the next bound.
   */
  public static TrailQuery of(String reads, Optional<Long> limit, Optional<Long> before) {
    return new TrailQuery(
        reads.equals("1"),
        limit.isEmpty()
            ? OptionalInt.empty()
            : OptionalInt.of((int) Math.max(1, Math.min(limit.get(), MAX_LIMIT))),
        before.orElse(Long.MAX_VALUE));
  }

  /** How many entries a page has at most. */
  int pageSize() {
    return limit.orElse(DEFAULT_LIMIT);
  }
}
