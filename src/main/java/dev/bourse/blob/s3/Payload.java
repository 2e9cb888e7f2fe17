package dev.bourse.blob.s3;

import java.io.InputStream;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The bytes of one request, and their MD5, which verifies the store's copy.
 *
 * @param stream opens the bytes; each attempt opens them again
 * @param md5 computes the digest; called before the request if the bytes are complete, after it
 *     otherwise
 * @param isWhole false if the request is sent while its bytes still arrive
 */
record Payload(long bytes, Supplier<InputStream> stream, Supplier<byte[]> md5, boolean isWhole) {
  /** Returns the header {@code Content-MD5}, with which the store rejects altered bytes. */
  Optional<String> header() {
    return isWhole ? Optional.of(Base64.getEncoder().encodeToString(md5.get())) : Optional.empty();
  }

  /** Returns the entity tag that the store gives to a copy of these bytes. */
  String expectedTag() {
    return HexFormat.of().formatHex(md5.get());
  }
}
