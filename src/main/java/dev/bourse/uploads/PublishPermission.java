package dev.bourse.uploads;

import dev.bourse.access.Members;
import dev.bourse.access.Tokens;
import dev.bourse.checkpoint.Checkpoint;
import dev.bourse.checkpoint.Publisher;
import dev.bourse.checkpoint.Visibility;

/**
 * Whether whoever announced a file may still publish it. Asked of memory, so that every block of an
 * upload under way can ask; what is asked once a request asks the rows.
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
