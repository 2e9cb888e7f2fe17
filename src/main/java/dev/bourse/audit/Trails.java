package dev.bourse.audit;

/**
 * Decides which trail a row belongs to. Every row belongs to one: an organization's, or the
 * platform's, which only operators read. The decision is made from the actor and the subject when
 * the row is written, so pages need no filter, and the content of a trail never changes.
 */
public final class Trails {
  /** The owner of the platform's trail. Organization ids are never empty. */
  public static final String PLATFORM = "";

  private Trails() {}

  /**
   * Returns the organization whose trail a row belongs to, or {@link #PLATFORM}.
   *
   * <p>Actions of an organization's tokens and members, and of the platform itself, are in the
   * trail of the organization they are about. So are operators' actions on the organization itself,
   * its tokens, keys, members, rules or limits. Operators' actions on a cluster are in the
   * platform's trail, as are those of actors of an unknown form.
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
