package dev.bourse.oauth;

import java.text.Normalizer;
import java.util.Map;

/**
 * Detects applications named like this service. A member asked for consent by "Bourse" would grant
 * more than to a stranger.
 */
final class ReservedName {
  private static final String NAME = "bourse";

  /** Words before the name that do not make it another name: "The Bourse", "Official Bourse". */
  private static final String[] ARTICLES = {"the", "official", "my"};

  /** Letters and digits of other scripts, and signs, that look like letters of the name. */
  private static final Map<Character, Character> ALIKE =
      Map.ofEntries(
          Map.entry('8', 'b'),
          Map.entry('\u0431', 'b'),
          Map.entry('\u0432', 'b'),
          Map.entry('\u044c', 'b'),
          Map.entry('\u03b2', 'b'),
          Map.entry('\u13cf', 'b'),
          Map.entry('\u00df', 'b'),
          Map.entry('0', 'o'),
          Map.entry('\u043e', 'o'),
          Map.entry('\u03bf', 'o'),
          Map.entry('\u0585', 'o'),
          Map.entry('\u00f8', 'o'),
          Map.entry('\u03c3', 'o'),
          Map.entry('\u057d', 'u'),
          Map.entry('\u03c5', 'u'),
          Map.entry('\u0446', 'u'),
          Map.entry('v', 'u'),
          Map.entry('\u0433', 'r'),
          Map.entry('\u044f', 'r'),
          Map.entry('5', 's'),
          Map.entry('$', 's'),
          Map.entry('\u0455', 's'),
          Map.entry('3', 'e'),
          Map.entry('\u0435', 'e'),
          Map.entry('\u0454', 'e'),
          Map.entry('\u03b5', 'e'),
          Map.entry('\u0451', 'e'));

  private ReservedName() {}

  /**
   * Whether a name is this service's or begins with it, regardless of spacing and look-alike
   * letters.
   */
  static boolean isTaken(String name) {
    String folded = folded(name);
    if (folded.startsWith(NAME)) {
      return true;
    }
    for (String article : ARTICLES) {
      if (folded.startsWith(folded(article) + NAME)) {
        return true;
      }
    }
    return false;
  }

  /**
   * The letters of the name, with look-alikes replaced by small Latin letters; accents and signs
   * are removed.
   */
  private static String folded(String name) {
    StringBuilder folded = new StringBuilder();
    String parts = Normalizer.normalize(name, Normalizer.Form.NFKD);
    for (int i = 0; i < parts.length(); i++) {
      char small = Character.toLowerCase(parts.charAt(i));
      char c = ALIKE.getOrDefault(small, small);
      if (Character.isLetterOrDigit(c)) {
        folded.append(c);
      }
    }
    return folded.toString();
  }
}
