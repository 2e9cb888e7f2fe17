package dev.bourse.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.Sample;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.ForwardingDatabase;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreUnavailable;
import io.vertx.core.Future;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Audited reads on their way to the store. */
class AuditedReadsTest extends StoreFixture {
  private static final int MAX_WAITING = 200_000;

  @Test
  void everyReadBecomesOneRowWhateverTheBatchesAre() throws Exception {
    AuditedReads reads = reads(database);
    int total = 0;
    for (int count : new int[] {1, 63, 64, 65, 1_024, 1_025, 5_000}) {
      for (int i = 0; i < count; i++) {
        reads.record(row(total++));
      }
      await(reads.flush());
      assertEquals(total, rows());
    }
    List<RecordedRow> stored = stored();
    assertEquals(details(0, total - 1), stored.stream().map(RecordedRow::detail).toList());
    assertEquals(total, stored.stream().map(RecordedRow::id).distinct().count());
    assertTrue(
        stored.stream()
            .allMatch(
                row ->
                    row.isRead()
                        && row.orgId().equals("acme")
                        && row.actor().equals("token:abc")
                        && row.action().equals("vm_capacity_get")
                        && row.subject().equals("c1")
                        && row.atMillis() == Sample.T0));
  }

  @Test
  void readsReachTheStoreWithoutAFlush() throws Exception {
    AuditedReads reads = reads(database);
    reads.start();
    reads.record(row(1));

    eventually("stored", () -> rows() == 1);
  }

  @Test
  void aFailedCommitIsTriedAgainWithNothingLostOrDoubled() throws Exception {
    AuditedReads reads = reads(database);
    for (int i = 0; i < 3_000; i++) {
      reads.record(row(i));
    }
    failNextCommits(2);
    await(reads.flush().otherwiseEmpty());
    await(reads.flush());

    assertEquals(3_000, rows());
    assertEquals(3_000, stored().stream().map(RecordedRow::detail).distinct().count());
  }

  @Test
  void rowsThatHadToWaitAreStoredInTheirOrder() throws Exception {
    AuditedReads reads = reads(database);
    for (int i = 0; i < 3_000; i++) {
      reads.record(row(i));
    }
    failNextCommits(3);
    await(reads.flush().otherwiseEmpty());
    reads.record(row(3_000));
    await(reads.flush());

    assertEquals(details(0, 3_000), stored().stream().map(RecordedRow::detail).toList());
  }

  @Test
  void aBatchThatIsTriedAgainIsNotEncodedAgain() throws Exception {
    List<List<Statement>> tries = new CopyOnWriteArrayList<>();
    Database seeing =
        new ForwardingDatabase(database) {
          @Override
          public Future<Void> commit(List<Statement> statements, List<Change> changes) {
            tries.add(statements);
            return super.commit(statements, changes);
          }
        };
    AuditedReads reads = reads(seeing);
    for (int i = 0; i < 1_000; i++) {
      reads.record(row(i));
    }
    failNextCommits(1);
    await(reads.flush().otherwiseEmpty());
    await(reads.flush());

    assertEquals(2, tries.size());
    assertSame(segment(tries.get(0)), segment(tries.get(1)));
  }

  private static Statement segment(List<Statement> commit) {
    return commit.stream()
        .filter(statement -> statement.sql().startsWith("INSERT INTO " + ReadSegments.TABLE))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void eachOutageIsReportedOnce() throws Exception {
    AuditedReads reads = reads(database);
    PrintStream console = System.err;
    ByteArrayOutputStream log = new ByteArrayOutputStream();
    System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
    try {
      for (int outage = 0; outage < 2; outage++) {
        for (int i = 0; i < 3_000; i++) {
          reads.record(row(i));
        }
        failNextCommits(4 * 3);
        for (int flush = 0; flush < 5; flush++) {
          await(reads.flush().otherwiseEmpty());
        }
      }
    } finally {
      System.setErr(console);
    }

    String logged = log.toString(StandardCharsets.UTF_8);
    assertEquals(2, logged.split("audited reads are not stored", -1).length - 1, logged);
    assertEquals(6_000, rows());
  }

  /** An organization whose reads wait for a slow store stops nobody else's. */
  @Test
  void pastItsShareAnOrganizationsReadIsRefusedRatherThanUnrecorded() {
    AuditedReads reads = reads(database);
    AuditRow row = row(1);
    for (int i = 0; i < MAX_WAITING / 2; i++) {
      reads.record(row);
    }

    Sample.refused(ErrorCode.OVERLOADED, () -> reads.record(row));
    AuditRow others =
        new AuditRow(
            row.atMillis(), "globex", row.actor(), row.action(), row.subject(), row.detail());
    reads.record(others);
  }

  @Test
  void aWritesRowIsNoRead() throws Exception {
    await(database.commit(List.of(AuditStore.insert(row(1)))));

    assertEquals(List.of(0L), integers("SELECT is_read FROM audit"));
  }

  @Test
  void aBatchWhoseCommitWasStoredThoughItsAnswerWasLostIsNotStoredTwice() throws Exception {
    Losing losing = new Losing(database);
    AuditedReads reads = reads(losing);
    for (int i = 0; i < 3_000; i++) {
      reads.record(row(i));
    }
    losing.answersLost.set(2);
    await(reads.flush().otherwiseEmpty());
    assertEquals(3_000, rows(), "all were stored, and of two thirds it is not known");
    reads.record(row(3_000));
    await(reads.flush());
    await(reads.flush());

    assertEquals(details(0, 3_000), stored().stream().map(RecordedRow::detail).toList());
  }

  @Test
  void marksOfBatchesAreForgottenOnceTheyAreKnownToBeStored() throws Exception {
    AuditedReads reads = reads(new Losing(database));
    for (int i = 0; i < 20; i++) {
      reads.record(row(i));
      await(reads.flush());
    }
    assertEquals(List.of(1L), integers("SELECT COUNT(*) FROM audit_read_batch"));
    clock.advance(Duration.ofDays(1).toMillis());
    await(reads(database).forget(clock.millis()));
    eventually("what a process left behind goes", () -> marks() == 0);
  }

  @Test
  void aTryThatReachesTheStoreLongAfterItWasGivenUpStoresNothing() throws Exception {
    Delaying delaying = new Delaying(database);
    AuditedReads reads = reads(delaying);
    reads.record(row(0));
    delaying.isDelayed = true;
    await(reads.flush().otherwiseEmpty());
    delaying.isDelayed = false;
    for (int i = 1; i < 5; i++) {
      reads.record(row(i));
      await(reads.flush());
    }

    await(database.commit(delaying.delayed).otherwiseEmpty());

    assertEquals(5, rows(), "the first try came when the second was stored and others after it");
    clock.advance(Duration.ofDays(1).toMillis());
    await(reads(database).forget(clock.millis()));
    eventually("the mark goes in time", () -> marks() == 0);
  }

  /** A store that a commit reaches when its process has long given it up. */
  private static final class Delaying extends ForwardingDatabase {
    boolean isDelayed;
    List<Statement> delayed = List.of();

    Delaying(Database store) {
      super(store);
    }

    @Override
    public Future<Void> commit(List<Statement> statements, List<Change> changes) {
      if (!isDelayed) {
        return super.commit(statements, changes);
      }
      delayed = statements;
      return Future.failedFuture(new StoreUnavailable("no answer", null));
    }

    @Override
    public boolean isShared() {
      return true;
    }
  }

  @Test
  void anEmbeddedStoreIsSparedTheMark() throws Exception {
    AuditedReads reads = reads(database);
    reads.record(row(1));
    await(reads.flush());
    assertEquals(0, marks());
  }

  /** A store of a server that is lost when it has committed, before it could say so. */
  private static final class Losing extends ForwardingDatabase {
    final AtomicInteger answersLost = new AtomicInteger();

    Losing(Database store) {
      super(store);
    }

    @Override
    public Future<Void> commit(List<Statement> statements, List<Change> changes) {
      boolean isLost = answersLost.getAndUpdate(n -> Math.max(0, n - 1)) > 0;
      return super.commit(statements, changes)
          .compose(
              stored ->
                  isLost
                      ? Future.failedFuture(new StoreUnavailable("made to be lost", null))
                      : Future.succeededFuture());
    }

    @Override
    public boolean isShared() {
      return true;
    }
  }

  private AuditedReads reads(Database store) {
    return new AuditedReads(vertx, new AuditStore(store), clock, new Random(3));
  }

  private long marks() {
    try {
      return integers("SELECT COUNT(*) FROM audit_read_batch").get(0);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private static List<String> details(int from, int to) {
    return IntStream.rangeClosed(from, to).mapToObj(i -> "read " + i).toList();
  }

  /** Rows and entries of segments, by id. */
  private List<RecordedRow> stored() throws Exception {
    return await(new SealStore(database).listRows(0, Long.MAX_VALUE, Integer.MAX_VALUE)).rows();
  }

  private long rows() {
    try {
      return stored().size();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private static AuditRow row(int i) {
    return new AuditRow(Sample.T0, "acme", "token:abc", "vm_capacity_get", "c1", "read " + i);
  }
}
