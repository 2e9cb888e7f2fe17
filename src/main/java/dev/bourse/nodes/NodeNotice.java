package dev.bourse.nodes;

import dev.bourse.core.Times;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A notice to the programs on a machine that it will be reclaimed, or the withdrawal of one.
 *
 * @param reason the reason, in lower-case words; {@link #DRILL} if the machine is not reclaimed
 * @param reclaimAtMillis the time of the reclaim
 * @param isWithdrawn true for a withdrawal
 */
public record NodeNotice(String reason, long reclaimAtMillis, boolean isWithdrawn) {
  /** The reason of a notice that only tests how programs react. */
  public static final String DRILL = "drill";

  private static final String GIVEN = "given";
  private static final String WITHDRAWN = "withdrawn";

  private static final Pattern REASON = Pattern.compile("[a-z-]{1,32}");

  private static final Pattern TEXT =
      Pattern.compile("([a-z-]{1,32})-([0-9]{1,18}) (" + GIVEN + "|" + WITHDRAWN + ")");

  public NodeNotice {
    // With these characters, the file and the machine's answer need no escaping.
    if (!REASON.matcher(reason).matches() || reclaimAtMillis < 0) {
      throw new IllegalArgumentException(
          "notice %s for %s: not a reason and a time".formatted(reason, reclaimAtMillis));
    }
  }

  /** Returns the id, which a notice and its withdrawal share. */
  public String id() {
    return reason + '-' + reclaimAtMillis;
  }

  /** Returns {@code given} or {@code withdrawn}. */
  public String state() {
    return isWithdrawn ? WITHDRAWN : GIVEN;
  }

  public boolean isDrill() {
    return reason.equals(DRILL);
  }

  /** Returns its withdrawal. */
  public NodeNotice withdrawn() {
    return new NodeNotice(reason, reclaimAtMillis, true);
  }

  /** Returns the notice of an id and a state, as a machine prints them. */
  public static Optional<NodeNotice> parse(String text) {
    Matcher found = TEXT.matcher(text);
    return found.matches()
        ? Optional.of(
            new NodeNotice(
                found.group(1), Long.parseLong(found.group(2)), found.group(3).equals(WITHDRAWN)))
        : Optional.empty();
  }

  /**
   * Returns the contents of the file that programs read.
   *
   * @param sequence orders the notices to one holder: a newer notice has a higher one
   */
  public String toJson(long sequence) {
    return """
        {"id":"%s","state":"%s","reason":"%s","reclaim_at":"%s","drill":%s,"sequence":%s}\
        """
        .formatted(id(), state(), reason, Times.rfc3339(reclaimAtMillis), isDrill(), sequence);
  }
}
