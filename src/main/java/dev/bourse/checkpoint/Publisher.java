package dev.bourse.checkpoint;

import dev.bourse.access.Operator;
import dev.bourse.access.Organization;
import dev.bourse.access.Principal;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import org.jspecify.annotations.Nullable;

/**
 * The owner on whose behalf files are published, replaced and deleted: a member of an organization,
 * or the platform.
 *
 * @param orgId the owner of the items; {@link Checkpoint#PLATFORM} for the platform's documents
 * @param creator the member's username; the operator's label for the platform
 * @param creatorId the id by which the member owns items; the operator's label for the platform
 * @param actor the actor in audit rows
 * @param name the author shown for the platform's documents; null for a member
 * @param publishesPublicly whether it may publish on the public feed
 * @param credential the publishing credential by which a job acts for the member; null otherwise
 */
public record Publisher(
    String orgId,
    String creator,
    String creatorId,
    String actor,
    @Nullable String name,
    boolean publishesPublicly,
    @Nullable Credential credential) {

  /**
   * A publishing credential.
   *
   * @param expiresAtMillis until when what it announced may be sent
   */
  public record Credential(String id, long expiresAtMillis) {}

  /** The kind of organization that may publish on the public feed. */
  static final String PUBLISHES = "public_research";

  /**
   * Returns the calling member.
   *
   * @throws ApiException {@code forbidden} for an organization's token, which only reads
   */
  public static Publisher of(Principal caller) {
    String member = caller.member();
    String memberId = caller.memberId();
    if (member == null || memberId == null) {
      throw ApiException.of(
          ErrorCode.FORBIDDEN, "an organization's token only reads checkpoints; use a member's");
    }
    return new Publisher(
        caller.org().orgId(),
        member,
        memberId,
        caller.actor(),
        null,
        publishesPublicly(caller.org()),
        credential(caller));
  }

  private static @Nullable Credential credential(Principal caller) {
    String id = caller.publishingCredential();
    Long expiresAt = caller.expiresAtMillis();
    return id == null || expiresAt == null ? null : new Credential(id, expiresAt);
  }

  /**
   * Returns the platform, represented by an operator; operators may replace each other's documents.
   *
   * @param name the author shown for its documents
   */
  public static Publisher platform(Operator operator, String name) {
    String actor = operator.actor();
    return new Publisher(Checkpoint.PLATFORM, actor, actor, actor, name, true, null);
  }

  /** Returns true if the organization may publish on the public feed. */
  public static boolean publishesPublicly(Organization org) {
    return org.kind().equals(PUBLISHES);
  }

  /**
   * Rejects a visibility that this publisher may not use.
   *
   * @throws ApiException {@code forbidden} with reason {@code public-restricted}
   */
  public void requireOpen(Visibility visibility) {
    if (visibility == Visibility.PUBLIC && !publishesPublicly) {
      throw ApiException.of(
              ErrorCode.FORBIDDEN,
              "the public feed is not open to " + orgId + "; use visibility org")
          .with("reason", "public-restricted");
    }
  }

  /**
   * Returns true if this publisher may replace and delete an item. A job may replace what jobs of
   * the same member published, but nothing that the member published in person, because a
   * replacement ends the earlier bytes. An expired announcement has no bytes to lose.
   */
  boolean owns(Checkpoint item) {
    return item.orgId().equals(orgId)
        && (item.isPlatform() || item.isBy(creatorId))
        && (credential == null
            || item.revisions().stream()
                .filter(Revision::isHeld)
                .allMatch(revision -> revision.credentialId() != null));
  }

  /** Returns true if this publisher may send and commit the newest bytes of an item. */
  boolean sends(Checkpoint item) {
    return owns(item)
        && (credential == null || credential.id().equals(item.newest().credentialId()));
  }
}
