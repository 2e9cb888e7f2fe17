package dev.bourse.checkpoint;

import dev.bourse.access.Operator;
import dev.bourse.access.Organization;
import dev.bourse.access.Principal;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import org.jspecify.annotations.Nullable;

/**
 * On whose behalf files are published, replaced and deleted: a member of an organization, or the
 * platform.
 *
 * @param orgId whose items they are; {@link Checkpoint#PLATFORM} for the platform's documents
 * @param creator the member's username; the operator's label for the platform
 * @param creatorId the id by which the member owns items; the operator's label for the platform
 * @param actor how audit rows name whoever acts
 * @param name who the platform's documents are by; null for a member
 * @param publishesPublicly whether the public feed is open to it
 */
public record Publisher(
    String orgId,
    String creator,
    String creatorId,
    String actor,
    @Nullable String name,
    boolean publishesPublicly) {
  /** The kind of organization the public feed is open to. */
  static final String PUBLISHES = "public_research";

  /**
   * The member who calls.
   *
   * @throws ApiError {@code forbidden} for an organization's token, which only reads
   */
  public static Publisher of(Principal caller) {
    String member = caller.member();
    String memberId = caller.memberId();
    if (member == null || memberId == null) {
      throw ApiError.of(
          ErrorCode.FORBIDDEN, "an organization's token only reads checkpoints; use a member's");
    }
    return new Publisher(
        caller.org().orgId(),
        member,
        memberId,
        caller.actor(),
        null,
        publishesPublicly(caller.org()));
  }

  /**
   * The platform, by one of its operators: what one of them published any other may replace.
   *
   * @param name who its documents are by
   */
  public static Publisher platform(Operator operator, String name) {
    String actor = operator.actor();
    return new Publisher(Checkpoint.PLATFORM, actor, actor, actor, name, true);
  }

  /** Whether the organization may publish on the public feed. */
  public static boolean publishesPublicly(Organization org) {
    return org.kind().equals(PUBLISHES);
  }

  /**
   * Refuses what is for readers this publisher may not publish for.
   *
   * @throws ApiError {@code forbidden} with reason {@code public-restricted}
   */
  public void requireOpen(Visibility visibility) {
    if (visibility == Visibility.PUBLIC && !publishesPublicly) {
      throw ApiError.of(
              ErrorCode.FORBIDDEN,
              "the public feed is not open to " + orgId + "; use visibility org")
          .with("reason", "public-restricted");
    }
  }

  /** Whether an item is its own to replace and to delete. */
  boolean owns(Checkpoint item) {
    return item.orgId().equals(orgId) && (item.isPlatform() || item.isBy(creatorId));
  }
}
