package dev.bourse.mail;

import java.util.regex.Pattern;

/**
 * A plain-text mail to one person.
 *
 * @param to an address of printable ASCII
 * @param subject one line of at most 200 characters
 * @param text lines that end in {@code \n}; an address in it is on a line of its own
 */
public record Mail(String to, String subject, String text) {
  private static final Pattern ADDRESS =
      Pattern.compile("[!#-'*+./-9=?A-Z^-~-]{1,64}@[A-Za-z0-9.-]{1,253}");
  private static final int MAX_SUBJECT = 200;

  /**
   * @throws IllegalArgumentException when the address or the subject could inject a header
   */
  public Mail {
    if (!isAddress(to)) {
      throw new IllegalArgumentException("not a valid mail address");
    }
    if (subject.length() > MAX_SUBJECT || subject.chars().anyMatch(Character::isISOControl)) {
      throw new IllegalArgumentException("a subject is one line of at most 200 characters");
    }
  }

  /**
   * Returns true if mail can be sent to an address: no quotes, brackets, commas, spaces or control
   * characters.
   */
  public static boolean isAddress(String address) {
    return ADDRESS.matcher(address).matches();
  }
}
