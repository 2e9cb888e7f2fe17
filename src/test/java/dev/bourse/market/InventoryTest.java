package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.ExchangeFixture;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the holder of a lease knows of nodes that operators change too. */
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
    Node failed = inventory.all().get(0).failed(5);
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
}
