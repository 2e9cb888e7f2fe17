package dev.bourse.logs;

import dev.bourse.core.SecretPrefix;
import java.util.Arrays;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Removes secrets of this service and people's e-mail addresses from a text. No caller may log
 * either, but a library's error may quote its input.
 */
final class Redaction {
  /** A secret: one of the known prefixes and the characters that follow. */
  static final Pattern SECRET =
      Pattern.compile(
          Arrays.stream(SecretPrefix.values())
                  .map(SecretPrefix::text)
                  .collect(Collectors.joining("|", "(", ")"))
              + "[A-Za-z0-9_]{8,}");

  /** The local part of an e-mail address, before a domain name. */
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
