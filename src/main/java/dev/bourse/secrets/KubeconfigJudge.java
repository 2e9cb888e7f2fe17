package dev.bourse.secrets;

import static dev.bourse.secrets.SecretText.BASE64;
import static dev.bourse.secrets.SecretText.BASE64URL;
import static dev.bourse.secrets.SecretText.DOT;
import static dev.bourse.secrets.SecretText.EQUALS;
import static dev.bourse.secrets.SecretText.NOTHING;

/**
 * Finds a client key of a kubeconfig, or a token up to {@value #NEAR} bytes after its list of
 * users.
 */
final class KubeconfigJudge implements SecretRule.Judge {
  /** A kubeconfig of some hundred clusters, where each certificate takes a few KB. */
  private static final int NEAR = 256 * 1024;

  private static final int KEY = 64;
  private static final int TOKEN = 16;

  /** Where the last list of users started; far before the file if there was none. */
  private long users = -NEAR - 1L;

  @Override
  public int judge(SecretText text, int at, int after) {
    int first = text.at(at);
    if (first == 'u') {
      boolean quoted = text.has(after, ":") || text.has(after, "\":");
      if (text.at(after - 1) == ':' ? text.startsLine(at) : quoted) {
        users = text.offset(at);
      }
      return NOTHING;
    }
    if (first == 't' && text.offset(at) - users > NEAR) {
      return NOTHING;
    }
    // The keyword may include the separator; the name ends before it.
    int nameEnd = text.at(after - 1) == ':' ? after - 1 : after;
    int start = text.value(nameEnd);
    if (start == NOTHING) {
      return NOTHING;
    }
    if (first == 'c') {
      int end = text.run(start, BASE64, start + KEY);
      return end - start == KEY && text.randomness.isVaried(text.bytes, start, end) ? at : NOTHING;
    }
    int end = text.run(start, BASE64 | BASE64URL | DOT | EQUALS, start + Randomness.JUDGED);
    return end - start >= TOKEN && text.startsWord(at) && text.isRandom(start, end) ? at : NOTHING;
  }
}
