package dev.bourse.uploads;

import dev.bourse.access.Members;
import dev.bourse.access.Tokens;
import dev.bourse.checkpoint.Checkpoint;
import dev.bourse.checkpoint.Publisher;
import dev.bourse.checkpoint.Visibility;

/**
 * Checks that the member who announced a file may still publish it. Answers from memory, because it
 * is called for every block of an upload; the check once a request reads the store.
 */
public final class PublishPermission {
  private final Members members;
  private final Tokens organizations;

  /**
   * @param members knows the active members of organizations that are not retired
   * @param organizations knows every organization
   */
  public PublishPermission(Members members, Tokens organizations) {
    this.members = members;
    this.organizations = organizations;
  }

  boolean holds(Checkpoint item) {
    return item.isPlatform()
        || (members.findId(item.orgId(), item.creator()).filter(item::isBy).isPresent()
            && (item.visibility() == Visibility.ORG || publishesPublicly(item.orgId())));
  }

  private boolean publishesPublicly(String orgId) {
    return organizations.findOrganization(orgId).filter(Publisher::publishesPublicly).isPresent();
  }
}
