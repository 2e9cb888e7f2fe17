package dev.bourse.notifications;

import dev.bourse.webhooks.EventKind;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

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

  /** Returns the events of the kinds with these labels; labels of a later release are ignored. */
  static Set<EventKind> events(Collection<String> labels) {
    return Arrays.stream(values())
        .filter(kind -> labels.contains(kind.label()))
        .flatMap(kind -> kind.events.stream())
        .collect(Collectors.toCollection(() -> EnumSet.noneOf(EventKind.class)));
  }
}
