package dev.bourse.mail;

import java.time.Duration;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A plain-text mail to one person.
 *
 * @param to an address of printable ASCII
 * @param subject one line of at most 200 characters
 * @param text lines that end in {@code \n}; an address in it is on a line of its own
 * @param unsubscribe an address that ends mails of this kind with a POST (RFC 8058); null for a
 *     mail that cannot be ended
 * @param useful how long its delivery is of use; it is not tried again after that
 */
public record Mail(
    String to, String subject, String text, @Nullable String unsubscribe, Duration useful) {
  /** How long a sign-in link is valid. */
  public static final Duration SIGN_IN = Duration.ofMinutes(15);

  /**
   * How long any other mail is of use. It outlasts a night without a mail server. With the two
   * hours in which each of 1,000 mails of a full queue gets an attempt, four at once and 30 s each,
   * it stays below the day for which the queue keeps a mail.
   */
  public static final Duration LASTING = Duration.ofHours(21);

  private static final Pattern ADDRESS =
      Pattern.compile("[!#-'*+./-9=?A-Z^-~-]{1,64}@[A-Za-z0-9.-]{1,253}");
  private static final int MAX_SUBJECT = 200;
  private static final Pattern URL = Pattern.compile("https?://[!-;=?-~]{1,1000}");

  /** Makes a mail that cannot be ended. */
  public Mail(String to, String subject, String text, Duration useful) {
    this(to, subject, text, null, useful);
  }

  /**
   * @throws IllegalArgumentException when an address or the subject could inject a header
   */
  public Mail {
    if (!isAddress(to)) {
      throw new IllegalArgumentException("not a valid mail address");
    }
    if (subject.length() > MAX_SUBJECT || subject.chars().anyMatch(Character::isISOControl)) {
      throw new IllegalArgumentException("a subject is one line of at most 200 characters");
    }
    if (unsubscribe != null && !URL.matcher(unsubscribe).matches()) {
      throw new IllegalArgumentException("not an address to unsubscribe at");
    }
  }

  /**
   * Returns the part of a queue's places that mails like this one may fill. Mails that may wait for
   * longer than a sign-in link fill half, so that many of them do not keep anybody from a link.
   */
  int share(int places) {
    return useful.compareTo(SIGN_IN) <= 0 ? places : places / 2;
  }

  /** Returns the headers with which a mail reader offers to end mails of this kind. */
  Map<String, String> headers() {
    return unsubscribe == null
        ? Map.of()
        : Map.of(
            "List-Unsubscribe",
            "<" + unsubscribe + ">",
            "List-Unsubscribe-Post",
            "List-Unsubscribe=One-Click");
  }

  /**
   * Returns true if mail can be sent to an address: no quotes, brackets, commas, spaces or control
   * characters.
   */
  public static boolean isAddress(String address) {
    return ADDRESS.matcher(address).matches();
  }
}
