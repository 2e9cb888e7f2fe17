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
 * One kind of credential: the keywords it cannot do without, and what judges the text around one.
 *
 * @param name what a finding is called; part of what the API answers
 * @param keywords at least four bytes each
 * @param judge made anew for each scan from the lower-case name of the file; may remember what it
 *     has judged
 */
record SecretRule(String name, List<String> keywords, Function<String, Judge> judge) {
  /** Says whether a credential is where a keyword was found. Keywords come in order of place. */
  interface Judge {
    /**
     * The credential's place, {@link SecretText#NOTHING} when there is none. Its work must be
     * bounded, by itself or over the keywords of a file, whatever the text is.
     *
     * @param at where the keyword begins
     * @param after where it ends
     */
    int judge(SecretText text, int at, int after);
  }

  /** All rules; where two begin at the same place the earlier one is named. */
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

  /** A rule that remembers nothing. */
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

  /** Our own tokens carry a checksum: nothing else passes, not even a placeholder. */
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
