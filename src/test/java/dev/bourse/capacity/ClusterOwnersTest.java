package dev.bourse.capacity;

import static dev.bourse.capacity.Sample.T0;
import static dev.bourse.capacity.Sample.TERMS;
import static dev.bourse.capacity.Sample.empty;
import static dev.bourse.capacity.Sample.order;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.pools.Pool;
import dev.bourse.pools.Switches;
import dev.bourse.pools.settings.PoolStore;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreUnavailableException;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The owners of clusters on a real store. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class ClusterOwnersTest extends StoreFixture {
  private final Clusters clusters = new Clusters(new Switches(true, false, false), clock);
  private ClusterOwners owners;

  @BeforeEach
  void deploy() throws Exception {
    await(database.commit(CapacityStore.insert(empty(), T0)));
    clusters.put(Sample.POOL);
    owners =
        await(
            ClusterOwners.deploy(
                vertx, clusters, new CapacityStore(database, new Random(1)), clock, 2));
  }

  private Future<Cluster> submit(String cluster, Command command) {
    return submit(cluster, command, List.of());
  }

  private Future<Cluster> submit(String cluster, Command command, List<Statement> fences) {
    return owners.submit(cluster, command, fences).map(ClusterView::cluster);
  }

  @Test
  void theAnswerIsTheSnapshotThatIsPublished() throws Exception {
    ClusterView answer = await(owners.submit("c1", declaring(8)));

    assertSame(answer, clusters.find("c1").orElseThrow());
    assertSame(answer.encoded(), clusters.find("c1").orElseThrow().encoded(), "encoded once");
  }

  @Test
  void clustersArePublishedAsStoredBeforeTheFirstCommand() {
    assertEquals(empty(), published());
  }

  @Test
  void moreClustersThanAPieceAreAllHeldAfterAStart() throws Exception {
    List<Statement> statements = new ArrayList<>();
    int count = ClusterOwners.PIECE + 1;
    for (int i = 0; i < count; i++) {
      statements.addAll(
          CapacityStore.insert(
              Cluster.created(
                  "n" + i, "acme", Sample.POOL.name(), Cluster.Kind.VM, Cluster.Posture.MARKET),
              T0));
    }
    await(database.commit(statements));

    Clusters read = new Clusters(new Switches(true, false, false), clock);
    read.put(Sample.POOL);
    ClusterOwners fresh =
        await(
            ClusterOwners.deploy(
                vertx, read, new CapacityStore(database, new Random(1)), clock, 2));

    assertEquals(count + 1, read.ofPool(Sample.POOL.name()).size(), "with the one of the set-up");
    for (int i = 0; i < count; i += 100) {
      await(fresh.submit("n" + i, declaring(8)));
    }
  }

  /** Each condition that keeps a retired cluster in memory. */
  private static List<Cluster> almostSettled() {
    Cluster.Draft holds = Sample.active(1).draft();
    holds.retiredAtMillis = T0;
    Cluster.Draft held = empty().draft();
    held.retiredAtMillis = T0;
    held.hold = new Hold(Hold.Stage.NOTICE, "credit", T0);
    Cluster.Draft last = empty().draft();
    last.retiredAtMillis = T0;
    last.standing = last.standing.withGiveUp(T0);
    return List.of(empty(), holds.build(), held.build(), last.build());
  }

  @Test
  void aSettledClusterLeavesMemoryAndComesBackForThoseWhoNameIt() throws Exception {
    await(submit("c1", SelfService.retire("member:ann", false)));
    Cluster retired = clusters.find("c1").orElseThrow().cluster();
    assertTrue(retired.isSettled());
    assertEquals(List.of(), List.copyOf(clusters.names()));
    assertEquals(List.of(), List.copyOf(clusters.ofOrg("acme")));
    assertEquals(List.of(), await(owners.compare().next()).orElseThrow());

    Clusters read = new Clusters(new Switches(true, false, false), clock);
    read.put(Sample.POOL);
    ClusterOwners fresh =
        await(
            ClusterOwners.deploy(
                vertx, read, new CapacityStore(database, new Random(1)), clock, 2));
    assertTrue(read.find("c1").isEmpty(), "a settled cluster is not read at the start");
    await(fresh.meetNamed("c1"));
    assertEquals(retired, read.find("c1").orElseThrow().cluster());
    assertEquals(
        "retired",
        fails(ApiException.class, fresh.submit("c1", declaring(8))).extras().get("reason"));
    await(fresh.submit("c1", SelfService.retire("member:ann", false)));
    await(fresh.meetNamed("c9"));
    assertTrue(read.find("c9").isEmpty());
    List<ClusterView> listed =
        await(
                fresh.list(
                    new CapacityStore.Filter(
                        Optional.of("acme"), Optional.of("h100"), Optional.of(true)),
                    "",
                    10))
            .items();
    assertEquals(List.of(retired), listed.stream().map(ClusterView::cluster).toList());
  }

  @Test
  void aClusterOfAPoolThatIsNotKnownYetAsksToTryAgainAndIsListedThen() throws Exception {
    Pool created =
        new Pool(
            "h200",
            Sample.POOL.site(),
            Sample.POOL.provider(),
            Sample.POOL.hardware(),
            Sample.POOL.bounds(),
            Sample.POOL.rules(),
            null,
            Sample.POOL.environment());
    await(
        database.commit(
            Stream.concat(
                    Stream.of(PoolStore.insert(created, T0)),
                    CapacityStore.insert(
                        Cluster.created(
                            "c2", "acme", "h200", Cluster.Kind.VM, Cluster.Posture.MARKET),
                        T0)
                        .stream())
                .toList()));
    CapacityStore.Filter ofAcme =
        new CapacityStore.Filter(Optional.of("acme"), Optional.empty(), Optional.empty());

    ApiException list = fails(ApiException.class, owners.list(ofAcme, "", 10));
    assertEquals(ErrorCode.OVERLOADED, list.code());
    assertEquals(1L, list.extras().get("retry_after_s"));
    assertEquals(ErrorCode.OVERLOADED, fails(ApiException.class, owners.meetNamed("c2")).code());

    clusters.put(created);
    assertEquals(
        List.of("c1", "c2"),
        await(owners.list(ofAcme, "", 10)).items().stream()
            .map(view -> view.cluster().name())
            .toList());
    await(owners.meetNamed("c2"));
    assertTrue(clusters.find("c2").isPresent());
  }

  @Test
  void aRowIsSettledWhenItsClusterIs() throws Exception {
    CapacityStore store = new CapacityStore(database, new Random(1));
    for (Cluster cluster : almostSettled()) {
      assertFalse(cluster.isSettled(), cluster.toString());
      await(database.commit(List.of(Statement.of("DELETE FROM allocation"))));
      await(database.commit(List.of(Statement.of("DELETE FROM cluster"))));
      await(database.commit(CapacityStore.insert(cluster, T0)));
      assertEquals(List.of(cluster), await(store.listClustersAfter("", 10)));
      assertEquals(1, await(store.listRevisions("", 10)).size());
    }
    Cluster.Draft settled = empty().draft();
    settled.retiredAtMillis = T0;
    await(database.commit(List.of(Statement.of("DELETE FROM cluster"))));
    await(database.commit(CapacityStore.insert(settled.build(), T0)));
    assertTrue(settled.build().isSettled());
    assertEquals(List.of(), await(store.listClustersAfter("", 10)));
    assertEquals(List.of(), await(store.listRevisions("", 10)));
  }

  /** A fleet is read in hundreds of batches, and the stack of an event loop is small. */
  @Test
  void thousandsOfPiecesMakeNoDeepStack() throws Exception {
    List<Statement> statements = new ArrayList<>();
    int count = 4_000;
    for (int i = 0; i < count; i++) {
      statements.addAll(
          CapacityStore.insert(
              Cluster.created(
                  "fleet-" + i, "acme", "h100", Cluster.Kind.VM, Cluster.Posture.MARKET),
              T0));
    }
    await(database.commit(statements));
    Clusters seen = new Clusters(new Switches(true, false, false), clock);
    seen.put(Sample.POOL);

    await(
        ClusterOwners.deploy(
            vertx,
            seen,
            new CapacityStore(database, new Random(1)),
            ClusterOwners.Clocks.of(clock),
            2,
            1));
    assertEquals(count + 1, seen.ofPool("h100").size());
  }

  @Test
  void whatIsToldOfAClusterIsShownUnlessSomethingNewerIs() throws Exception {
    Cluster first = declaring(8).apply(empty(), T0).next();
    Cluster second = DirectChange.maintain(true).apply(first, T0).next();

    assertTrue(await(owners.apply("c1", ClusterRows.line(second))));
    assertEquals(second, published());
    assertTrue(await(owners.apply("c1", ClusterRows.line(first))), "the change need not be read");
    assertEquals(second, published(), "no older state replaces a newer one");
    assertTrue(owners.holds("c1", second.revision()));
    assertFalse(owners.holds("c1", second.revision() + 1));
    assertFalse(owners.holds("unknown", 0));
  }

  @Test
  void whatIsToldAndCannotBeShownIsLeftToBeRead() throws Exception {
    Cluster elsewhere =
        Cluster.created("c9", "acme", "unknown", Cluster.Kind.VM, Cluster.Posture.MARKET);

    assertFalse(await(owners.apply("c9", ClusterRows.line(elsewhere))));
    assertFalse(await(owners.apply("c1", "no row")));
    assertEquals(empty(), published());
  }

  @Test
  void newTermsAreShownByWhatWasPublishedBefore() {
    ClusterView before = clusters.find("c1").orElseThrow();
    ClusterView fixed = before.fixed();
    String etag = before.encoded().etag();
    clusters.put(new Overrides(777L, Map.of()).over(Sample.POOL));

    assertSame(before, clusters.find("c1").orElseThrow());
    assertEquals(777, before.pool().capCents());
    assertNotEquals(etag, before.encoded().etag());
    assertEquals(etag, fixed.encoded().etag());
    assertFalse(before.isSameAs(fixed));
    assertTrue(before.isSameAs(before.fixed()));
  }

  @Test
  void aCommandIsAnsweredOnceItIsStoredAndVisible() throws Exception {
    Cluster answer = await(submit("c1", declaring(8)));

    assertEquals(1, answer.version());
    assertSame(answer, published());
    assertEquals(List.of(1L), integers("SELECT version FROM cluster"));
  }

  @Test
  void commandsOfOneClusterRunInTheOrderTheyCameEachOnTheStateTheOneBeforeLeft() throws Exception {
    List<Integer> order = Collections.synchronizedList(new ArrayList<>());
    List<Future<Cluster>> all = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      int number = i;
      all.add(
          submit(
              "c1",
              (cluster, now) -> {
                order.add(number);
                assertEquals(number, cluster.revision());
                return DirectChange.maintain(number % 2 == 0).apply(cluster, now);
              }));
    }
    await(Future.all(all));

    assertEquals(IntStream.range(0, 100).boxed().toList(), order);
    assertEquals(100, published().revision());
  }

  @Test
  void aFullMailboxAnswersOverloadedAndEverythingQueuedIsStillDone() throws Exception {
    List<Future<Cluster>> all = new ArrayList<>();
    for (int i = 0; i < 3 * ClusterVerticle.MAX_WAITING; i++) {
      all.add(submit("c1", DirectChange.maintain(true)));
    }
    await(Future.join(all).otherwiseEmpty());

    int done = 0;
    for (Future<Cluster> one : all) {
      if (one.succeeded()) {
        done++;
      } else {
        ApiException refused = fails(ApiException.class, one);
        assertEquals(ErrorCode.OVERLOADED, refused.code());
        assertEquals(1L, refused.extras().get("retry_after_s"));
      }
    }
    // One command is carried out while the mailbox fills.
    assertEquals(published().revision(), done);
    assertEquals(true, done > ClusterVerticle.MAX_WAITING);
  }

  @Test
  void aFailingCommandDoesNotStopTheNext() throws Exception {
    Future<Cluster> refused =
        submit(
            "c1",
            (cluster, now) -> {
              throw ApiException.of(ErrorCode.CLUSTER_GATED, "no");
            });
    Future<Cluster> broken =
        submit(
            "c1",
            (cluster, now) -> {
              throw new IllegalStateException("made to fail");
            });
    Future<Cluster> overflowing =
        submit(
            "c1",
            (cluster, now) -> {
              throw new StackOverflowError("made to fail");
            });
    Future<Cluster> next = submit("c1", declaring(8));

    fails(ApiException.class, refused);
    fails(IllegalStateException.class, broken);
    fails(StackOverflowError.class, overflowing);
    assertEquals(1, await(next).version());
  }

  @Test
  void memoryStaysAsItIsWhenTheCommitFails() throws Exception {
    failNextCommits(1);

    fails(StoreUnavailableException.class, submit("c1", declaring(8)));

    assertEquals(empty(), published());
    assertEquals(1, await(submit("c1", declaring(16))).version());
    assertEquals(List.of(16L), integers("SELECT max_gpus FROM cluster"));
  }

  @Test
  void aCommandWhoseFenceFailsStoresNothing() throws Exception {
    Statement fence =
        Statement.guarded(
            () -> new IllegalStateException("lease"),
            "UPDATE lease SET epoch = epoch WHERE pool = ?",
            "h100");

    IllegalStateException refused =
        fails(IllegalStateException.class, submit("c1", declaring(8), List.of(fence)));

    assertEquals("lease", refused.getMessage());
    assertEquals(empty(), published());
  }

  @Test
  void whenTheRowMovedBehindTheOwnerItReloadsAndAppliesOnceMore() throws Exception {
    Transition elsewhere = Capacity.declare(empty(), order(24, "3", 0), TERMS, T0);
    await(new CapacityStore(database, new Random(1)).commit(elsewhere, List.of(), List.of(), T0));
    clock.advance(Sample.CADENCE);
    List<Long> seen = Collections.synchronizedList(new ArrayList<>());

    Cluster answer =
        await(
            submit(
                "c1",
                (cluster, now) -> {
                  seen.add(cluster.version());
                  return DirectChange.maintain(true).apply(cluster, now);
                }));

    assertEquals(List.of(0L, 1L), seen);
    assertEquals(24, Sample.declaration(answer).maxGpus());
    assertEquals(2, answer.revision());
  }

  @Test
  void aStaleCompareAndSetIsRefusedAfterTheReload() throws Exception {
    Transition elsewhere = Capacity.declare(empty(), order(24, "3", 0), TERMS, T0);
    await(new CapacityStore(database, new Random(1)).commit(elsewhere, List.of(), List.of(), T0));

    ApiException refused = fails(ApiException.class, submit("c1", declaring(8)));

    assertEquals(ErrorCode.VERSION_MISMATCH, refused.code());
    assertEquals(elsewhere.next(), published());
  }

  /** A failover lost its creation. */
  @Test
  void aClusterThatIsNotStoredAnyMoreIsForgotten() throws Exception {
    await(submit("c1", declaring(8)));
    assertEquals(1, clusters.stirringIn("h100").size());
    await(database.commit(List.of(Statement.of("DELETE FROM cluster WHERE name = 'c1'"))));

    List<String> differing = await(owners.compare().next()).orElseThrow();
    assertEquals(List.of("c1"), differing);
    await(owners.refresh(differing));
    // The owner removes the cluster before it carries out this command.
    assertEquals(
        ErrorCode.NOT_FOUND,
        fails(ApiException.class, submit("c1", DirectChange.maintain(true))).code());
    assertEquals(List.of(), List.copyOf(clusters.stirringIn("h100")));
    assertEquals(List.of(), List.copyOf(clusters.ofOrg("acme")));
  }

  @Test
  void aClusterNobodyKnowsIsNotFound() {
    assertEquals(
        ErrorCode.NOT_FOUND,
        fails(ApiException.class, submit("c9", DirectChange.maintain(true))).code());
  }

  @Test
  void aClusterAdoptedLaterTakesCommandsAtOnce() throws Exception {
    Cluster other = Cluster.created("c2", "acme", "h100", Cluster.Kind.VM, Cluster.Posture.MARKET);
    await(database.commit(CapacityStore.insert(other, T0)));
    await(owners.adopt(other));

    assertEquals(1, await(submit("c2", declaring(8))).version());
  }

  @Test
  void aChangedSwitchShowsInEverySnapshotAtOnce() {
    clusters.put(new Switches(false, true, true));

    String json = clusters.find("c1").orElseThrow().encoded().json().toString();
    assertEquals(true, json.contains("\"writes_armed\":false"), json);
    assertEquals(true, json.contains("\"spend_limit_enforced\":true"), json);
  }

  private Cluster published() {
    return clusters.find("c1").orElseThrow().cluster();
  }

  private static Command declaring(int maxGpus) {
    return (cluster, now) -> Capacity.declare(cluster, order(maxGpus, "2", 0), TERMS, now);
  }
}
