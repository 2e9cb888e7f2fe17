package dev.bourse.secrets;

import static dev.bourse.secrets.SecretText.ALNUM;
import static dev.bourse.secrets.SecretText.BASE64;
import static dev.bourse.secrets.SecretText.DIGIT;
import static dev.bourse.secrets.SecretText.EQUALS;
import static dev.bourse.secrets.SecretText.LETTER;
import static dev.bourse.secrets.SecretText.NOTHING;
import static dev.bourse.secrets.SecretText.VALUE;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Passwords in addresses, in connection strings and in request headers. */
final class AddressShapes {
  private static final int USER = 128;
  private static final int PASSWORD = 256;
  private static final int SHORTEST_PASSWORD = 6;

  /** Texts of letters alone also count as a password from this length on, unless they are words. */
  private static final int RANDOM_PASSWORD = 10;

  private static final int HOST = 64;
  private static final int HEADER = 1024;
  private static final int BEARER = 24;

  /** Passwords of examples and default installations, which protect nothing. */
  private static final Set<String> DEFAULTS =
      Set.of(
          """
          postgres postgresql mysql mongodb mongo redis admin administrator root guest test testing \
          rabbitmq minio minioadmin airflow mlflow superset grafana user username pass pwd 123456 \
          1234567 12345678 admin123 root123 test123 user123 pass123 abc123 p4ssw0rd hunter2 letmein\
          """
              .split(" "));

  private AddressShapes() {}

  static List<SecretRule> rules() {
    return List.of(
        SecretRule.of(
            "url-password",
            AddressShapes::userInformation,
            ServiceShapes.combined("", "abcdefghijklmnopqrstuvwxyz").stream()
                .map(letter -> letter + "://")
                .toList()),
        SecretRule.of(
            "connection-string",
            AddressShapes::connectionString,
            List.of("assword=", "Pwd=", "pwd=", "PASSWORD=", "PWD=")),
        SecretRule.of("authorization-header", AddressShapes::header, List.of("Basic ", "Bearer ")));
  }

  /** {@code scheme://user:password@host}. */
  private static int userInformation(SecretText text, int at, int after) {
    int colon = after;
    while (colon < after + USER && isUser(text.at(colon))) {
      colon++;
    }
    if (text.at(colon) != ':') {
      return NOTHING;
    }
    int start = colon + 1;
    int end = start;
    int limit = start + PASSWORD;
    while (end < limit && isPasswordSign(text.at(end))) {
      end++;
    }
    // Passwords may contain an @, although they should not.
    while (end < limit && text.at(end) == '@' && hasFurther(text, end)) {
      end++;
      while (end < limit && isPasswordSign(text.at(end))) {
        end++;
      }
    }
    boolean isTaken =
        text.at(end) == '@'
            && text.is(end + 1, ALNUM | SecretText.DOT)
            && isPassword(text, start, end)
            && !isUserAgain(text, after, colon, end)
            && !isSample(text, end + 1);
    return isTaken ? schemeStart(text, at) : NOTHING;
  }

  private static boolean hasFurther(SecretText text, int place) {
    int limit = place + HOST;
    int i = place + 1;
    while (i < limit && isPasswordSign(text.at(i))) {
      i++;
    }
    return i < limit && text.at(i) == '@';
  }

  private static boolean isUser(int c) {
    return c > ' ' && c < 0x7f && "/@:\"'`<>{}()[]$\\|,;".indexOf(c) < 0;
  }

  private static boolean isPasswordSign(int c) {
    return c > ' ' && c < 0x7f && "/@\"'`<>{}\\|".indexOf(c) < 0;
  }

  private static int schemeStart(SecretText text, int at) {
    int start = at;
    while (start > at - 16 && (text.is(start - 1, ALNUM) || text.at(start - 1) == '+')) {
      start--;
    }
    return start;
  }

  private static boolean isUserAgain(SecretText text, int user, int colon, int end) {
    return text.string(user, colon).equals(text.string(colon + 1, end));
  }

  /** Hosts used in documentation. */
  private static boolean isSample(SecretText text, int host) {
    int end = text.run(host, VALUE, host + HOST);
    return Randomness.isPlaceholder(text.bytes, host, end);
  }

  /**
   * Whether a text is a password of a person or a machine: letters with a digit or a sign, and
   * neither a placeholder, a variable, nor a default password.
   */
  private static boolean isPassword(SecretText text, int start, int end) {
    int first = text.at(start);
    if (end - start < SHORTEST_PASSWORD
        || "$<%{*[(".indexOf(first) >= 0
        || Randomness.isPlaceholder(text.bytes, start, end)) {
      return false;
    }
    boolean isLettered = false;
    boolean isMixed = false;
    for (int i = start; i < end; i++) {
      isLettered |= text.is(i, LETTER);
      isMixed |= text.is(i, DIGIT) || "!#$%^&*-_+=?~.".indexOf(text.at(i)) >= 0;
    }
    boolean isDrawn = end - start >= RANDOM_PASSWORD && text.isRandom(start, end);
    return isLettered
        && (isMixed || isDrawn)
        && !DEFAULTS.contains(text.string(start, end).toLowerCase(Locale.ROOT))
        && text.randomness.isVaried(text.bytes, start, end);
  }

  /** {@code …;Password=…;} and {@code ?user=…&password=…}. */
  private static int connectionString(SecretText text, int at, int after) {
    int name = at;
    while (name > at - 16 && text.is(name - 1, ALNUM | SecretText.UNDERSCORE)) {
      name--;
    }
    int before = text.at(name - 1);
    if (before == ' ') {
      before = text.at(name - 2);
    }
    if (before != ';' && before != '?' && before != '&') {
      return NOTHING;
    }
    int end = after;
    while (end < after + PASSWORD
        && isPasswordSign(text.at(end))
        && ";&".indexOf(text.at(end)) < 0) {
      end++;
    }
    return isPassword(text, after, end) ? name : NOTHING;
  }

  /** The credentials of an Authorization header: a name and a password in base64, or a token. */
  private static int header(SecretText text, int at, int after) {
    if (!text.startsWord(at)) {
      return NOTHING;
    }
    boolean isBasic = text.at(at + 1) == 'a';
    int end = text.run(after, isBasic ? BASE64 | EQUALS : VALUE, after + HEADER);
    if (!isBasic) {
      if (text.has(after, "eyJ")) {
        return NOTHING; // a JSON Web Token, which has its own rule
      }
      return end - after >= BEARER && isToken(text, after, end) ? at : NOTHING;
    }
    if (end - after < 12 || (end - after) % 4 != 0) {
      return NOTHING;
    }
    byte[] decoded;
    try {
      decoded = Base64.getDecoder().decode(text.string(after, end));
    } catch (IllegalArgumentException notBase64) {
      return NOTHING;
    }
    String pair = new String(decoded, StandardCharsets.ISO_8859_1);
    int colon = pair.indexOf(':');
    return colon > 0
            && pair.chars().allMatch(c -> c >= ' ' && c < 0x7f)
            && isPair(pair, colon, decoded)
        ? at
        : NOTHING;
  }

  private static boolean isPair(String pair, int colon, byte[] decoded) {
    String password = pair.substring(colon + 1);
    return password.length() >= SHORTEST_PASSWORD
        && !DEFAULTS.contains(password.toLowerCase(Locale.ROOT))
        && !password.equals(pair.substring(0, colon))
        && !Randomness.isPlaceholder(decoded, colon + 1, decoded.length);
  }

  private static boolean isToken(SecretText text, int start, int end) {
    boolean isDigit = false;
    boolean isLetter = false;
    for (int i = start; i < Math.min(end, start + Randomness.JUDGED); i++) {
      isDigit |= text.is(i, DIGIT);
      isLetter |= text.is(i, LETTER);
    }
    return isDigit && isLetter && text.isRandom(start, end);
  }
}
