package dev.bourse.capacity;

import static dev.bourse.capacity.Sample.T0;
import static dev.bourse.capacity.Sample.TERMS;
import static dev.bourse.capacity.Sample.active;
import static dev.bourse.capacity.Sample.at;
import static dev.bourse.capacity.Sample.empty;
import static dev.bourse.capacity.Sample.granted;
import static dev.bourse.capacity.Sample.ip;
import static dev.bourse.capacity.Sample.order;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.bourse.core.Times;
import dev.bourse.nodes.Health;
import dev.bourse.store.Database;
import dev.bourse.store.ForwardingDatabase;
import dev.bourse.store.Statement;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Clusters and allocations in the store. */
class CapacityStoreTest extends StoreFixture {
  private static final long LATER = T0 + 600_000;

  @Test
  void everyFieldOfAClusterAndItsAllocationsSurvives() throws Exception {
    CapacityStore store = new CapacityStore(database, new Random(1));
    Cluster cluster = manySided();
    await(database.commit(CapacityStore.insert(cluster, T0)));

    assertEquals(List.of(cluster), await(store.listClustersAfter("", 10)));
    assertEquals(Optional.of(cluster), await(store.findCluster("c1")));
    assertEquals(Optional.empty(), await(store.findCluster("c2")));
    assertEquals(
        cluster, ClusterRows.cluster(ClusterRows.line(cluster)), "as the change feed sends it");
  }

  @Test
  void everyFieldThatARequestMayLeaveOutIsStoredAndShownAsSent() throws Exception {
    CapacityStore store = new CapacityStore(database, new Random(1));
    await(database.commit(CapacityStore.insert(manySided(), T0)));

    Cluster stored = await(store.findCluster("c1")).orElseThrow();
    JsonObject shown =
        new JsonObject(Sample.views(stored).get(0).encoded().json()).getJsonObject("declared");

    assertEquals(Conditions.Changes.FIELDS, SENT.fieldNames());
    SENT.forEach(field -> assertEquals(field.getValue(), shown.getValue(field.getKey())));
  }

  @Test
  void theSampleLeavesNoColumnEmpty() {
    JsonObject line = new JsonObject(ClusterRows.line(manySided()));
    Set<String> filled = new TreeSet<>();
    Set<String> columns = new TreeSet<>();
    for (Object allocation : (JsonArray) line.remove("allocations")) {
      ((JsonObject) allocation)
          .forEach(
              column -> {
                columns.add(column.getKey());
                if (column.getValue() != null) {
                  filled.add(column.getKey());
                }
              });
    }

    assertEquals(columns, filled, "each column has a value in some allocation");
    line.forEach(column -> assertNotNull(column.getValue(), column.getKey()));
  }

  @Test
  void aLineThatLacksAColumnOfThisReleaseIsRefusedAndOneOfALaterReleaseIsRead() {
    JsonObject line = new JsonObject(ClusterRows.line(manySided()));

    assertEquals(
        manySided(), ClusterRows.cluster(line.copy().put("of_later", 1).encode()), "one more");
    for (String column : line.fieldNames()) {
      JsonObject older = line.copy();
      older.remove(column);
      if (!column.equals("created_at")) {
        assertThrows(RuntimeException.class, () -> ClusterRows.cluster(older.encode()), column);
      }
    }
  }

  @Test
  void aClusterOfManyNodesIsToldByItsNameAlone() {
    List<Allocation> many = Collections.nCopies(100, active(1).allocations().get(0));
    assertEquals("", ClusterRows.line(empty().withAllocations(many)));
  }

  @Test
  void aClusterThatNobodyDeclaredAnythingForSurvives() throws Exception {
    CapacityStore store = new CapacityStore(database, new Random(1));
    await(database.commit(CapacityStore.insert(empty(), T0)));

    assertEquals(List.of(empty()), await(store.listClustersAfter("", 10)));
  }

  @Test
  void everyTransitionOfALifeIsStoredAsItIsInMemory() throws Exception {
    CapacityStore store = new CapacityStore(database, new Random(1));
    await(database.commit(CapacityStore.insert(empty(), T0)));
    List<Command> life = new ArrayList<>();
    life.add((c, now) -> Capacity.declare(c, order(16, "2", 0), TERMS, now));
    life.add(
        (c, now) ->
            Sample.settled(
                c, List.of(Sample.grant(0, null), Sample.grant(1, null)), List.of(), now));
    life.add((c, now) -> MarketTransitions.provisioned(c, "a0", 9_000, now));
    life.add((c, now) -> MarketTransitions.unwound(c, "a1", "broken", now));
    life.add((c, now) -> Sample.settled(c, List.of(Sample.grant(3, null)), List.of(), now));
    life.add((c, now) -> MarketTransitions.joinRefused(c, "a3", now));
    life.add((c, now) -> Capacity.swap(c, Sample.ACTOR, ip(0), TERMS, now));
    life.add((c, now) -> Sample.settled(c, List.of(Sample.grant(2, "a0")), List.of(), now));
    life.add(OperatorCommands.pin(ip(2), true));
    life.add(DirectChange.hold(new Hold(Hold.Stage.NOTICE, "unpaid", LATER)));
    life.add(DirectChange.maintain(true));
    life.add(DirectChange.posture(Cluster.Posture.STATIC));
    life.add(DirectChange.armWrites(false));
    life.add((c, now) -> MarketTransitions.provisioned(c, "a2", 9_000, now));
    life.add((c, now) -> MarketTransitions.reclaimed(c, "a0"));

    Cluster cluster = empty();
    long now = LATER;
    for (Command command : life) {
      Transition transition = command.apply(cluster, now);
      await(store.commit(transition, List.of(), List.of(), now));
      cluster = transition.next();
      Cluster stored = await(store.findCluster("c1")).orElseThrow();
      assertEquals(bySlotAndGrant(cluster), stored, "after step " + cluster.revision());
      assertEquals(
          stored, ClusterRows.cluster(ClusterRows.line(cluster)), "as the change feed sends it");
      now += 10_000;
    }
    assertEquals(List.of(15L), integers("SELECT revision FROM cluster"));
    assertEquals(List.of(2L), integers("SELECT COUNT(*) FROM audit"));
    assertEquals(List.of(1L), integers("SELECT COUNT(*) FROM allocation WHERE gone_at > 0"));
  }

  /** After a failover that lost the first, another process may store the second. */
  @Test
  void twoStatesThatFollowTheSameOneAreNotTakenForEachOther() throws Exception {
    Database shared =
        new ForwardingDatabase(database) {
          @Override
          public boolean isShared() {
            return true;
          }
        };
    CapacityStore store = new CapacityStore(shared, new Random(1));
    await(database.commit(CapacityStore.insert(empty(), T0)));
    Transition lost = Capacity.declare(empty(), order(8, "2", 0), TERMS, T0);
    Transition kept = Capacity.declare(empty(), order(16, "3", 0), TERMS, T0);
    Cluster ofLost = await(store.commit(lost, List.of(), List.of(), T0));
    await(database.commit(List.of(Statement.of("UPDATE cluster SET revision = 0"))));
    Cluster ofKept = await(store.commit(kept, List.of(), List.of(), T0));
    assertNotEquals(ofLost.revision(), ofKept.revision());

    Transition onTop = DirectChange.maintain(true).apply(ofLost, T0);
    fails(
        CapacityStore.RevisionPassedException.class, store.commit(onTop, List.of(), List.of(), T0));

    assertEquals(Optional.of(ofKept), await(store.findCluster("c1")));
  }

  @Test
  void aStaleRevisionIsRefusedByTheGuardAndNothingOfItIsStored() throws Exception {
    CapacityStore store = new CapacityStore(database, new Random(1));
    await(database.commit(CapacityStore.insert(empty(), T0)));
    Transition first = Capacity.declare(empty(), order(8, "2", 0), TERMS, T0);
    Transition second = Capacity.declare(empty(), order(16, "3", 0), TERMS, T0);
    await(store.commit(first, List.of(), List.of(), T0));

    fails(
        CapacityStore.RevisionPassedException.class,
        store.commit(second, List.of(), List.of(), T0));

    assertEquals(Optional.of(first.next()), await(store.findCluster("c1")));
    assertEquals(List.of(1L), integers("SELECT COUNT(*) FROM audit"));
    assertEquals(List.of(1L), integers("SELECT COUNT(*) FROM activity"));
  }

  @Test
  void aNodeIsNeverHeldTwice() throws Exception {
    CapacityStore store = new CapacityStore(database, new Random(1));
    Cluster.Draft wants =
        Cluster.created("c2", "acme", "h100", Cluster.Kind.VM, Cluster.Posture.MARKET).draft();
    wants.declared = Declaration.of(8, 200, T0, Sample.ACTOR);
    Cluster other = wants.build();
    await(database.commit(CapacityStore.insert(active(1), T0)));
    await(database.commit(CapacityStore.insert(other, T0)));
    MarketTransitions.Orders.Grant same =
        new MarketTransitions.Orders.Grant("b0", "n0", ip(0), null, List.of(), 1);

    fails(
        Exception.class,
        store.commit(
            Sample.settled(other, List.of(same), List.of(), LATER), List.of(), List.of(), LATER));

    assertEquals(Optional.of(other), await(store.findCluster("c2")));
  }

  @Test
  void whatOrganizationsGaveUpAndWhomTheyEvictedIsCounted() throws Exception {
    CapacityStore store = new CapacityStore(database, new Random(1));
    Cluster granted = Sample.provisioning(2);
    await(database.commit(CapacityStore.insert(granted, T0)));
    Transition left = Capacity.declare(granted, Sample.order(8, "2", 1), TERMS, T0 + 60_000);
    await(store.commit(left, List.of(), List.of(), T0 + 60_000));
    BidderEvents.Count evicted = new BidderEvents.Count("acme", 3, 0);
    await(database.commit(List.of(BidderEvents.insert("h100", T0 + 1, evicted))));

    BidderEvents events = new BidderEvents(database);
    BidderEvents.Bidder acme = new BidderEvents.Bidder("acme", 3, 1);
    assertEquals(
        new BidderEvents.Summary(T0, List.of(acme)), await(events.readSummary("h100", T0)));
    assertEquals(new BidderEvents.Summary(T0, List.of()), await(events.readSummary("other", T0)));
    assertEquals(false, await(events.deleteSome(T0 + BidderEvents.KEPT_MILLIS + 30_000)));
    assertEquals(List.of(T0 + 60_000), integers("SELECT ts FROM bidder_event"));
  }

  @Test
  void anAnswerCountsTheNewestEventsAndSaysSinceWhen() throws Exception {
    BidderEvents.Count one = new BidderEvents.Count("acme", 0, 1);
    List<Statement> events = new ArrayList<>();
    for (int i = 0; i <= BidderEvents.MOST_EVENTS; i++) {
      events.add(BidderEvents.insert("h100", T0 + i, one));
    }
    await(database.commit(events));

    assertEquals(
        new BidderEvents.Summary(
            T0 + 1, List.of(new BidderEvents.Bidder("acme", 0, BidderEvents.MOST_EVENTS))),
        await(new BidderEvents(database).readSummary("h100", T0)));
  }

  @Test
  void aChangeOfHealthIsStoredWhereACreditBeginsOrEnds() throws Exception {
    CapacityStore store = new CapacityStore(database, new Random(1));
    Cluster cluster = active(1);
    await(database.commit(CapacityStore.insert(cluster, T0)));
    Health ecc = new Health(Health.State.FAILED, List.of("GPU 3 fails"));
    List<HeldHealth.Finding> findings =
        List.of(
            HeldHealth.Finding.of(Health.OK),
            HeldHealth.Finding.of(ecc),
            HeldHealth.Finding.SILENT,
            HeldHealth.Finding.of(Health.OK));
    long now = LATER;
    for (HeldHealth.Finding finding : findings) {
      Transition found = HealthCommands.found(Map.of("a0", finding), true).apply(cluster, ++now);
      await(store.commit(found, List.of(), List.of(), now));
      cluster = found.next();
    }
    assertEquals(
        List.of("acme a0 FAILED 1 GPU 3 fails", "acme a0 FAILED 0"),
        texts(
            "SELECT org_id || ' ' || allocation_id || ' ' || state || ' ' || credited ||"
                + " CASE WHEN credited = 1 THEN ' ' || reasons ELSE '' END"
                + " FROM allocation_health ORDER BY id"));
    assertEquals(
        List.of(LATER + 2, LATER + 3), integers("SELECT ts FROM allocation_health ORDER BY id"));
  }

  /** The optional fields of a request, each with a value other than the default. */
  private static final JsonObject SENT =
      new JsonObject()
          .put("min_gpus", 8)
          .put("until", Times.rfc3339(LATER + 50_000))
          .put("max_spend_usd", 123.45)
          .put("auto_swap", true);

  /** Returns a cluster none of whose fields has its default. */
  private static Cluster manySided() {
    Cluster cluster = Capacity.swap(active(2), Sample.ACTOR, ip(0), TERMS, LATER).next();
    cluster = granted(cluster, 7, "a0", LATER + 1);
    cluster =
        Capacity.declare(cluster, order(8, "2.5", 2, List.of(ip(1))), TERMS, LATER + 9_000).next();
    cluster = MarketTransitions.unwound(cluster, "a7", "broken", LATER + 9_000).next();
    cluster = granted(cluster, 8, "a0", LATER + 10_000);
    cluster = DirectChange.maintain(true).apply(cluster, 0).next();
    cluster = SelfService.describe("nightly runs", Sample.ACTOR).apply(cluster, 0).next();
    cluster = DirectChange.armWrites(false).apply(cluster, 0).next();
    cluster =
        MarketTransitions.settle(
                cluster,
                Sample.orders(
                    cluster, List.of(), List.of(), NoticeOrders.NONE, new Verdict(true, true), 0),
                0)
            .next();
    Cluster.Draft draft = cluster.draft();
    draft.hold = new Hold(Hold.Stage.ENFORCE, "unpaid", 5L);
    draft.posture = Cluster.Posture.STATIC;
    draft.declared =
        new Declaration(
            16,
            new Declaration.Ceiling(250, LATER, LATER + 19_000),
            new Declaration.LastWrite(LATER + 9_000, Sample.ACTOR, "grt_1"),
            Conditions.Changes.of(SENT).over(Conditions.NONE, LATER + 8_000));
    draft.standing = new Standing(new Standing.Gate(240, LATER, LATER + 1_000), 2, LATER + 2_000);
    draft.overrides = new Overrides(777L, Map.of("A", Optional.of("b"), "C", Optional.empty()));
    draft.retiredAtMillis = LATER + 60_000;
    draft.alerts =
        new Alerts(
            new Alerts.Thresholds(10, 300L, 2, 9_000L, 60_000L),
            Set.of(Alerts.Kind.SPEND, Alerts.Kind.LEASE));
    draft.gangUnwoundAtMillis = LATER + 7_000;
    draft.joinRefusedAtMillis = LATER + 7_500;
    draft.drill = new Drill(LATER + 8_000);
    Allocation held = at(cluster, 0);
    draft.put(
        held.withNotice(new Allocation.Notice(Allocation.Reason.OUTBID, LATER + 99_000))
            .withSwap(LATER + 10_000, 1)
            .withPin(true));
    Allocation waits = at(cluster, 8);
    draft.put(
        waits.with(
            a -> {
              a.readyAtMillis = LATER + 11_000;
              a.withdrawnNoticeEndMillis = LATER + 88_000;
              a.keysDue = true;
              a.health = new HeldHealth(Health.State.FAILED, LATER, List.of("x", "y"), true);
            }));
    return bySlotAndGrant(draft.build());
  }

  private static Cluster bySlotAndGrant(Cluster cluster) {
    List<Allocation> sorted = new ArrayList<>(cluster.allocations());
    sorted.sort(
        Comparator.comparingInt(Allocation::slot).thenComparingLong(Allocation::grantedAtMillis));
    return cluster.withAllocations(sorted);
  }
}
