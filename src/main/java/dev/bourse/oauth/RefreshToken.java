package dev.bourse.oauth;

import dev.bourse.core.SecretPrefix;
import dev.bourse.core.Secrets;
import java.util.random.RandomGenerator;

/**
 * A refresh token: a secret shared by all tokens of its family, and, except for the first token, a
 * secret of its own. The store holds the digests of the shared part and of the newest token of each
 * family. So a used token is recognized by its shared part, and differs from the newest, without a
 * row of its own; and a token of a family cannot be forged without one.
 *
 * @param text as the client holds it
 */
record RefreshToken(String text) {
  /** The prefix of refresh tokens, by which scanners find leaked ones. */
  private static final String PREFIX = SecretPrefix.REFRESH_TOKEN.text();

  private static final int FAMILY_LENGTH = PREFIX.length() + Secrets.LENGTH;

  /** Whether a text has the form of a refresh token. */
  static boolean isOne(String text) {
    return text.startsWith(PREFIX);
  }

  /** The first of a new family. */
  static RefreshToken first(RandomGenerator random) {
    return new RefreshToken(PREFIX + Secrets.next(random));
  }

  /** The next token of this one's family. */
  RefreshToken next(RandomGenerator random) {
    return new RefreshToken(family() + Secrets.next(random));
  }

  private String family() {
    return text.substring(0, Math.min(text.length(), FAMILY_LENGTH));
  }

  /** The stored digest of the family's shared part. */
  String familySha256() {
    return Secrets.stored(family());
  }

  /** The stored digest of the token while it is the newest. */
  String sha256() {
    return Secrets.stored(text);
  }

  /** The stored digest of the token while it is the newest. */
  @Override
  public String toString() {
    return PREFIX + "…";
  }
}
