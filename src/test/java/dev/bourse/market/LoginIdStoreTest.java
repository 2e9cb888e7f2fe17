package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.AccessStore;
import dev.bourse.access.Organization;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.nodes.IdRange;
import dev.bourse.nodes.LoginIds;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Ids of logins and organizations; no two tenants ever have the same id. */
class LoginIdStoreTest extends StoreFixture {
  private LoginIdStore ids(long first, long last) {
    return new LoginIdStore(database, new IdRange(first, last));
  }

  @Test
  void anOrganizationHasOneGroupIdInAllItsGrantsAndEachGrantAUserIdOfItsOwn() throws Exception {
    LoginIdStore ids = ids(70_000, 70_010);
    assertEquals(new LoginIds(70_001, 70_000), await(ids.of("acme", "a1")));
    assertEquals(new LoginIds(70_002, 70_000), await(ids.of("acme", "a2")));
    await(ids.assignGid("globex"));
    assertEquals(Optional.of(70_003L), await(ids.findGid("globex")));
    assertEquals(new LoginIds(70_004, 70_003), await(ids.of("globex", "a3")));
    assertEquals(new LoginIds(70_001, 70_000), await(ids.of("acme", "a1")), "called again");
    // An organization and an allocation may have the same name.
    assertEquals(new LoginIds(70_005, 70_003), await(ids.of("globex", "acme")));
  }

  private void addOrganizations(int count) throws Exception {
    List<Statement> statements = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      statements.add(AccessStore.insert(new Organization("org" + i, "Org", "standard"), 1));
    }
    await(database.commit(statements));
  }

  private static Future<Void> assignAll(LoginIdStore ids) {
    return ids.assignMissingGids()
        .compose(isMore -> isMore ? assignAll(ids) : Future.succeededFuture());
  }

  @Test
  void readingAnOrganizationAssignsNothing() throws Exception {
    assertEquals(Optional.empty(), await(ids(70_000, 70_010).findGid("acme")));
    assertEquals(List.of(), integers("SELECT id FROM login_id"));
  }

  @Test
  void organizationsWithoutAGroupIdGetOneUnlessTheyAreRetired() throws Exception {
    addOrganizations(600);
    await(
        database.commit(
            List.of(Statement.of("UPDATE org SET retired_at = 1 WHERE org_id = 'org7'"))));
    LoginIdStore ids = ids(70_000, 79_999);
    await(ids.of("org5", "a1"));

    await(assignAll(ids));

    assertEquals(Optional.of(70_000L), await(ids.findGid("org5")), "as before");
    assertEquals(Optional.empty(), await(ids.findGid("org7")));
    // Organization acme is in every store of this class; one is retired, and one id is a login's.
    assertEquals(List.of(601L), integers("SELECT COUNT(*) FROM login_id"));
    await(assignAll(ids));
    assertEquals(List.of(601L), integers("SELECT COUNT(*) FROM login_id"));
  }

  @Test
  void anotherRangeChangesNoIdThatWasAssigned() throws Exception {
    await(ids(70_000, 70_010).of("acme", "a1"));
    LoginIdStore later = ids(80_000, 80_010);
    assertEquals(new LoginIds(70_001, 70_000), await(later.of("acme", "a1")));
    assertEquals(new LoginIds(80_000, 70_000), await(later.of("acme", "a2")));
    // Returns to the earlier range, whose ids are not assigned again.
    assertEquals(new LoginIds(70_002, 70_000), await(ids(70_000, 70_010).of("acme", "a3")));
  }

  @Test
  void aRangeThatIsUsedUpGivesNoIdOfAnother() throws Exception {
    LoginIdStore ids = ids(70_000, 70_001);
    await(database.commit(List.of(Statement.of("INSERT INTO login_id VALUES (80000, 'org x')"))));
    await(ids.of("acme", "a1"));
    IllegalStateException why = fails(IllegalStateException.class, ids.of("acme", "a2"));
    assertTrue(String.valueOf(why.getMessage()).contains("70000-70001"), why::toString);
    assertEquals(Optional.of(70_000L), await(ids.findGid("acme")));
    await(ids.assignGid("globex"));
    assertEquals(Optional.empty(), await(ids.findGid("globex")));
    addOrganizations(1);
    IllegalStateException missing = fails(IllegalStateException.class, assignAll(ids));
    assertTrue(String.valueOf(missing.getMessage()).contains("70000-70001"), missing::toString);
    assertEquals(
        List.of(70_000L, 70_001L, 80_000L), integers("SELECT id FROM login_id ORDER BY id"));
  }

  @Test
  void processesThatAssignAtTheSameTimeGiveDifferentIds() throws Exception {
    List<Future<LoginIds>> asked = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      asked.add(ids(70_000, 70_100).of("org" + i % 3, "a" + i));
    }
    Set<Long> uids = new HashSet<>();
    Set<Long> gids = new HashSet<>();
    for (Future<LoginIds> one : asked) {
      LoginIds given = await(one);
      uids.add(given.uid());
      gids.add(given.gid());
    }
    assertEquals(30, uids.size());
    assertEquals(3, gids.size());
    uids.retainAll(gids);
    assertEquals(Set.of(), uids);
  }
}
