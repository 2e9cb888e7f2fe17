package dev.bourse.audit;

/**
 * Which trail a row is in. Every row is in exactly one: an organization's, or the platform's, which
 * only operators read. It is decided when the row is written, from who acted and what the row is
 * about, so that reading a page never filters, and what a trail showed once it shows for good.
 */
public final class Trails {
  /** The owner of the platform's trail. No organization's id is empty. */
  public static final String PLATFORM = "";

  private Trails() {}

  /**
   * The organization whose trail a row is in, or {@link #PLATFORM}.
   *
   * <p>What an organization's tokens and members do, and what the platform does by itself, is in
   * the trail of the organization it is about. So is what operators do to the organization itself,
   * to its tokens, keys, members, rules or limits; what they do to one of its clusters is the
   * platform's affair, as is whatever an actor of no known form does.
   */
  static String owner(AuditRow row) {
    int colon = row.actor().indexOf(':');
    return switch (colon < 0 ? "" : row.actor().substring(0, colon)) {
      case "token", "member", "system" -> row.orgId();
      case "operator" -> row.subject().equals(row.orgId()) ? row.orgId() : PLATFORM;
      default -> PLATFORM;
    };
  }
}
