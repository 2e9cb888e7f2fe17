package dev.bourse.secrets;

import static dev.bourse.secrets.SecretText.BASE64URL;
import static dev.bourse.secrets.SecretText.NOTHING;

import java.util.List;

/**
 * Finds a private or symmetric JSON Web Key (RFC 7517): {@code "kty"} and, before or after it,
 * {@code "d"} or {@code "k"} with a key's bytes.
 */
final class JwkJudge implements SecretRule.Judge {
  static final List<String> KEYWORDS =
      List.of("\"kty\"", "\"kty\\", "\"d\":", "\"d\" ", "\"d\\\"", "\"k\":", "\"k\" ", "\"k\\\"");

  /** The size of a key of 4096 bits; its members may be in any order. */
  private static final int NEAR = 4096;

  private static final int KEY = 40;

  private long type = -NEAR - 1L;
  private long key = -NEAR - 1L;

  @Override
  public int judge(SecretText text, int at, int after) {
    long place = text.offset(at);
    if (text.at(at + 2) == 't') {
      type = place;
      return place - key <= NEAR ? at + 1 : NOTHING;
    }
    int start = text.value(at + 2);
    if (start == NOTHING) {
      return NOTHING;
    }
    int end = text.run(start, BASE64URL, start + KEY);
    if (end - start < KEY || !text.isRandom(start, end)) {
      return NOTHING;
    }
    key = place;
    return place - type <= NEAR ? at + 1 : NOTHING;
  }
}
