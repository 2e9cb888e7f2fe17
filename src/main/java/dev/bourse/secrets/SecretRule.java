package dev.bourse.secrets;

import static dev.bourse.secrets.SecretText.ALNUM;
import static dev.bourse.secrets.SecretText.NOTHING;

import dev.bourse.core.SecretPrefix;
import dev.bourse.core.Secrets;
import dev.bourse.core.TokenSecret;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A kind of credential: its mandatory keywords, and a judge of the text around a keyword.
 *
 * @param name the name in findings, part of the API
 * @param keywords at least four bytes each
 * @param judge creates a judge for each scan from the lower-case name of the file; a judge may keep
 *     state
 */
record SecretRule(String name, List<String> keywords, Function<String, Judge> judge) {
  /**
   * Decides whether there is a credential at a keyword. Keywords arrive in order of their place.
   */
  interface Judge {
    /**
     * Returns the credential's place, {@link SecretText#NOTHING} if there is none. Its work must be
     * bounded for any text, per call or over all keywords of a file.
     *
     * @param at the start of the keyword
     * @param after the end of the keyword
     */
    int judge(SecretText text, int at, int after);
  }

  /** All rules; of two that match at the same place, the earlier is reported. */
  static final List<SecretRule> ALL =
      Stream.of(
              ownTokens(),
              SecretVendors.rules(),
              ServiceShapes.rules(),
              KeyShapes.rules(),
              AddressShapes.rules(),
              SecretShapes.rules())
          .flatMap(List::stream)
          .toList();

  /** A rule without state. */
  static SecretRule of(String name, Judge judge, List<String> keywords) {
    return new SecretRule(name, keywords, file -> judge);
  }

  private static List<SecretRule> ownTokens() {
    return List.of(
        of("bourse-token", SecretRule::bourseToken, ownPrefixes(true)),
        of("bourse-token", SecretVendors.atLeast(ALNUM, Secrets.LENGTH), ownPrefixes(false)));
  }

  private static List<String> ownPrefixes(boolean withChecksum) {
    return Arrays.stream(SecretPrefix.values())
        .filter(prefix -> prefix.hasChecksum() == withChecksum)
        .map(SecretPrefix::text)
        .toList();
  }

  /** Bourse's own tokens have a checksum, so nothing else passes, not even a placeholder. */
  private static int bourseToken(SecretText text, int at, int after) {
    int length = 55;
    if (text.at(after + 12) != '_' || text.run(after, ALNUM, after + 13) != after + 12) {
      return NOTHING;
    }
    int end = text.run(after + 13, ALNUM, at + length);
    return end - at == length
            && TokenSecret.parse(new String(text.bytes, at, length, StandardCharsets.ISO_8859_1))
                .isPresent()
        ? at
        : NOTHING;
  }
}
