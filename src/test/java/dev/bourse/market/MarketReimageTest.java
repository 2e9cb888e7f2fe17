package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.Operator;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Sample;
import dev.bourse.nodes.Health;
import dev.bourse.nodes.NodeFailureException;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A machine of tenants with root rights is granted again only after it has a new image. */
class MarketReimageTest extends MarketFixture {
  private static final Operator OPERATOR = new Operator("t1", "first");
  private static final String OLD = "ssh-ed25519 old";
  private static final String NEW = "ssh-ed25519 new";

  /** The answers of the operator's command, which a test completes. */
  private final List<Promise<String>> commands = new ArrayList<>();

  @BeforeEach
  void giveTenantsRootRights() throws Exception {
    nodes.reimageMillis = OptionalLong.of(60_000);
    nodes.marks.put("n0", "a0");
    onlyNode("n0");
    await(
        database.commit(
            List.of(
                Statement.of("UPDATE node SET host_key = ? WHERE node_id = 'n0'", OLD),
                Statement.of("UPDATE pool SET tenants = 'ROOT'"))));
    clusters.put(rootPool());
  }

  private NodeService operators() {
    return new NodeService(database, clusters, market, clock);
  }

  private void commandsWait() {
    nodes.imaging =
        order -> {
          Promise<String> answer = Promise.promise();
          commands.add(answer);
          return answer.future();
        };
  }

  /** Reinstalls the machine: it loses the mark of its tenant and shows this key. */
  private void install(String key) {
    synchronized (nodes) {
      nodes.marks.remove("n0");
      nodes.shown.put("n0", key);
    }
  }

  private void commandInstalls(String key) {
    nodes.imaging =
        order -> {
          install(key);
          return Future.succeededFuture(key);
        };
  }

  private void openWithTenantThatLeaves() throws Exception {
    adopt(Sample.active(1));
    await(market.start());
    declare(0);
  }

  private void awaitFree() throws Exception {
    eventually("free", () -> cluster().allocations().isEmpty());
  }

  private void awaitQuarantine(String why) throws Exception {
    eventually("quarantined", () -> !failures().isEmpty());
    assertTrue(failures().get(0).contains(why), failures().toString());
    assertEquals(List.of(Sample.ip(0)), addresses(Allocation.State.RECLAIMING));
    assertEquals(List.of(OLD), texts("SELECT host_key FROM node WHERE node_id = 'n0'"));
  }

  private List<String> failures() {
    try {
      return texts("SELECT failure FROM node WHERE quarantined_at IS NOT NULL");
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private NodeView.State state() throws Exception {
    return await(operators().readNode(OPERATOR, "n0")).state();
  }

  @Test
  void theCommitThatFreesTheMachineAlsoPinsItsNewKey() throws Exception {
    nodes.baselines.put("n0", "d1");
    commandsWait();
    openWithTenantThatLeaves();
    eventually("command", () -> commands.size() == 1);
    ticks(3);

    assertEquals(NodeView.State.REIMAGING, state());
    assertEquals(
        List.of("REIMAGING"),
        await(new NodeStore(database).countStates(clock.millis())).stream()
            .map(count -> count.state().name())
            .filter("REIMAGING"::equals)
            .toList());
    assertEquals(List.of(), texts("SELECT allocation_id FROM handover"));
    install(NEW);
    commands.get(0).complete(NEW);
    awaitFree();

    assertEquals(0, nodes.count("reclaim n0"));
    assertEquals(
        List.of(NEW + " d1 1"),
        texts(
            "SELECT host_key || ' ' || baseline || ' ' || generation FROM node WHERE node_id = 'n0'"
                + " AND reimage_of IS NULL AND reimage_key IS NULL"));
    assertEquals(
        List.of("a0 n0 d1 " + OLD),
        texts(
            "SELECT allocation_id || ' ' || node_id || ' ' || baseline || ' ' || replaced_key"
                + " FROM handover"));
    declare(8);
    eventually("granted with its new key", () -> addresses(Allocation.State.ACTIVE).size() == 1);
  }

  @Test
  void aProcessThatTakesOverRunsTheCommandOnceMoreWithTheSameId() throws Exception {
    commandsWait();
    openWithTenantThatLeaves();
    eventually("command", () -> commands.size() == 1);
    await(market.stop());
    assertFalse(nodes.reimages.get(0).isWanted().getAsBoolean());
    // The answer to the lost process does not count.
    commands.get(0).complete("ssh-ed25519 late");

    commandInstalls(NEW);
    market = newMarket();
    await(market.start());
    awaitFree();

    assertEquals(List.of("a0.0", "a0.0"), nodes.reimageIds());
    assertEquals(List.of(NEW), texts("SELECT host_key FROM node WHERE node_id = 'n0'"));
  }

  @Test
  void aProcessThatTakesOverAfterTheAnswerVisitsTheMachineWithoutAnotherImage() throws Exception {
    // The machine is still down.
    nodes.imaging = order -> Future.succeededFuture(NEW);
    nodes.shown.put("n0", OLD);
    openWithTenantThatLeaves();
    eventually(
        "answered",
        () -> {
          try {
            return texts("SELECT reimage_key FROM node WHERE reimage_key IS NOT NULL").size() == 1;
          } catch (Exception e) {
            throw new AssertionError(e);
          }
        });
    await(market.stop());

    install(NEW);
    market = newMarket();
    await(market.start());
    awaitFree();

    assertEquals(List.of("a0.0"), nodes.reimageIds());
  }

  @Test
  void aProcessWithoutTheLeaseStopsItsCommandAndStoresNothing() throws Exception {
    onlyNode("n0", "n1");
    await(
        database.commit(
            List.of(Statement.of("UPDATE node SET cordoned = 0 WHERE node_id = 'n1'"))));
    commandsWait();
    openWithTenantThatLeaves();
    eventually("command", () -> commands.size() == 1);
    await(
        database.commit(
            List.of(Statement.of("UPDATE lease SET epoch = epoch + 1, owner = 'other'"))));
    // The commit of this grant fails because the lease is gone.
    declare(8);
    eventually("given up", () -> !nodes.reimages.get(0).isWanted().getAsBoolean());
    commands.get(0).complete("ssh-ed25519 late");
    // This process acquires the lease again, as another one would.
    eventually("taken up", () -> commands.size() == 2);
    install(NEW);
    commands.get(1).complete(NEW);
    eventually("free", () -> cluster().find("a0").isEmpty());

    assertEquals(List.of("a0.0", "a0.0"), nodes.reimageIds());
    assertEquals(List.of(NEW), texts("SELECT host_key FROM node WHERE node_id = 'n0'"));
  }

  @Test
  void anAnswerThatCouldNotBeStoredIsAskedForOnceMoreAtMost() throws Exception {
    nodes.imaging =
        order -> {
          install(NEW);
          failNextCommits(2);
          return Future.succeededFuture(NEW);
        };
    openWithTenantThatLeaves();
    awaitFree();
    assertEquals(Set.of("a0.0"), Set.copyOf(nodes.reimageIds()));
    assertEquals(List.of(NEW), texts("SELECT host_key FROM node WHERE node_id = 'n0'"));
  }

  @Test
  void aCommandThatFailsThreeTimesQuarantinesUntilAnOperatorRetries() throws Exception {
    nodes.imaging =
        order -> Future.failedFuture(NodeFailureException.lasting("status 3: no such server"));
    openWithTenantThatLeaves();
    awaitQuarantine("no such server");
    assertEquals(List.of("a0.0", "a0.0", "a0.0"), nodes.reimageIds());
    commandInstalls(NEW);
    // The failed attempt waits, also after a restart.
    await(market.stop());
    market = newMarket();
    await(market.start());
    ticks(5);
    assertEquals(3, nodes.reimageIds().size());

    await(operators().retryNode(OPERATOR, "n0"));
    awaitFree();
    assertEquals("a0.1", nodes.reimageIds().get(3));
    assertEquals(List.of(), failures());
  }

  @Test
  void theTimeOutOfTheCommandQuarantinesAtOnce() throws Exception {
    nodes.imaging =
        order -> Future.failedFuture(NodeFailureException.unfit("did not end within 60000 ms"));
    openWithTenantThatLeaves();
    awaitQuarantine("did not end");
    assertEquals(1, nodes.reimageIds().size());
  }

  @Test
  void theTimeOfATryGoesOnWhileNoProcessRuns() throws Exception {
    commandsWait();
    openWithTenantThatLeaves();
    eventually("command", () -> commands.size() == 1);
    await(market.stop());
    clock.advance(60_001);
    market = newMarket();
    await(market.start());

    awaitQuarantine("did not finish within 60000 ms");
    assertEquals(1, nodes.reimageIds().size());
  }

  @Test
  void aMachineThatDoesNotShowTheKeyThatWasAnsweredIsQuarantined() throws Exception {
    nodes.reimageMillis = OptionalLong.of(5_000);
    nodes.imaging = order -> Future.succeededFuture(NEW);
    nodes.shown.put("n0", OLD);
    openWithTenantThatLeaves();
    awaitQuarantine("did not answer with the host key of its new image in time: ");
    assertTrue(failures().get(0).contains("another host key"), failures().toString());
  }

  @Test
  void aKeyThatIsOrWasPinnedIsRefused() throws Exception {
    await(
        database.commit(
            List.of(
                Statement.of(
                    "UPDATE node SET host_key = 'ssh-ed25519 other n1' WHERE node_id = 'n1'"),
                Statement.of(
                    "INSERT INTO handover (allocation_id, node_id, cleaned_at, seconds, processes,"
                        + " files, objects, replaced_key) VALUES ('a9', 'n0', 1, 0, 0, 0, 0,"
                        + " 'ssh-ed25519 older')"))));
    commandInstalls("ssh-ed25519 older");
    openWithTenantThatLeaves();
    awaitQuarantine("is or was pinned before");

    commandInstalls("ssh-ed25519 other");
    await(operators().retryNode(OPERATOR, "n0"));
    eventually("refused", () -> nodes.reimageIds().size() == 2);
    ticks(3);
    awaitQuarantine("is or was pinned before");
  }

  @Test
  void aMachineWithTheMarkOfItsTenantHasNoNewImage() throws Exception {
    nodes.imaging =
        order -> {
          nodes.shown.put("n0", NEW);
          return Future.succeededFuture(NEW);
        };
    openWithTenantThatLeaves();
    awaitQuarantine("has the mark of allocation a0");
  }

  @Test
  void aMachineThatFailsItsChecksAfterItsImageIsQuarantined() throws Exception {
    nodes.health.put("n0", new Health(Health.State.FAILED, List.of("GPU 3 is lost")));
    commandInstalls(NEW);
    openWithTenantThatLeaves();
    awaitQuarantine("GPU 3 is lost");
  }

  @Test
  void withoutACommandTheMachineIsQuarantinedUntilAnOperatorInstalledIt() throws Exception {
    openWithTenantThatLeaves();
    awaitQuarantine("no command is set");

    nodes.marks.clear();
    await(
        new RetirementService(database, owners, operators(), clock)
            .endReclaim(OPERATOR, "n0", true));
    awaitFree();
    declare(8);
    eventually("granted", () -> addresses(Allocation.State.ACTIVE).size() == 1);
  }

  @Test
  void aPoolWithKubernetesClustersReimagesToo() throws Exception {
    await(database.commit(List.of(Statement.of("UPDATE pool SET tenants = 'LOGIN'"))));
    clusters.put(Sample.POOL);
    commandInstalls(NEW);
    adopt(Cluster.created("k1", "acme", "h100", Cluster.Kind.K8S, Cluster.Posture.MARKET));
    openWithTenantThatLeaves();
    awaitFree();
    assertEquals(List.of("a0.0"), nodes.reimageIds());
    assertEquals(0, nodes.count("reclaim n0"));
  }

  @Test
  void aMachineThatFailsDuringAGrantGetsANewImageBeforeTheNext() throws Exception {
    // The tenant may have got in, and its own report proves nothing.
    nodes.provisionsToFail.put("n0", 1);
    nodes.marks.clear();
    nodes.shown.put("n0", OLD);
    commandInstalls(NEW);
    adopt(Sample.empty());
    await(market.start());
    declare(8);
    eventually("reimaged", () -> nodes.reimageIds().size() == 1);
    eventually(
        "pinned",
        () -> {
          try {
            return texts("SELECT node_id FROM node WHERE host_key = '" + NEW + "'").size() == 1;
          } catch (Exception e) {
            throw new AssertionError(e);
          }
        });
    assertEquals(1, nodes.count("provision n0"));
    assertEquals(0, nodes.count("reclaim n0"));
    clock.advance(120_000);
    eventually("active", () -> addresses(Allocation.State.ACTIVE).size() == 1);
  }

  @Test
  void aMachineWithAMarkThatTheStoreDoesNotKnowIsReimagedAfterAnOperatorsRetryOnly()
      throws Exception {
    nodes.marks.put("n0", "ghost");
    commandsWait();
    adopt(Sample.empty());
    await(market.start());
    eventually("quarantined", () -> !failures().isEmpty());
    assertTrue(failures().get(0).contains("does not know"), failures().toString());
    // The tenant can remove the mark.
    nodes.marks.remove("n0");
    ticks(3);
    assertEquals(List.of(), nodes.reimageIds());
    assertFalse(failures().isEmpty());

    await(operators().retryNode(OPERATOR, "n0"));
    eventually("command", () -> commands.size() == 1);
    // A process that takes over knows the operator's retry from the stored step.
    await(market.stop());
    nodes.shown.put("n0", NEW);
    commandInstalls(NEW);
    market = newMarket();
    await(market.start());
    eventually("free", () -> failures().isEmpty());
    assertEquals(List.of("ghost.1", "ghost.1"), nodes.reimageIds());
    assertEquals(List.of(NEW), texts("SELECT host_key FROM node WHERE node_id = 'n0'"));
  }

  @Test
  void theEndOfAnAllocationReimagesNoMachineWithAMarkThatTheStoreDoesNotKnow() throws Exception {
    nodes.marks.put("n0", "ghost");
    commandInstalls(NEW);
    openWithTenantThatLeaves();
    awaitQuarantine("does not know");
    assertEquals(List.of(), nodes.reimageIds());

    await(operators().retryNode(OPERATOR, "n0"));
    awaitFree();
    assertEquals(1, nodes.reimageIds().size());
    assertEquals(List.of(), failures());
  }

  /** Sets the database back to before a grant of n0, while no process runs. */
  private void grantIsOfAnotherHistory() throws Exception {
    await(database.commit(List.of(Statement.of("UPDATE node SET lineage = 'older'"))));
  }

  private void commandRevives() {
    nodes.imaging =
        order -> {
          synchronized (nodes) {
            nodes.dead.clear();
          }
          install(NEW);
          return Future.succeededFuture(NEW);
        };
  }

  @Test
  void aSilentMachineIsReimagedIfNoGrantOfItCanBeLost() throws Exception {
    nodes.dead.add("n0");
    commandRevives();
    openWithTenantThatLeaves();
    awaitFree();
    assertEquals(List.of("a0.0"), nodes.reimageIds());
  }

  @Test
  void aSilentMachineIsQuarantinedIfALaterGrantOfItMayBeLost() throws Exception {
    grantIsOfAnotherHistory();
    nodes.dead.add("n0");
    commandRevives();
    openWithTenantThatLeaves();
    awaitQuarantine("may have lost a later grant");
    ticks(3);
    assertEquals(List.of(), nodes.reimageIds());

    await(operators().retryNode(OPERATOR, "n0"));
    awaitFree();
    assertEquals(1, nodes.reimageIds().size());
    assertEquals(List.of(), failures());
  }

  @Test
  void oneRetryIsForEveryLostGrantOfASilentMachine() throws Exception {
    grantIsOfAnotherHistory();
    nodes.marks.put("n0", "ghost");
    commandRevives();
    openWithTenantThatLeaves();
    awaitQuarantine("does not know");
    await(market.stop());
    // The machine is silent now, so the grant of its own allocation is in doubt too.
    nodes.dead.add("n0");
    await(operators().retryNode(OPERATOR, "n0"));
    market = newMarket();
    await(market.start());
    awaitFree();
    assertEquals(1, nodes.reimageIds().size());
    assertEquals(List.of(), failures());
  }

  @Test
  void oneRetryIsForAnUnknownMarkAndAReimageWhoseEndMayBeLost() throws Exception {
    grantIsOfAnotherHistory();
    await(
        database.commit(
            List.of(
                Statement.of(
                    """
                    UPDATE node SET reimage_of = 'a9', reimage_retry = 0, reimage_until = ?
                    WHERE node_id = 'n0'\
                    """,
                    clock.millis() + 60_000))));
    nodes.marks.put("n0", "ghost");
    adopt(Sample.empty());
    await(market.start());
    eventually("both", () -> Set.copyOf(lostGrants()).equals(Set.of("a9", "ghost")));
    assertEquals(List.of(), nodes.reimageIds());

    commandInstalls(NEW);
    await(operators().retryNode(OPERATOR, "n0"));
    eventually("free", () -> failures().isEmpty() && lostGrants().isEmpty());
    assertEquals(1, nodes.reimageIds().size());
  }

  private List<String> lostGrants() {
    try {
      return texts("SELECT lost_grant FROM node WHERE lost_grant IS NOT NULL").stream()
          .flatMap(ids -> Stream.of(ids.split(" ")))
          .toList();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aMachineWithoutAMarkIsQuarantinedIfALaterGrantOfItMayBeLost() throws Exception {
    grantIsOfAnotherHistory();
    // Its tenant is root, and removed the mark.
    nodes.marks.remove("n0");
    commandInstalls(NEW);
    adopt(Sample.active(1));
    declare(0);
    await(market.start());
    awaitQuarantine("may have lost a later grant");
    assertEquals(List.of(), nodes.reimageIds());
  }

  @Test
  void aMachineThatNamesItsAllocationIsReimagedAfterEveryFailOver() throws Exception {
    grantIsOfAnotherHistory();
    commandInstalls(NEW);
    openWithTenantThatLeaves();
    awaitFree();
    assertEquals(List.of("a0.0"), nodes.reimageIds());
  }

  @Test
  void aReimageIsNotContinuedIfItsEndMayBeLost() throws Exception {
    commandsWait();
    openWithTenantThatLeaves();
    eventually("command", () -> commands.size() == 1);
    await(market.stop());
    failOver("second");

    market = newMarket();
    await(market.start());
    awaitQuarantine("lost commits since this reimage began");
    assertEquals(List.of("a0.0"), nodes.reimageIds());
    commandInstalls(NEW);
    await(operators().retryNode(OPERATOR, "n0"));
    awaitFree();
    assertEquals(List.of("a0.0", "a0.1"), nodes.reimageIds());
  }

  @Test
  void aFailedReimageIsNotRetriedIfTheEndOfAnEarlierRetryMayBeLost() throws Exception {
    nodes.imaging =
        order -> Future.failedFuture(NodeFailureException.lasting("status 3: no such server"));
    openWithTenantThatLeaves();
    awaitQuarantine("no such server");
    await(market.stop());
    await(operators().retryNode(OPERATOR, "n0"));
    failOver("second");

    commandInstalls(NEW);
    market = newMarket();
    await(market.start());
    eventually(
        "doubted", () -> failures().get(0).contains("lost commits since this reimage began"));
    assertEquals(3, nodes.reimageIds().size());
    await(operators().retryNode(OPERATOR, "n0"));
    awaitFree();
    assertEquals(4, nodes.reimageIds().size());
  }

  @Test
  void aReimageIsContinuedByItsProcessIfAFailOverLostNothing() throws Exception {
    commandsWait();
    openWithTenantThatLeaves();
    eventually("command", () -> commands.size() == 1);
    failOver("second");
    install(NEW);
    commands.get(0).complete(NEW);
    awaitFree();
    assertEquals(List.of("a0.0"), nodes.reimageIds());
    declare(8);
    eventually("granted", () -> addresses(Allocation.State.ACTIVE).size() == 1);
    assertEquals(List.of("second"), texts("SELECT lineage FROM node WHERE node_id = 'n0'"));
  }

  @Test
  void aReimageIsNotContinuedByAProcessThatNoticedALoss() throws Exception {
    commandsWait();
    openWithTenantThatLeaves();
    eventually("command", () -> commands.size() == 1);
    loseCommits("first");
    install(NEW);
    commands.get(0).complete(NEW);
    awaitQuarantine("lost commits since this reimage began");
  }

  @Test
  void afterALossNoMachineIsGrantedBeforeItSaidWhatItHolds() throws Exception {
    nodes.marks.clear();
    adopt(Sample.empty());
    await(market.start());
    eventually(
        "usable", () -> clusters.findQuote("h100").filter(q -> q.usableNodes() == 1).isPresent());
    // A grant of n0 is lost, and its tenant keeps the machine from answering.
    nodes.mute.add("n0");
    loseCommits("second");
    market.nodesChanged("h100");
    eventually("asked", () -> nodes.questions.containsKey("n0"));
    // A probe may have asked, and a tick that began before the loss may be under way.
    ticks(2);
    declare(8);
    ticks(5);
    assertEquals(0, nodes.count("provision n0"));

    nodes.speak("n0");
    eventually("granted", () -> addresses(Allocation.State.ACTIVE).size() == 1);
    assertEquals(List.of("second"), texts("SELECT lineage FROM node WHERE node_id = 'n0'"));
  }
}
