package dev.bourse.uploads;

import dev.bourse.access.Members;
import dev.bourse.access.Revocations;
import dev.bourse.access.Tokens;
import dev.bourse.checkpoint.Checkpoint;
import dev.bourse.checkpoint.Publisher;
import dev.bourse.checkpoint.Revision;
import dev.bourse.checkpoint.Visibility;

/**
 * Checks that the member who announced a file may still publish it, and that the publishing
 * credential it was announced with has not ended. Answers from memory, because it is called for
 * every block of an upload; the check once a request reads the store.
 */
public final class PublishPermission {
  private final Members members;
  private final Tokens organizations;
  private final Revocations revocations;

  /**
   * @param members knows the active members of organizations that are not retired
   * @param organizations knows every organization
   * @param revocations knows the publishing credentials that have ended
   */
  public PublishPermission(Members members, Tokens organizations, Revocations revocations) {
    this.members = members;
    this.organizations = organizations;
    this.revocations = revocations;
  }

  boolean holds(Checkpoint item) {
    return item.isPlatform()
        || (isCredentialInForce(item)
            && members.findId(item.orgId(), item.creator()).filter(item::isBy).isPresent()
            && (item.visibility() == Visibility.ORG || publishesPublicly(item.orgId())));
  }

  /** The end of a draft covers the expiry of its credential. */
  private boolean isCredentialInForce(Checkpoint item) {
    Revision draft = item.draft();
    String credentialId = draft == null ? null : draft.credentialId();
    return credentialId == null || !revocations.isRevoked(credentialId);
  }

  private boolean publishesPublicly(String orgId) {
    return organizations.findOrganization(orgId).filter(Publisher::publishesPublicly).isPresent();
  }
}
