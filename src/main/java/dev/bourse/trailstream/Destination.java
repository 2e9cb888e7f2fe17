package dev.bourse.trailstream;

import dev.bourse.blob.s3.S3Config;
import dev.bourse.core.ApiException;
import java.util.Optional;

/**
 * The destination of a trail.
 *
 * @param text as members entered it
 * @param store the object store that it names; empty for an address that batches are posted to
 */
record Destination(String text, Optional<S3Config> store) {
  static final String FIELD = "destination";

  /** The format of an object store's prefix; time-outs are not configurable by members. */
  private static final String ACCEPTED_STORE =
      "s3://BUCKET/PREFIX?endpoint=https://HOST&region=REGION&path-style=true, each part after the"
          + " bucket optional";

  /**
   * Parses a destination; fails with {@code bad-request} for an invalid prefix of an object store.
   */
  static Destination of(String text) {
    if (!S3Config.isOne(text)) {
      return new Destination(text, Optional.empty());
    }
    if (text.contains("timeout=")) {
      throw ApiException.badField(FIELD, text, ACCEPTED_STORE);
    }
    try {
      return new Destination(text, Optional.of(S3Config.parse(text, Optional.empty())));
    } catch (IllegalArgumentException e) {
      throw ApiException.badField(FIELD, text, ACCEPTED_STORE);
    }
  }

  boolean isStore() {
    return store.isPresent();
  }
}
