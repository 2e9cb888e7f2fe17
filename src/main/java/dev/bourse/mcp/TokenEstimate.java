package dev.bourse.mcp;

import io.vertx.core.buffer.Buffer;

/**
 * An estimate of the tokens that a text takes in a model's context: one for each byte that is not
 * an ASCII letter or digit, and one for each three ASCII letters or digits in a row.
 */
final class TokenEstimate {
  private static final int CHARS_OF_TOKEN = 3;

  private TokenEstimate() {}

  static int of(Buffer text) {
    int tokens = 0;
    int run = 0;
    for (int i = 0; i < text.length(); i++) {
      if (Character.isLetterOrDigit(text.getByte(i))) {
        tokens += run % CHARS_OF_TOKEN == 0 ? 1 : 0;
        run++;
      } else {
        tokens++;
        run = 0;
      }
    }
    return tokens;
  }
}
