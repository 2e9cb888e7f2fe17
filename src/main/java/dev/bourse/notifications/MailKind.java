package dev.bourse.notifications;

import dev.bourse.webhooks.EventKind;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** A kind of mail that a member can choose, with the events that it tells. */
enum MailKind {
  /** A notice, and its withdrawal: a member who expects a loss needs to know that it is averted. */
  NOTICE(EventKind.NOTICE, EventKind.NOTICE_WITHDRAWN),
  LAPSE(EventKind.LAPSE),
  /** Alerts of the cluster, which include the threshold of its spending. */
  ALERT(EventKind.ALERT),
  /** A node that stopped answering or failed. */
  HEALTH(EventKind.HEALTH),
  HOLD(EventKind.HOLD);

  // Error Prone assumes that lists are mutable; this one is not.
  @SuppressWarnings("ImmutableEnumChecker")
  private final List<EventKind> events;

  MailKind(EventKind... events) {
    this.events = List.of(events);
  }

  /** Returns its name in the contract and in rows. */
  String label() {
    return events.get(0).label();
  }

  /** Returns the kind that tells an event; empty if none does. */
  static Optional<MailKind> of(EventKind event) {
    return Arrays.stream(values()).filter(kind -> kind.events.contains(event)).findFirst();
  }
}
