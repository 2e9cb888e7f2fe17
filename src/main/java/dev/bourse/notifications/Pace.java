package dev.bourse.notifications;

import java.time.Duration;

/** How soon a member receives mails about events. */
enum Pace {
  /**
   * At once. A few mails follow each other at once, and then one comes every ten minutes with all
   * events until then: a market that flaps must not fill a mailbox. A notice lasts only minutes, so
   * the first notice of a cluster does not wait for the pause.
   */
  AT_ONCE("at-once") {
    @Override
    long earliest(long nowMillis) {
      return nowMillis;
    }

    @Override
    long spreadAfterMail(long spreadMillis, long nowMillis) {
      return Math.max(spreadMillis, nowMillis) + PAUSE_MILLIS;
    }
  },
  /** Once a day, at 08:00 UTC. */
  DIGEST("digest") {
    @Override
    long earliest(long nowMillis) {
      long day = Duration.ofDays(1).toMillis();
      long hour = Duration.ofHours(8).toMillis();
      return Math.floorDiv(nowMillis - hour, day) * day + day + hour;
    }

    @Override
    long spreadAfterMail(long spreadMillis, long nowMillis) {
      return 0;
    }
  };

  /** Each mail uses so much of a member's time. */
  static final long PAUSE_MILLIS = Duration.ofMinutes(10).toMillis();

  /** How far mails may run ahead of the pauses: three follow each other. */
  static final long BURST_MILLIS = 2 * PAUSE_MILLIS;

  /**
   * The same for the first notice of a cluster, so that a member with many clusters gets twelve.
   */
  static final long URGENT_MILLIS = 11 * PAUSE_MILLIS;

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

  /** Returns the earliest time of a mail about an event that is read now, without pauses. */
  abstract long earliest(long nowMillis);

  /** Returns until when mails are spread out after one more. */
  abstract long spreadAfterMail(long spreadMillis, long nowMillis);
}
