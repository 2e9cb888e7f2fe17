package dev.bourse.trailstream;

import dev.bourse.blob.s3.S3Config;
import dev.bourse.core.ApiError;
import java.util.Optional;

/**
 * Where a trail is sent.
 *
 * @param text as members wrote it
 * @param store the object store that it names; empty for an address that batches are posted to
 */
record Destination(String text, Optional<S3Config> store) {
  static final String FIELD = "destination";

  /**
   * What a prefix of an object store looks like. How long it is waited for is not theirs to say.
   */
  private static final String ACCEPTED_STORE =
      "s3://BUCKET/PREFIX?endpoint=https://HOST&region=REGION&path-style=true, each part behind the"
          + " bucket optional";

  /** Fails with {@code bad-request} when it is a prefix of an object store that is none. */
  static Destination of(String text) {
    if (!S3Config.isOne(text)) {
      return new Destination(text, Optional.empty());
    }
    if (text.contains("timeout=")) {
      throw ApiError.badField(FIELD, text, ACCEPTED_STORE);
    }
    try {
      return new Destination(text, Optional.of(S3Config.parse(text, Optional.empty())));
    } catch (IllegalArgumentException e) {
      throw ApiError.badField(FIELD, text, ACCEPTED_STORE);
    }
  }

  boolean isStore() {
    return store.isPresent();
  }
}
