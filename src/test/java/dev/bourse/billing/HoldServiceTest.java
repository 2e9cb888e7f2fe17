package dev.bourse.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.AccessStore;
import dev.bourse.access.Organization;
import dev.bourse.capacity.Activity;
import dev.bourse.capacity.ActivityRows;
import dev.bourse.capacity.CapacityStore;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterAdminService;
import dev.bourse.capacity.ClusterEvent;
import dev.bourse.capacity.ExchangeFixture;
import dev.bourse.capacity.Hold;
import dev.bourse.capacity.Holds;
import dev.bourse.capacity.Sample;
import dev.bourse.pools.Switches;
import dev.bourse.store.BoundedWork;
import dev.bourse.store.Database;
import dev.bourse.store.ForwardingDatabase;
import dev.bourse.store.RowMapper;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreUnavailableException;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A hold is on every cluster before the cluster can get a grant, in either order of their creation.
 */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class HoldServiceTest extends ExchangeFixture {
  /** No grace, and a notice that does not end during a test. */
  private static final BillingConfig CONFIG = new BillingConfig(0, 3_600_000, 60_000, 1);

  private static final int FLEET = 3_000;

  private HoldService holds;

  @BeforeEach
  void startHolds() throws Exception {
    clusters.put(new Switches(true, true, true));
    holds = new HoldService(database, clusters, owners, CONFIG, Sample.PROTECTION, clock, clock);
    adopt(Sample.empty());
  }

  private void limit(String orgId, @Nullable Long micros) throws Exception {
    SpendLimits seen =
        await(new AccountStore(database).get(orgId, Month.at(clock.millis()))).limits();
    await(database.commit(AccountStore.limits(orgId, seen, seen.withOperator(micros))));
  }

  /** A limit of 0 is reached at once: grace at the first check, notice at the second. */
  private void reachNotice() throws Exception {
    limit("acme", 0L);
    await(holds.check("acme"));
    await(holds.check("acme"));
  }

  private static Cluster named(String name) {
    return Cluster.created(name, "acme", "h100", Cluster.Kind.K8S, Cluster.Posture.MARKET);
  }

  private Hold.Stage stage(String cluster) {
    return Objects.requireNonNull(
            clusters.find(cluster).orElseThrow().cluster().hold(), "no hold on " + cluster)
        .stage();
  }

  private List<Long> heldRows() throws Exception {
    return integers("SELECT COUNT(*) FROM cluster WHERE hold_stage = 'NOTICE'");
  }

  private ClusterAdminService admin(Holds asked) {
    return new ClusterAdminService(clusters, owners, asked, clock);
  }

  @Test
  void aHoldGoesOnByConfirmedTimeAloneAndIsLiftedByAny() throws Exception {
    limit("acme", 0L);
    await(holds.check("acme"));
    clock.confirm(false);
    await(holds.check("acme"));
    assertEquals(Hold.Stage.GRACE, stage("c1"), "holds do not advance without confirmed time");

    limit("acme", null);
    await(holds.check("acme"));
    assertNull(clusters.find("c1").orElseThrow().cluster().hold());
    limit("acme", 0L);
    await(holds.check("acme"));
    assertNull(clusters.find("c1").orElseThrow().cluster().hold());

    clock.confirm(true);
    await(holds.check("acme"));
    assertEquals(Hold.Stage.GRACE, stage("c1"));
  }

  @Test
  void holdsThatWaitForPostingSaySoAndGoOnAfterwards() throws Exception {
    limit("acme", 0L);
    long through = clock.millis() - HoldService.MAX_BEHIND_MILLIS - 1;
    await(new WatermarkStore(database).begin(through));
    await(holds.step());
    assertTrue(holds.isWaiting());
    assertEquals(HoldService.MAX_BEHIND_MILLIS + 1, holds.behindMillis());
    assertNull(clusters.find("c1").orElseThrow().cluster().hold());

    await(new WatermarkStore(database).advance(through, clock.millis(), clock.millis()));
    await(holds.step());
    assertFalse(holds.isWaiting());
    assertEquals(Hold.Stage.GRACE, stage("c1"));
  }

  /** Makes the organization's bill unreadable: ceilings cannot be negative. */
  private List<Statement> unreadable(String orgId) {
    long at = clock.millis() - 1_000;
    List<Statement> rows = new ArrayList<>();
    rows.add(AccessStore.insert(new Organization(orgId, orgId, "standard"), at));
    rows.addAll(
        CapacityStore.insert(
            Cluster.created(orgId + "-1", orgId, "h100", Cluster.Kind.VM, Cluster.Posture.MARKET),
            at));
    rows.add(
        Statement.of(
            "INSERT INTO price_point (pool, ts, clearing_cents, admission_cents, cents_millis,"
                + " priced_millis) VALUES ('h100', ?, 100, NULL, 0, 0)",
            at));
    rows.add(
        ActivityRows.insert(new Activity("x", new ClusterEvent.Declared(8, -2)), orgId + "-1", at));
    rows.add(
        Statement.of(
            "INSERT INTO allocation (allocation_id, cluster, node_id, slot, state, granted_at,"
                + " active_at, grant_ceiling_cents, pinned, nomination, key_ids)"
                + " VALUES ('h1', ?, ?, 0, 'ACTIVE', ?, ?, 1, 0, 0, '')",
            orgId + "-1",
            nodeId(0),
            at,
            at));
    return rows;
  }

  @Test
  void whoseUsageCannotBeReadKeepsNobodyElseFromBeingLookedAt() throws Exception {
    await(new WatermarkStore(database).begin(Usage.hourOf(clock.millis())));
    await(database.commit(unreadable("aaa")));
    limit("acme", 0L);
    limit("aaa", 0L);
    Balances balances = new Balances(database, clusters, Sample.PROTECTION, clock);
    assertThrows(ExecutionException.class, () -> await(balances.get("aaa")));

    assertFalse(await(holds.step()), "the round is over");
    assertEquals(Hold.Stage.GRACE, stage("c1"));
    assertEquals(
        List.of("acme"),
        await(balances.list(List.of("aaa", "acme"))).stream()
            .map(balance -> balance.account().orgId())
            .toList());
  }

  @Test
  void aStoreThatDoesNotAnswerLeavesNobodyOut() throws Exception {
    await(new WatermarkStore(database).begin(Usage.hourOf(clock.millis())));
    Database away =
        new ForwardingDatabase(database) {
          @Override
          public <T> Future<List<T>> read(String sql, List<?> parameters, RowMapper<T> mapper) {
            return sql.contains("JOIN allocation")
                ? Future.failedFuture(new StoreUnavailableException("made to fail", null))
                : super.read(sql, parameters, mapper);
          }
        };
    Balances balances = new Balances(away, clusters, Sample.PROTECTION, clock);
    ExecutionException failure =
        assertThrows(ExecutionException.class, () -> await(balances.list(List.of("acme"))));
    assertInstanceOf(StoreUnavailableException.class, failure.getCause());
  }

  @Test
  void postingFallsBehindInSightWhileNoTimeIsConfirmed() throws Exception {
    long through = clock.millis();
    await(new WatermarkStore(database).begin(through));
    clock.confirm(false);
    assertEquals(0, holds.behindMillis(), "no check has run");
    await(holds.step());
    clock.advance(HoldService.MAX_BEHIND_MILLIS + 1);
    assertEquals(HoldService.MAX_BEHIND_MILLIS + 1, holds.behindMillis(), "without another look");
    assertFalse(holds.isWaiting(), "holds do not move, but not for this");
  }

  @Test
  void aRetiredOrganizationLacksNothingAndItsHoldIsLifted() throws Exception {
    reachNotice();
    await(
        database.commit(
            List.of(
                Statement.of(
                    "UPDATE org SET retired_at = ? WHERE org_id = 'acme'", clock.millis()))));
    await(holds.check("acme"));
    assertNull(clusters.find("c1").orElseThrow().cluster().hold());
    await(holds.check("acme"));
    assertNull(clusters.find("c1").orElseThrow().cluster().hold(), "none begins again");
  }

  @Test
  void aHoldThatMovesIsPutOnAClusterThatAnotherProcessMadeJustNow() throws Exception {
    await(database.commit(CapacityStore.insert(named("c2"), clock.millis())));
    assertTrue(clusters.find("c2").isEmpty());

    reachNotice();
    assertEquals(Hold.Stage.NOTICE, stage("c1"));
    assertEquals(Hold.Stage.NOTICE, stage("c2"));
    assertEquals(List.of(2L), heldRows());
  }

  @Test
  void aClusterIsStoredWithTheHoldItsOrganizationIsUnder() throws Exception {
    reachNotice();
    Cluster made = await(admin(holds).createCluster("operator:x", named("c2"))).cluster();

    assertEquals(Hold.Stage.NOTICE, Objects.requireNonNull(made.hold()).stage());
    assertEquals("spend-limit", Objects.requireNonNull(made.hold()).reason());
    assertEquals(List.of(2L), heldRows());
  }

  @Test
  void aClusterOfAnOrganizationThatLacksNothingIsUnderNoHold() throws Exception {
    Cluster made = await(admin(holds).createCluster("operator:x", named("c2"))).cluster();
    assertNull(made.hold());
  }

  @Test
  void aHoldThatMovesWhileAClusterIsMadeIsOnItTheSame() throws Exception {
    limit("acme", 0L);
    await(holds.check("acme"));
    AtomicInteger looks = new AtomicInteger();
    Holds overtaken =
        orgId ->
            holds
                .readHold(orgId)
                .compose(
                    read ->
                        looks.incrementAndGet() == 1
                            ? holds.check(orgId).map(read)
                            : Future.succeededFuture(read));
    Cluster made = await(admin(overtaken).createCluster("operator:x", named("c2"))).cluster();

    assertEquals(2, looks.get(), "what was read first was not so any more");
    assertEquals(Hold.Stage.NOTICE, Objects.requireNonNull(made.hold()).stage());
  }

  @Test
  void aHoldInForceIsOnEveryClusterBeforeTheMarketOpens() throws Exception {
    reachNotice();
    adopt(named("c2"));
    assertNull(clusters.find("c2").orElseThrow().cluster().hold());

    await(holds.start());
    assertEquals(Hold.Stage.NOTICE, stage("c2"));
    assertEquals(List.of(2L), heldRows());
  }

  /** More at once would fill the store's queue, in which requests wait too. */
  @Test
  void aHoldOfAFleetIsPutOnABoundedNumberOfClustersAtOnce() throws Exception {
    List<Statement> statements = new ArrayList<>();
    List<Cluster> fleet = new ArrayList<>();
    for (int i = 0; i < FLEET; i++) {
      fleet.add(named("fleet-" + i));
      statements.addAll(CapacityStore.insert(fleet.get(i), clock.millis()));
    }
    await(database.commit(statements));
    for (Cluster cluster : fleet) {
      await(owners.adopt(cluster));
    }

    reachNotice();
    assertEquals(List.of(FLEET + 1L), heldRows());
    assertEquals(BoundedWork.AT_ONCE, mostCommitsAtOnce());
  }
}
