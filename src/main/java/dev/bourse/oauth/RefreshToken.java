package dev.bourse.oauth;

import dev.bourse.core.SecretPrefix;
import dev.bourse.core.Secrets;
import java.util.random.RandomGenerator;

/**
 * A refresh token: a secret that all tokens of its family begin with, and then, of each but the
 * first, one of its own. What is stored of a family are the digests of that beginning and of its
 * newest token. So a token that was used before is known by its beginning and told from the newest
 * by the rest, without a row of its own, and nobody can make up one of a family they have no token
 * of.
 *
 * @param text as the client holds it
 */
record RefreshToken(String text) {
  /** How they begin, so that a scan for leaked secrets finds them. */
  private static final String PREFIX = SecretPrefix.REFRESH_TOKEN.text();

  private static final int FAMILY_LENGTH = PREFIX.length() + Secrets.LENGTH;

  /** Whether it could be one. */
  static boolean isOne(String text) {
    return text.startsWith(PREFIX);
  }

  /** The first of a new family. */
  static RefreshToken first(RandomGenerator random) {
    return new RefreshToken(PREFIX + Secrets.next(random));
  }

  /** The next of this one's family. */
  RefreshToken next(RandomGenerator random) {
    return new RefreshToken(family() + Secrets.next(random));
  }

  private String family() {
    return text.substring(0, Math.min(text.length(), FAMILY_LENGTH));
  }

  /** What is stored of what its family has in common. */
  String familySha256() {
    return Secrets.stored(family());
  }

  /** What is stored of it while it is the newest. */
  String sha256() {
    return Secrets.stored(text);
  }

  /** Not the secret: a token must not reach a log by accident. */
  @Override
  public String toString() {
    return PREFIX + "…";
  }
}
