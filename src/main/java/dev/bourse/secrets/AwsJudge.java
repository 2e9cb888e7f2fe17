package dev.bourse.secrets;

import static dev.bourse.secrets.SecretText.BASE64;
import static dev.bourse.secrets.SecretText.NOTHING;
import static dev.bourse.secrets.SecretText.WORD;

/**
 * Finds an AWS access key id with a secret access key near it: 40 characters of base64 that start
 * up to {@value #BEHIND} bytes before the id or {@value #AHEAD} after it. An id alone is not a
 * credential.
 */
final class AwsJudge implements SecretRule.Judge {
  private static final int ID = 16;
  private static final int BEHIND = 256;
  private static final int AHEAD = 1024;

  /**
   * The offset up to which the secrets near an id were searched for. The places near two ids can
   * overlap, and the overlap is searched once.
   */
  private long searched;

  @Override
  public int judge(SecretText text, int at, int after) {
    if (!text.startsWord(at) || !isId(text, after)) {
      return NOTHING;
    }
    int start = Math.max(at - BEHIND, text.place(searched));
    int limit = at + AHEAD;
    int i = start;
    while (i < limit && i < text.to()) {
      if (!text.is(i, BASE64)) {
        i++;
        continue;
      }
      if (text.is(i - 1, BASE64)) {
        i = text.run(i, BASE64, limit);
        continue;
      }
      if (SecretShapes.awsSecretEnd(text, i) != NOTHING && text.isRandom(i, i + 40)) {
        return at;
      }
      i++;
    }
    searched = Math.max(searched, text.offset(limit));
    return NOTHING;
  }

  private static boolean isId(SecretText text, int start) {
    int end = text.run(start, WORD, start + ID + 2);
    boolean fits = end - start == ID || (end - start == ID + 1 && text.isBinary(end));
    return fits
        && isUpperCase(text, start, start + ID)
        && !Randomness.isPlaceholder(text.bytes, start, start + ID);
  }

  private static boolean isUpperCase(SecretText text, int from, int to) {
    for (int i = from; i < to; i++) {
      if (text.at(i) > 'Z') {
        return false;
      }
    }
    return true;
  }
}
