package dev.bourse.secrets;

import static dev.bourse.secrets.SecretText.BASE64;
import static dev.bourse.secrets.SecretText.NOTHING;

import dev.bourse.secrets.SecretRule.Judge;
import java.util.List;

/** Private keys in formats other than PEM. */
final class KeyShapes {
  /** Version 0, the algorithm RSA without parameters, and an octet string (RFC 5208). */
  private static final String PKCS8_RSA = "\2\1\0\60\15\6\11\52\206\110\206\367\15\1\1\1\5\0\4";

  /** Version 0 and the algorithm of elliptic curves; its curve follows. */
  private static final String PKCS8_EC = "\2\1\0\60\23\6\7\52\206\110\316\75\2\1";

  private static final String PKCS8_EC_384 = "\2\1\0\60\20\6\7\52\206\110\316\75\2\1";

  /** Version 0, Ed25519 (RFC 8410) and 32 octets in two octet strings. */
  private static final String PKCS8_ED25519 = "\2\1\0\60\5\6\3\53\145\160\4\42\4\40";

  /** Version 0 and a modulus of 128 bytes or more (RFC 8017). */
  private static final String PKCS1_RSA = "\2\1\0\2\202";

  private static final String PKCS1_RSA_1024 = "\2\1\0\2\201\201\0";

  /** Version 1 and an octet string of the curve's length (RFC 5915). */
  private static final List<String> SEC1 = List.of("\2\1\1\4\40", "\2\1\1\4\60", "\2\1\1\4\102");

  /** The public exponent 65537, which nearly every RSA key has. */
  private static final String EXPONENT = "\2\3\1\0\1";

  private static final int WIREGUARD = 43;
  private static final int PUTTY_LINES = 8 * 1024;
  private static final int KEY_VALUE = 40;

  private KeyShapes() {}

  static List<SecretRule> rules() {
    return List.of(
        rule(KeyShapes::pkcs8, List.of(PKCS8_RSA, PKCS8_EC, PKCS8_EC_384, PKCS8_ED25519)),
        rule(KeyShapes::pkcs1, List.of(PKCS1_RSA, PKCS1_RSA_1024)),
        rule(KeyShapes::sec1, SEC1),
        rule(KeyShapes::openSsh, List.of("ssh-key-v1\0")),
        rule(KeyShapes::putty, List.of("PuTTY-User-Key-File-")),
        rule(KeyShapes::named, List.of("teKey", "te_key", "TE_KEY", "edKey")),
        new SecretRule("private-key", JwkJudge.KEYWORDS, file -> new JwkJudge()));
  }

  private static SecretRule rule(Judge judge, List<String> keywords) {
    return SecretRule.of("private-key", judge, keywords);
  }

  /** PKCS #8: an algorithm identifier that occurs only in private keys, within a sequence. */
  private static int pkcs8(SecretText text, int at, int after) {
    return sequence(text, at);
  }

  private static int pkcs1(SecretText text, int at, int after) {
    int start = sequence(text, at);
    int modulus = text.at(at + 4) == 0x82 ? at + 7 : at + 6;
    int length = text.at(at + 4) == 0x82 ? text.at(at + 5) << 8 | text.at(at + 6) : text.at(at + 5);
    return start != NOTHING && length > 0 && length <= 2049 && text.has(modulus + length, EXPONENT)
        ? start
        : NOTHING;
  }

  /** SEC1: the key is followed by its curve, its public half, or the end of the sequence. */
  private static int sec1(SecretText text, int at, int after) {
    int start = sequence(text, at);
    int end = after + text.at(after - 1);
    int next = text.at(end);
    boolean fits = next == 0xa0 || next == 0xa1;
    return start != NOTHING && fits && text.randomness.isVaried(text.bytes, after, end)
        ? start
        : NOTHING;
  }

  /** The start of the sequence whose first member is at this place. */
  private static int sequence(SecretText text, int at) {
    for (int header = 2; header <= 4; header++) {
      int start = at - header;
      int form = text.at(start + 1);
      boolean fits =
          switch (header) {
            case 2 -> form > 0x20 && form < 0x80;
            case 3 -> form == 0x81;
            default -> form == 0x82;
          };
      if (fits && text.at(start) == 0x30) {
        return start;
      }
    }
    return NOTHING;
  }

  private static int openSsh(SecretText text, int at, int after) {
    boolean isKey = text.at(after) == 0 && text.at(after + 1) == 0;
    return isKey && text.hasBefore(at, "open") ? at - "open".length() : NOTHING;
  }

  /** The heading of a PuTTY key and its private lines. */
  private static int putty(SecretText text, int at, int after) {
    if (!text.is(after, SecretText.DIGIT)) {
      return NOTHING;
    }
    for (int i = after; i < after + PUTTY_LINES && text.at(i) != NOTHING; i++) {
      if (text.at(i) == 'P' && text.has(i, "Private-Lines:")) {
        int line = i + "Private-Lines:".length();
        int digits =
            text.run(text.run(line, SecretText.SPACE, line + 4), SecretText.DIGIT, line + 8);
        int start = text.skipBlanks(digits, digits + 32);
        int end = text.run(start, BASE64, start + KEY_VALUE);
        return end - start == KEY_VALUE && text.randomness.isVaried(text.bytes, start, end)
            ? at
            : NOTHING;
      }
      if (text.at(i) == 'P' && text.has(i, "PuTTY-User-Key-File-")) {
        return NOTHING; // the next keyword is judged on its own
      }
    }
    return NOTHING;
  }

  /** A key of 32 bytes after its name: WireGuard's, or one in hexadecimal digits. */
  private static int named(SecretText text, int at, int after) {
    int start = text.value(after);
    int name = text.nameBefore(after, "privatekey", "private_key", "presharedkey");
    if (start == NOTHING || name == NOTHING) {
      return NOTHING;
    }
    int hexadecimal = text.has(start, "0x") ? start + 2 : start;
    int end = text.run(hexadecimal, SecretText.HEX, hexadecimal + 65);
    if (end - hexadecimal == 64 && text.isRandom(hexadecimal, end)) {
      return name;
    }
    end = text.run(start, BASE64, start + WIREGUARD + 1);
    return end - start == WIREGUARD && text.at(end) == '=' && text.isRandom(start, end)
        ? name
        : NOTHING;
  }
}
