package dev.bourse.secrets;

import static dev.bourse.secrets.SecretText.BASE64;
import static dev.bourse.secrets.SecretText.NOTHING;

import java.nio.charset.StandardCharsets;
import java.util.Base64;

/**
 * Finds a registry password in a container client's configuration: {@code "auth"} under {@code
 * "auths"}, the base64 of {@code name:password}.
 */
final class DockerJudge implements SecretRule.Judge {
  /** The greatest distance of an entry from the start of its list, in bytes. */
  private static final int NEAR = 64 * 1024;

  private static final int LONGEST = 4096;
  private static final int SHORTEST_PASSWORD = 6;

  private long auths = -NEAR - 1L;

  @Override
  public int judge(SecretText text, int at, int after) {
    if (text.has(after, "s\"") || text.has(after, "s\\\"")) {
      auths = text.offset(at);
      return NOTHING;
    }
    boolean named = text.has(after, "\"") || text.has(after, "\\\"");
    if (!named || text.offset(at) - auths > NEAR) {
      return NOTHING;
    }
    int start = text.value(after);
    if (start == NOTHING) {
      return NOTHING;
    }
    int end = text.run(start, BASE64, start + LONGEST);
    int length = (end - start) / 4 * 4 + ((end - start) % 4 == 1 ? 0 : (end - start) % 4);
    byte[] encoded = new byte[length];
    System.arraycopy(text.bytes, start, encoded, 0, length);
    byte[] decoded = Base64.getDecoder().decode(encoded);
    int colon = new String(decoded, StandardCharsets.ISO_8859_1).indexOf(':');
    return colon > 0
            && decoded.length - colon > SHORTEST_PASSWORD
            && !Randomness.isPlaceholder(decoded, colon + 1, decoded.length)
        ? at + 1
        : NOTHING;
  }
}
