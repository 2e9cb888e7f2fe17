package dev.bourse.org;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.access.AccessStore;
import dev.bourse.access.Members;
import dev.bourse.access.Tokens;
import dev.bourse.capacity.CapacityStore;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ExchangeFixture;
import dev.bourse.capacity.OperatorCommands;
import dev.bourse.store.BoundedWork;
import dev.bourse.store.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Operations on an organization as large as a fleet. */
class OrgAdminServiceTest extends ExchangeFixture {
  private static final int FLEET = 3_000;

  /** More at once would fill the store's queue, which also holds requests. */
  @Test
  void aBoundedNumberOfARetiredFleetsClustersGiveBackAtOnce() throws Exception {
    List<Statement> statements = new ArrayList<>();
    List<Cluster> fleet = new ArrayList<>();
    for (int i = 0; i < FLEET; i++) {
      fleet.add(
          Cluster.created("fleet-" + i, "acme", "h100", Cluster.Kind.VM, Cluster.Posture.MARKET));
      statements.addAll(CapacityStore.insert(fleet.get(i), clock.millis()));
    }
    await(database.commit(statements));
    for (Cluster cluster : fleet) {
      await(owners.adopt(cluster));
    }
    AccessStore access = new AccessStore(database);
    OrgAdminService orgs =
        new OrgAdminService(
            database,
            new Tokens(access, clock),
            new Members(access),
            List.of(),
            cluster -> owners.submit(cluster, OperatorCommands.retire()).mapEmpty(),
            clock);

    await(orgs.retire("operator:first", "acme"));
    assertEquals(List.of(0L), integers("SELECT COUNT(*) FROM cluster WHERE writes_armed <> 0"));
    assertEquals(BoundedWork.AT_ONCE, mostCommitsAtOnce());
  }
}
