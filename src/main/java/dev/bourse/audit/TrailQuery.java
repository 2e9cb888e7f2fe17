package dev.bourse.audit;

import dev.bourse.core.ApiError;
import java.math.BigInteger;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Pattern;

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

  private static final Pattern INTEGER = Pattern.compile("-?[0-9]+");

  public TrailQuery {
    if (limit.isPresent() && (limit.getAsInt() < 1 || limit.getAsInt() > MAX_LIMIT)) {
      throw new IllegalArgumentException("limit: " + limit.getAsInt());
    }
    if (before < 1) {
      throw new IllegalArgumentException("before: " + before);
    }
  }

  /**
   * Reads the parameters {@code reads}, {@code limit} and {@code before} as clients write them. An
   * integer is one however long: a limit out of range is moved to the next bound.
   *
   * @throws ApiError {@code bad-request} naming the first parameter at fault and its value
   */
  public static TrailQuery parse(
      Optional<String> reads, Optional<String> limit, Optional<String> before) {
    boolean withReads =
        switch (reads.orElse("0")) {
          case "0" -> false;
          case "1" -> true;
          default -> throw ApiError.badField("reads", reads.get(), "1 or 0");
        };
    OptionalInt entries = OptionalInt.empty();
    if (limit.isPresent()) {
      BigInteger asked =
          integer("limit", limit.get(), "an integer; one out of 1 to " + MAX_LIMIT + " is clamped");
      entries =
          OptionalInt.of(
              asked.max(BigInteger.ONE).min(BigInteger.valueOf(MAX_LIMIT)).intValueExact());
    }
    long below = Long.MAX_VALUE;
    if (before.isPresent()) {
      String expected = "a positive integer, the id of an entry";
      BigInteger id = integer("before", before.get(), expected);
      if (id.signum() <= 0) {
        throw ApiError.badField("before", before.get(), expected);
      }
      below = id.min(BigInteger.valueOf(Long.MAX_VALUE)).longValueExact();
    }
    return new TrailQuery(withReads, entries, below);
  }

  /** How many entries a page has at most. */
  int pageSize() {
    return limit.orElse(DEFAULT_LIMIT);
  }

  private static BigInteger integer(String name, String text, String expected) {
    if (!INTEGER.matcher(text).matches()) {
      throw ApiError.badField(name, text, expected);
    }
    return new BigInteger(text);
  }
}
