package dev.bourse.core;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.random.RandomGenerator;
import java.util.zip.CRC32;

/**
 * The text form of a token: {@code brs_<token_id>_<secret>} for an organization's API token, {@code
 * bro_…} for an operator's, {@code brn_…} for that of a node's agent.
 *
 * <p>The secret's last six characters are the CRC-32 (IEEE 802.3) of the others in base 62. The
 * checksum exposes a mistyped token before any look-up, and lets scanners recognize leaked tokens
 * in text.
 *
 * @param kind the kind of holder
 * @param tokenId 12 base-62 characters, public
 * @param secret 38 base-62 characters, shown once
 */
public record TokenSecret(Kind kind, String tokenId, String secret) {
  /** The kind of holder, recognizable by the prefix. */
  public enum Kind {
    ORGANIZATION(SecretPrefix.API_TOKEN),
    OPERATOR(SecretPrefix.OPERATOR_TOKEN),
    NODE(SecretPrefix.NODE_CREDENTIAL);

    private final String prefix;

    Kind(SecretPrefix prefix) {
      this.prefix = prefix.text();
    }
  }

  private static final int PREFIX_LENGTH = SecretPrefix.LENGTH;

  private static final int ID_LENGTH = 12;
  private static final int SECRET_LENGTH = 38;
  private static final int CHECKSUM_LENGTH = 6;
  private static final int LENGTH = PREFIX_LENGTH + ID_LENGTH + 1 + SECRET_LENGTH;

  /** A new API token; the source must be a cryptographic one in production. */
  public static TokenSecret mint(RandomGenerator random) {
    return mint(Kind.ORGANIZATION, random);
  }

  /** A new token of a kind; the source must be a cryptographic one in production. */
  public static TokenSecret mint(Kind kind, RandomGenerator random) {
    String body = Ids.base62(random, SECRET_LENGTH - CHECKSUM_LENGTH);
    return new TokenSecret(kind, Ids.base62(random, ID_LENGTH), body + checksum(body));
  }

  /**
   * The token of an id whose secret follows from a digest of 32 bytes; empty if the id is not one
   * of a token.
   */
  public static Optional<TokenSecret> derive(Kind kind, String tokenId, byte[] digest) {
    if (tokenId.length() != ID_LENGTH || !isBase62(tokenId, 0, ID_LENGTH)) {
      return Optional.empty();
    }
    String body = Ids.base62(new BigInteger(1, digest), SECRET_LENGTH - CHECKSUM_LENGTH);
    return Optional.of(new TokenSecret(kind, tokenId, body + checksum(body)));
  }

  /** The parts of a token string; empty if its form or checksum is wrong. */
  public static Optional<TokenSecret> parse(String token) {
    int separator = PREFIX_LENGTH + ID_LENGTH;
    if (token.length() != LENGTH
        || token.charAt(separator) != '_'
        || !isBase62(token, PREFIX_LENGTH, separator)
        || !isBase62(token, separator + 1, LENGTH)
        || !token.endsWith(checksum(token.substring(separator + 1, LENGTH - CHECKSUM_LENGTH)))) {
      return Optional.empty();
    }
    for (Kind kind : Kind.values()) {
      if (token.startsWith(kind.prefix)) {
        return Optional.of(
            new TokenSecret(
                kind, token.substring(PREFIX_LENGTH, separator), token.substring(separator + 1)));
      }
    }
    return Optional.empty();
  }

  /** SHA-256 of the secret, the only part of it that is stored. */
  public byte[] sha256() {
    return Digests.sha256(secret.getBytes(StandardCharsets.ISO_8859_1));
  }

  /** The whole token. */
  public String text() {
    return kind.prefix + tokenId + '_' + secret;
  }

  /** Omits the secret, so that a token cannot reach a log by accident. */
  @Override
  public String toString() {
    return kind.prefix + tokenId + "_…";
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
