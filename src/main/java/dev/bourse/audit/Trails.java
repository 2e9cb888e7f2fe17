package dev.bourse.audit;

/**
 * What goes into which trail. Every row is in exactly one: an organization's, or the platform's,
 * which only operators read. It is decided when the row is written, from who acted and what the row
 * is about, so that reading a page never filters, and what a trail showed once it shows for good.
 */
public final class Trails {
  /** The owner of the platform's trail. No organization's id is empty. */
  public static final String PLATFORM = "";

  /** Whose trail a row is in. */
  enum Trail {
    ORGANIZATION,
    PLATFORM
  }

  /** What a row is about. */
  enum About {
    /** The organization itself: its tokens, keys, members, rules, limits. */
    ORGANIZATION,
    /** One of its clusters. */
    CLUSTER,
    /** Nothing of an organization's. */
    PLATFORM
  }

  /** Who acted, told by the actor's label; with it the trail of what they do. */
  enum Origin {
    /** An organization's token, {@code token:<id>}. Tokens act on their own organization only. */
    TOKEN(Trail.ORGANIZATION, Trail.ORGANIZATION),
    /** A member through the console, {@code member:<username>}; the session proves which. */
    MEMBER(Trail.ORGANIZATION, Trail.ORGANIZATION),
    /**
     * Somebody who runs the platform, {@code operator:<name>}. What they do to a cluster is the
     * platform's affair; tokens, members and rules are the organization's, whoever changes them.
     */
    OPERATOR(Trail.ORGANIZATION, Trail.PLATFORM),
    /** The platform by itself, {@code system:<part>}. */
    SYSTEM(Trail.ORGANIZATION, Trail.ORGANIZATION),
    /** A label of no such form. */
    UNKNOWN(Trail.PLATFORM, Trail.PLATFORM);

    private final Trail aboutOrganization;
    private final Trail aboutCluster;

    Origin(Trail aboutOrganization, Trail aboutCluster) {
      this.aboutOrganization = aboutOrganization;
      this.aboutCluster = aboutCluster;
    }

    static Origin of(String actor) {
      int colon = actor.indexOf(':');
      return switch (colon < 0 ? "" : actor.substring(0, colon)) {
        case "token" -> TOKEN;
        case "member" -> MEMBER;
        case "operator" -> OPERATOR;
        case "system" -> SYSTEM;
        default -> UNKNOWN;
      };
    }

    Trail trail(About about) {
      return switch (about) {
        case ORGANIZATION -> aboutOrganization;
        case CLUSTER -> aboutCluster;
        case PLATFORM -> Trail.PLATFORM;
      };
    }
  }

  private Trails() {}

  /** The organization whose trail a row is in, or {@link #PLATFORM}. */
  static String owner(AuditRow row) {
    About about =
        row.orgId().equals(PLATFORM)
            ? About.PLATFORM
            : row.subject().equals(row.orgId()) ? About.ORGANIZATION : About.CLUSTER;
    return switch (Origin.of(row.actor()).trail(about)) {
      case ORGANIZATION -> row.orgId();
      case PLATFORM -> PLATFORM;
    };
  }
}
