package dev.bourse.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.Activity;
import dev.bourse.capacity.ActivityRows;
import dev.bourse.capacity.ClusterEvent;
import dev.bourse.capacity.Sample;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.store.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Deletion of old activity. */
class ActivityRetentionTest extends StoreFixture {
  private static final long KEPT = 1_000;

  private void write(int count, long atMillis) throws Exception {
    List<Statement> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      rows.add(
          ActivityRows.insert(
              new Activity("token:a", new ClusterEvent.Declared(8, 100)), "c1", atMillis));
    }
    await(database.commit(rows));
  }

  private long count() throws Exception {
    return integers("SELECT COUNT(*) FROM activity").get(0);
  }

  @Test
  void whatIsPastItsTimeGoesAndTheRestStays() throws Exception {
    write(2, Sample.T0);
    write(3, Sample.T0 + 5);
    clock.advance(KEPT + 1);
    ActivityRetention retention = new ActivityRetention(database, KEPT, clock);

    assertFalse(await(retention.step()));

    assertEquals(List.of(3L, 4L, 5L), integers("SELECT id FROM activity ORDER BY id"));
  }

  @Test
  void nothingGoesWhileNoClockIsConfirmed() throws Exception {
    write(2, Sample.T0);
    clock.advance(KEPT + 1);
    clock.confirm(false);
    ActivityRetention retention = new ActivityRetention(database, KEPT, clock);
    assertFalse(await(retention.step()));
    assertEquals(2, count());

    clock.confirm(true);
    await(retention.step());
    assertEquals(1, count(), "the newest always stays");
  }

  @Test
  void aCommitDeletesFiveHundredEntriesAtMost() throws Exception {
    write(1_200, Sample.T0);
    write(1, Sample.T0 + KEPT);
    clock.advance(KEPT + 1);
    ActivityRetention retention = new ActivityRetention(database, KEPT, clock);

    assertTrue(await(retention.step()));
    assertEquals(701, count());
    assertTrue(await(retention.step()));
    assertFalse(await(retention.step()));
    assertEquals(1, count());
  }

  @Test
  void itStopsAtTheFirstYoungEntries() throws Exception {
    write(ActivityRetention.ENTRIES_PER_COMMIT, Sample.T0 + KEPT);
    write(3, Sample.T0);
    clock.advance(KEPT + 1);

    assertFalse(await(new ActivityRetention(database, KEPT, clock).step()));

    assertEquals(ActivityRetention.ENTRIES_PER_COMMIT + 3, count());
  }

  @Test
  void theNewestEntryStaysSoThatItsIdIsNotGivenAgain() throws Exception {
    write(3, Sample.T0);
    clock.advance(KEPT + 1);

    assertFalse(await(new ActivityRetention(database, KEPT, clock).step()));

    assertEquals(List.of(3L), integers("SELECT id FROM activity"));
  }

  @Test
  void zeroKeepsForEver() throws Exception {
    write(3, 0);

    assertFalse(await(new ActivityRetention(database, 0, clock).step()));

    assertEquals(3, count());
  }

  @Test
  void aStoreThatFailsLeavesAllInPlaceForTheNextRound() throws Exception {
    write(3, Sample.T0);
    clock.advance(KEPT + 1);
    ActivityRetention retention = new ActivityRetention(database, KEPT, clock);
    failNextCommits(1);

    assertTrue(
        retention
            .step()
            .toCompletionStage()
            .toCompletableFuture()
            .handle((v, e) -> e != null)
            .get());
    assertEquals(3, count());
    assertFalse(await(retention.step()));
    assertEquals(1, count());
  }
}
