package dev.bourse.access;

import dev.bourse.core.Digests;
import dev.bourse.core.Ids;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.random.RandomGenerator;
import java.util.zip.CRC32;

/**
 * The text form of an API token, {@code brs_<token_id>_<secret>}.
 *
 * <p>The secret's last six characters are the CRC-32 (IEEE 802.3) of the others in base 62, so that
 * a mistyped token is told from a real one before any look-up, and a leaked one is found in text.
 *
 * @param tokenId 12 base-62 characters, public
 * @param secret 38 base-62 characters, shown once
 */
public record TokenSecret(String tokenId, String secret) {
  private static final String PREFIX = "brs_";
  private static final int ID_LENGTH = 12;
  private static final int SECRET_LENGTH = 38;
  private static final int CHECKSUM_LENGTH = 6;
  private static final int LENGTH = PREFIX.length() + ID_LENGTH + 1 + SECRET_LENGTH;

  /** A new token; the source must be a cryptographic one in production. */
  public static TokenSecret mint(RandomGenerator random) {
    String body = Ids.base62(random, SECRET_LENGTH - CHECKSUM_LENGTH);
    return new TokenSecret(Ids.base62(random, ID_LENGTH), body + checksum(body));
  }

  /** The parts of a token string, empty when its shape or checksum is wrong. */
  public static Optional<TokenSecret> parse(String token) {
    int separator = PREFIX.length() + ID_LENGTH;
    if (token.length() != LENGTH
        || !token.startsWith(PREFIX)
        || token.charAt(separator) != '_'
        || !isBase62(token, PREFIX.length(), separator)
        || !isBase62(token, separator + 1, LENGTH)) {
      return Optional.empty();
    }
    String body = token.substring(separator + 1, LENGTH - CHECKSUM_LENGTH);
    return token.endsWith(checksum(body))
        ? Optional.of(
            new TokenSecret(
                token.substring(PREFIX.length(), separator), token.substring(separator + 1)))
        : Optional.empty();
  }

  /** SHA-256 of the secret: all that is kept of it. */
  public byte[] sha256() {
    return Digests.sha256(secret.getBytes(StandardCharsets.ISO_8859_1));
  }

  /** The whole token. */
  public String text() {
    return PREFIX + tokenId + '_' + secret;
  }

  /** Not the secret: a token must not reach a log by accident. */
  @Override
  public String toString() {
    return PREFIX + tokenId + "_…";
  }

  private static boolean isBase62(String text, int from, int to) {
    for (int i = from; i < to; i++) {
      char c = text.charAt(i);
      if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))) {
        return false;
      }
    }
    return true;
  }

  private static String checksum(String body) {
    CRC32 crc = new CRC32();
    crc.update(body.getBytes(StandardCharsets.ISO_8859_1));
    return Ids.base62(crc.getValue(), CHECKSUM_LENGTH);
  }
}
