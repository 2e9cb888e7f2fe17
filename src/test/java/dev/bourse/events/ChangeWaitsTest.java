package dev.bourse.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.bourse.access.AccessStore;
import dev.bourse.access.Organization;
import dev.bourse.access.Principal;
import dev.bourse.audit.AuditStore;
import dev.bourse.audit.AuditedReads;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ExchangeFixture;
import dev.bourse.capacity.Sample;
import dev.bourse.core.ErrorCode;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Limits on the number of waits. */
class ChangeWaitsTest extends ExchangeFixture {
  private static final ChangeWaits.Known NOTHING = new ChangeWaits.Known(null, null);

  /** Uses another token for each wait, so that a token's own limit does not apply. */
  @Test
  void oneOrganizationsWaitsLeaveRoomForOthers() throws Exception {
    adopt(Sample.empty());
    await(
        database.commit(
            List.of(
                AccessStore.insert(new Organization("globex", "Globex", "standard"), Sample.T0))));
    adopt(Cluster.created("g1", "globex", "h100", Cluster.Kind.VM, Cluster.Posture.MARKET));
    ActivityStore activity = new ActivityStore(database);
    AuditedReads reads =
        new AuditedReads(vertx, new AuditStore(database), Optional.empty(), clock, new Random(1));
    ChangeWaits waits =
        new ChangeWaits(
            new EventService(clusters, activity, reads, clock),
            clusters,
            activity,
            System::nanoTime,
            4);
    Future<ChangeWaits.Change> first = begin(waits, "acme", "a");
    Future<ChangeWaits.Change> second = begin(waits, "acme", "b");
    Sample.refused(ErrorCode.OVERLOADED, () -> begin(waits, "acme", "c"));
    assertEquals(2, waits.running());
    Future<ChangeWaits.Change> others = begin(waits, "globex", "d");
    assertFalse(others.failed());
    waits.end();
    for (Future<ChangeWaits.Change> wait : List.of(first, second, others)) {
      await(wait);
    }
    assertEquals(0, waits.running());
  }

  private static Future<ChangeWaits.Change> begin(ChangeWaits waits, String org, String token) {
    Principal caller =
        new Principal(
            new Organization(org, org, "standard"), "token:" + token, token, Set.of(), null, null);
    return waits.next(
        Cluster.Kind.VM, caller, Optional.empty(), NOTHING, ChangeWaits.MOST_MILLIS, gone -> {});
  }
}
