package dev.bourse.uploads;

import dev.bourse.access.Members;
import dev.bourse.access.Tokens;
import dev.bourse.checkpoint.Checkpoint;
import dev.bourse.checkpoint.Publisher;
import dev.bourse.checkpoint.Visibility;

/**
 * Whether whoever announced a file may still publish it. Answered from memory, because it is asked
 * for every block of an upload; what is asked once a request is answered by the store.
 */
public final class PublishPermission {
  private final Members members;
  private final Tokens organizations;

  /**
   * @param members knows who is on a roster of an organization that is not retired, and not
   *     suspended
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
