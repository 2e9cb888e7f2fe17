package dev.bourse.webhooks;

import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** A kind of event that endpoints can subscribe to. */
public enum EventKind {
  GRANT("grant", true),
  NOTICE("notice", true),
  NOTICE_WITHDRAWN("notice-withdrawn", true),
  RECLAIM("reclaim", true),
  LAPSE("lapse", true),
  HOLD("hold", true),
  ALERT("alert", true),
  /** Recorded in the organization's trail, although it is about a cluster. */
  HEALTH("health", true),
  TOKEN_MINTED("token-minted", false),
  TOKEN_REVOKED("token-revoked", false),
  MEMBERS_CHANGED("members-changed", false),
  REVIEW_DECIDED("review-decided", false),
  /** Derived from the progress of usage posting. */
  STATEMENT_READY("statement-ready", false);

  /** The type of a test event; endpoints cannot subscribe to it. */
  static final String TEST = "test";

  /** Kinds by the action of a trail entry. */
  private static final Map<String, EventKind> BY_ACTION =
      Map.ofEntries(
          Map.entry("node_silent", HEALTH),
          Map.entry("node_answers", HEALTH),
          Map.entry("node_health", HEALTH),
          Map.entry("vm_token_mint", TOKEN_MINTED),
          Map.entry("vm_token_revoke", TOKEN_REVOKED),
          Map.entry("member_add", MEMBERS_CHANGED),
          Map.entry("member_join", MEMBERS_CHANGED),
          Map.entry("member_invite", MEMBERS_CHANGED),
          Map.entry("member_update", MEMBERS_CHANGED),
          Map.entry("member_remove", MEMBERS_CHANGED),
          Map.entry("checkpoint_review", REVIEW_DECIDED));

  private final String label;
  private final boolean isOfCluster;

  EventKind(String label, boolean isOfCluster) {
    this.label = label;
    this.isOfCluster = isOfCluster;
  }

  /** The kind as contract, bodies and rows spell it. */
  public String label() {
    return label;
  }

  /** Returns true if the event is about a cluster, false if it is about the organization. */
  public boolean isOfCluster() {
    return isOfCluster;
  }

  static EventKind of(String label) {
    return Arrays.stream(values())
        .filter(kind -> kind.label.equals(label))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no kind of event: " + label));
  }

  /** Returns the kind for a trail action; empty for the many actions that are not events. */
  static Optional<EventKind> ofAction(String action) {
    return Optional.ofNullable(BY_ACTION.get(action));
  }

  static Set<EventKind> all(Collection<?> labels) {
    return labels.stream()
        .map(label -> of(String.valueOf(label)))
        .collect(Collectors.toCollection(() -> EnumSet.noneOf(EventKind.class)));
  }

  /** Parses the kinds of a row; labels of a later release are ignored. */
  static Set<EventKind> parse(String text) {
    List<String> labels = List.of(text.split(" ", -1));
    return Arrays.stream(values())
        .filter(kind -> labels.contains(kind.label))
        .collect(Collectors.toCollection(() -> EnumSet.noneOf(EventKind.class)));
  }

  static String text(Set<EventKind> kinds) {
    return labels(kinds).stream().collect(Collectors.joining(" "));
  }

  static List<String> labels(Set<EventKind> kinds) {
    return Arrays.stream(values()).filter(kinds::contains).map(EventKind::label).toList();
  }
}
