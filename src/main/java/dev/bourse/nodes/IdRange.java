package dev.bourse.nodes;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The range of user and group ids for tenants' logins and organizations' groups on machines. It
 * starts above a machine's own accounts and ends below the blocks of subordinate ids.
 *
 * @param first the lowest id, at least 65,536
 * @param last the highest id, at most 268,435,455
 */
public record IdRange(long first, long last) {
  private static final long LOWEST = 0x10000;
  private static final long HIGHEST = 0xFFF_FFFFL;
  private static final Pattern TEXT = Pattern.compile("([0-9]{1,10})-([0-9]{1,10})");

  /** The default range; a thousand grants an hour use it up in 29 years. */
  static final IdRange USUAL = new IdRange(10_000_000, HIGHEST);

  public IdRange {
    if (first < LOWEST || last > HIGHEST || first > last) {
      throw new IllegalArgumentException(
          "nodes.ssh.id-range: '%d-%d' is not acceptable; expected FIRST-LAST within %d-%d"
              .formatted(first, last, LOWEST, HIGHEST));
    }
  }

  /** Parses {@code FIRST-LAST}. */
  public static IdRange parse(String text) {
    Matcher parts = TEXT.matcher(text.strip());
    if (!parts.matches()) {
      throw new IllegalArgumentException(
          "nodes.ssh.id-range: '%s' is not acceptable; expected FIRST-LAST, such as %s"
              .formatted(text, USUAL));
    }
    return new IdRange(Long.parseLong(parts.group(1)), Long.parseLong(parts.group(2)));
  }

  @Override
  public String toString() {
    return first + "-" + last;
  }
}
