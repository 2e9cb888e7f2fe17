package dev.bourse.logs;

import dev.bourse.core.SecretPrefix;
import java.util.Arrays;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Takes secrets of this service and addresses of people out of a text. Nobody is to log either; but
 * a library's error may quote what it was given.
 */
final class Redaction {
  /** A secret by the beginning that all have, with what follows of it. */
  static final Pattern SECRET =
      Pattern.compile(
          Arrays.stream(SecretPrefix.values())
                  .map(SecretPrefix::text)
                  .collect(Collectors.joining("|", "(", ")"))
              + "[A-Za-z0-9_]{8,}");

  /** The part of an e-mail address that tells who it is, before a domain that is a name. */
  static final Pattern PERSON =
      Pattern.compile(
          "[^\\s@<>\"'(),;:/=\\[\\]|]{1,64}+@(?=[A-Za-z0-9-]{1,63}(?:\\.[A-Za-z0-9-]{1,63}){0,8}\\.[A-Za-z]{2,63})");

  private Redaction() {}

  static String of(String text) {
    String safe = text;
    if (safe.contains("br")) {
      safe = SECRET.matcher(safe).replaceAll("$1…");
    }
    if (safe.indexOf('@') >= 0) {
      safe = PERSON.matcher(safe).replaceAll("…@");
    }
    return safe;
  }
}
