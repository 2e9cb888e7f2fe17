package dev.bourse.notifications;

import java.time.Duration;
import java.util.Arrays;

/** How soon a member receives mails about events. */
enum Pace {
  /**
   * At once. After a mail the next one waits ten minutes, so a member receives at most six an hour:
   * a market that flaps must not fill a mailbox, and a notice is still read in time.
   */
  AT_ONCE("at-once") {
    @Override
    long firstDue(long nowMillis) {
      return nowMillis;
    }

    @Override
    long dueAfterMail(long nowMillis) {
      return nowMillis + Duration.ofMinutes(10).toMillis();
    }
  },
  /** Once a day, at 08:00 UTC. */
  DIGEST("digest") {
    @Override
    long firstDue(long nowMillis) {
      long day = Duration.ofDays(1).toMillis();
      long hour = Duration.ofHours(8).toMillis();
      return Math.floorDiv(nowMillis - hour, day) * day + day + hour;
    }

    @Override
    long dueAfterMail(long nowMillis) {
      return firstDue(nowMillis);
    }
  };

  /** The choice of a kind that sends no mail. */
  static final String OFF = "off";

  private final String label;

  Pace(String label) {
    this.label = label;
  }

  /** Returns its name in the contract and in rows. */
  String label() {
    return label;
  }

  /** Returns the earliest time of the first mail. */
  abstract long firstDue(long nowMillis);

  /** Returns the earliest time of the mail after one that is sent now. */
  abstract long dueAfterMail(long nowMillis);

  static Pace of(String label) {
    return Arrays.stream(values())
        .filter(pace -> pace.label.equals(label))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("unknown pace: " + label));
  }
}
