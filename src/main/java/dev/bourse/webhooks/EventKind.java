package dev.bourse.webhooks;

import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** What an endpoint can be told of. */
public enum EventKind {
  GRANT("grant", true),
  NOTICE("notice", true),
  NOTICE_WITHDRAWN("notice-withdrawn", true),
  RECLAIM("reclaim", true),
  LAPSE("lapse", true),
  HOLD("hold", true),
  ALERT("alert", true),
  /** Told by the organization's trail, but of a cluster. */
  HEALTH("health", true),
  TOKEN_MINTED("token-minted", false),
  TOKEN_REVOKED("token-revoked", false),
  MEMBERS_CHANGED("members-changed", false),
  REVIEW_DECIDED("review-decided", false),
  /** Told by how far usage is posted. */
  STATEMENT_READY("statement-ready", false);

  /** The type of what is sent to try an endpoint out; nobody chooses it. */
  static final String TEST = "test";

  /** What entries of an organization's trail tell, by their action. */
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

  /** Whether it is about a cluster; else about the organization. */
  public boolean isOfCluster() {
    return isOfCluster;
  }

  static EventKind of(String label) {
    return Arrays.stream(values())
        .filter(kind -> kind.label.equals(label))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no kind of event: " + label));
  }

  /** What an entry of a trail tells; empty for the many that no endpoint is told of. */
  static Optional<EventKind> ofAction(String action) {
    return Optional.ofNullable(BY_ACTION.get(action));
  }

  static Set<EventKind> all(Collection<?> labels) {
    return labels.stream()
        .map(label -> of(String.valueOf(label)))
        .collect(Collectors.toCollection(() -> EnumSet.noneOf(EventKind.class)));
  }

  /** As rows hold them. A label of a later release is left out. */
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
