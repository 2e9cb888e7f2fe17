package dev.bourse.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.capacity.Sample;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.core.ErrorCode;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Audited reads on their way to the store. */
class AuditedReadsTest extends StoreFixture {
  private static final int MAX_WAITING = 200_000;

  @Test
  void everyReadBecomesOneRowWhateverTheBatchesAre() throws Exception {
    AuditedReads reads = new AuditedReads(new AuditStore(database));
    int total = 0;
    for (int count : new int[] {1, 63, 64, 65, 1_024, 1_025, 5_000}) {
      for (int i = 0; i < count; i++) {
        reads.record(row(total++));
      }
      await(reads.flush());
      assertEquals(List.of((long) total), integers("SELECT COUNT(*) FROM audit"));
    }
    assertEquals(
        List.of((long) total),
        integers("SELECT COUNT(DISTINCT detail) FROM audit WHERE is_read = 1"));
    assertEquals(List.of("vm_capacity_get"), texts("SELECT DISTINCT action FROM audit"));
  }

  @Test
  void readsReachTheStoreWithoutAFlush() throws Exception {
    AuditedReads reads = new AuditedReads(new AuditStore(database));
    reads.start(vertx);
    reads.record(row(1));

    eventually("stored", () -> rows() == 1);
  }

  @Test
  void aFailedCommitIsTriedAgainWithNothingLostOrDoubled() throws Exception {
    AuditedReads reads = new AuditedReads(new AuditStore(database));
    for (int i = 0; i < 3_000; i++) {
      reads.record(row(i));
    }
    failNextCommits(2);
    await(reads.flush().otherwiseEmpty());
    await(reads.flush());

    assertEquals(3_000, rows());
    assertEquals(List.of(3_000L), integers("SELECT COUNT(DISTINCT detail) FROM audit"));
  }

  @Test
  void pastItsBoundAReadIsRefusedRatherThanUnrecorded() {
    AuditedReads reads = new AuditedReads(new AuditStore(database));
    AuditRow row = row(1);
    for (int i = 0; i < MAX_WAITING; i++) {
      reads.record(row);
    }

    Sample.refused(ErrorCode.OVERLOADED, () -> reads.record(row));
  }

  @Test
  void aWritesRowIsNoRead() throws Exception {
    await(database.commit(List.of(AuditStore.insert(row(1)))));

    assertEquals(List.of(0L), integers("SELECT is_read FROM audit"));
  }

  private long rows() {
    try {
      return integers("SELECT COUNT(*) FROM audit").get(0);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private static AuditRow row(int i) {
    return new AuditRow(Sample.T0, "acme", "token:abc", "vm_capacity_get", "c1", "read " + i);
  }
}
