package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.ExchangeFixture;
import dev.bourse.nodes.NodeFailureException;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreUnavailableException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** The inventory of a lease's holder, with nodes that operators change too. */
class InventoryTest extends ExchangeFixture {
  private Inventory inventory() throws Exception {
    return new Inventory(
        new NodeStore(database),
        await(new LeaseStore(database).acquire("h100", "me", 1_000)).orElseThrow());
  }

  @Test
  void aReadingTellsWhichMachinesAreNew() throws Exception {
    Inventory inventory = inventory();
    assertEquals(16, await(inventory.read()).added().size());
    assertEquals(List.of(), await(inventory.read()).added());
  }

  @Test
  void whatOperatorsDidIsReadAndWhatIsBeingWrittenIsKeptForTheNextReading() throws Exception {
    Inventory inventory = inventory();
    await(inventory.read());
    Node failed = inventory.all().get(0).failed(5, "why");
    await(database.commit(List.of(Statement.of("UPDATE node SET cordoned = 1"))));
    Promise<Inventory.Reading> meanwhile = Promise.promise();
    vertx.runOnContext(
        go -> {
          Future<Inventory.Reading> reading = inventory.read();
          inventory.note(failed).compose(noted -> reading).onComplete(meanwhile);
        });
    assertFalse(await(meanwhile.future()).isWhole());
    assertEquals(failed, inventory.get(failed.nodeId()), "not what was stored before it");
    assertTrue(inventory.all().get(1).cordoned());

    assertTrue(await(inventory.read()).isWhole());
    Node now = inventory.all().get(0);
    assertEquals(1, now.failures());
    assertTrue(now.cordoned());
  }

  @Test
  void aQuarantineEndsInItsRowThoughTheFirstWriteOfThatFails() throws Exception {
    Inventory inventory = inventory();
    await(inventory.read());
    ReclaimFailures failures = new ReclaimFailures(inventory, clock);
    String nodeId = inventory.all().get(0).nodeId();
    for (int i = 0; i < 3; i++) {
      await(
          failures.recordFailure(
              "a0", nodeId, "a0", NodeFailureException.passing("no connection")));
    }
    assertEquals(1, quarantines().size());
    failNextCommits(1);
    fails(StoreUnavailableException.class, failures.recordSuccess("a0", nodeId, "a0"));
    assertEquals(1, quarantines().size());

    await(failures.recordSuccess("a0", nodeId, "a0"));
    assertEquals(List.of(), quarantines());
  }

  @Test
  void whatIsStoredAlreadyIsNotWrittenAgain() throws Exception {
    Inventory inventory = inventory();
    await(inventory.read());
    Node unclean = inventory.all().get(0).unclean("a0", 5, "why");
    failNextCommits(1);
    fails(StoreUnavailableException.class, inventory.note(unclean));
    await(inventory.note(unclean.unclean("a0", 6, "why")));
    assertEquals(List.of(5L), quarantines());
    failNextCommits(1);
    await(inventory.note(unclean)); // Nothing is left to be stored.
  }

  @Test
  void aRetryThatIsNotReadYetIsNotForAGrantThatIsFoundLost() throws Exception {
    Inventory inventory = inventory();
    await(inventory.read());
    String nodeId = inventory.all().get(0).nodeId();
    retry(nodeId);
    await(inventory.note(inventory.all().get(0).leftFor("ghost")));
    await(inventory.read());
    assertEquals("ghost", node(inventory, nodeId).unknownMark());

    retry(nodeId);
    await(inventory.note(node(inventory, nodeId).failed(5, "why")));
    await(inventory.read());
    assertTrue(node(inventory, nodeId).mayBeWipedOf("ghost"), "the retry is for this grant");
  }

  private void retry(String nodeId) throws Exception {
    await(
        database.commit(
            List.of(
                Statement.of("UPDATE node SET retries = retries + 1 WHERE node_id = ?", nodeId))));
  }

  private static Node node(Inventory inventory, String nodeId) {
    return Objects.requireNonNull(inventory.get(nodeId));
  }

  private List<Long> quarantines() throws Exception {
    return integers("SELECT quarantined_at FROM node WHERE quarantined_at IS NOT NULL");
  }
}
