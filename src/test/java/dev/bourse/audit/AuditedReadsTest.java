package dev.bourse.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.Sample;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.ForwardingDatabase;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreUnavailableException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The way of audited reads to the store. */
class AuditedReadsTest extends StoreFixture {
  private static final int MAX_WAITING = 200_000;

  private int journals;

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
    assertEquals(2, logged.split("storing audited reads failed", -1).length - 1, logged);
    assertEquals(6_000, rows());
  }

  /** An organization whose reads wait for a slow store does not block others. */
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
    clock.advance(AuditedReads.MARKS_KEPT.toMillis());
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
    clock.advance(AuditedReads.MARKS_KEPT.toMillis());
    await(reads(database).forget(clock.millis()));
    eventually("the mark goes in time", () -> marks() == 0);
  }

  /** A store that a commit reaches long after its process has timed out. */
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
      return Future.failedFuture(new StoreUnavailableException("no answer", null));
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

  /** A store whose server is lost after a commit, before its answer. */
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
                      ? Future.failedFuture(new StoreUnavailableException("made to be lost", null))
                      : Future.succeededFuture());
    }

    @Override
    public boolean isShared() {
      return true;
    }
  }

  private AuditedReads reads(Database store) {
    return new AuditedReads(vertx, new AuditStore(store), Optional.empty(), clock, new Random(3));
  }

  /** Audited reads of a process with a database server; tests call the ticks. */
  private AuditedReads reads(Database store, ReadJournal journal) {
    return new AuditedReads(
        vertx, new AuditStore(store), Optional.of(journal), clock, new Random(journals));
  }

  private ReadJournal journal() {
    return journal(ReadJournal.MOST_BYTES);
  }

  private ReadJournal journal(long mostBytes) {
    return new ReadJournal(journalFolder(), "process" + ++journals, mostBytes, clock);
  }

  private Path journalFolder() {
    return folder.resolve("reads");
  }

  private List<Path> journalFiles() {
    if (!Files.exists(journalFolder())) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(journalFolder())) {
      return files.toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isRecorded(AuditedReads reads, AuditRow row) {
    try {
      reads.record(row);
      return true;
    } catch (ApiException e) {
      return false;
    }
  }

  private static void ticksUntil(AuditedReads reads, String what, BooleanSupplier holds)
      throws Exception {
    eventually(
        what,
        () -> {
          reads.tick();
          return holds.getAsBoolean();
        });
  }

  /** A store of a server that answers, is unreachable, or hangs. */
  private static final class Server extends ForwardingDatabase {
    volatile boolean isAway;
    volatile boolean isSilent;
    final List<List<Statement>> silenced = new CopyOnWriteArrayList<>();
    final AtomicInteger commits = new AtomicInteger();

    /** True if the next commit's batch is rejected for its content from now on. */
    volatile boolean refusesNext;

    private volatile String refused = "";

    Server(Database store) {
      super(store);
    }

    @Override
    public Future<Void> commit(List<Statement> statements, List<Change> changes) {
      commits.incrementAndGet();
      if (!isAway && refusesNext) {
        refusesNext = false;
        refused = batch(statements);
      }
      if (!isAway && !refused.isEmpty() && refused.equals(batch(statements))) {
        return Future.failedFuture(new IllegalStateException("made to be refused"));
      }
      if (isSilent) {
        silenced.add(statements);
        return Promise.<Void>promise().future();
      }
      return isAway
          ? Future.failedFuture(new StoreUnavailableException("made to be away", null))
          : super.commit(statements, changes);
    }

    private static String batch(List<Statement> statements) {
      return statements.stream()
          .flatMap(statement -> statement.parameters().stream())
          .map(String::valueOf)
          .filter(value -> value.startsWith("arb_"))
          .findFirst()
          .orElse("");
    }

    @Override
    public boolean isShared() {
      return true;
    }
  }

  private void recordAll(AuditedReads reads, int from, int to) {
    IntStream.rangeClosed(from, to).forEach(i -> reads.record(row(i)));
  }

  private void holdsEachOnce(int from, int to) throws Exception {
    assertEquals(
        details(from, to).stream().sorted().toList(),
        stored().stream().map(RecordedRow::detail).sorted().toList());
  }

  @Test
  void readsThatAnAbsentStoreDidNotTakeOutliveAKillAndAreStoredOnce() throws Exception {
    Server server = new Server(database);
    server.isAway = true;
    ReadJournal journal = journal();
    AuditedReads killed = reads(server, journal);
    recordAll(killed, 0, 2_999);
    ticksUntil(killed, "in the journal", () -> journal.bytes() > 0);
    long before = journal.bytes();
    recordAll(killed, 3_000, 3_299);
    ticksUntil(killed, "in the journal", () -> journal.bytes() > before);
    assertEquals(0, rows());
    // Nothing is flushed; only the lock ends, as with the process.
    journal.close();

    server.isAway = false;
    AuditedReads next = reads(server, journal());
    next.record(row(3_300));
    ticksUntil(next, "stored", () -> rows() == 3_301);
    holdsEachOnce(0, 3_300);
    ticksUntil(next, "no file is left", () -> journalFiles().isEmpty());
  }

  @Test
  void aBatchThatTheStoreRefusesHoldsUpNoOtherAndStaysInACopy() throws Exception {
    Server server = new Server(database);
    server.isAway = true;
    ReadJournal journal = journal();
    AuditedReads killed = reads(server, journal);
    recordAll(killed, 0, 2_999);
    ticksUntil(killed, "in the journal", () -> journal.bytes() > 0);
    journal.close();

    // In this order: the killed process may still be loading its first batch.
    server.refusesNext = true;
    server.isAway = false;
    AuditedReads next = reads(server, journal());
    ticksUntil(next, "the others are stored", () -> rows() == 3_000 - 1_024);
    next.record(row(3_000));
    ticksUntil(next, "what comes after is stored", () -> rows() == 3_001 - 1_024);
    ticksUntil(
        next,
        "a copy alone is left",
        () ->
            journalFiles().stream()
                .map(String::valueOf)
                .allMatch(name -> name.endsWith(".damaged")));
    assertEquals(1, journalFiles().size());
    await(next.close());
  }

  @Test
  void aJournalThatIsLoadedAgainAddsNothing() throws Exception {
    Server server = new Server(database);
    server.isAway = true;
    ReadJournal journal = journal();
    AuditedReads reads = reads(server, journal);
    recordAll(reads, 0, 1_999);
    ticksUntil(reads, "in the journal", () -> journal.bytes() > 0);
    Path file = journalFiles().get(0);
    byte[] bytes = Files.readAllBytes(file);
    server.isAway = false;
    ticksUntil(reads, "stored", () -> journalFiles().isEmpty());
    await(reads.close());

    // As if the process had been killed between the commit and the deletion.
    Files.write(journalFolder().resolve("killed.1.reads"), bytes);
    AuditedReads next = reads(server, journal());
    ticksUntil(next, "loaded", () -> journalFiles().isEmpty());
    await(next.close());
    holdsEachOnce(0, 1_999);
  }

  @Test
  void aCommitThatDoesNotEndInTimeIsInTheJournalAndStoredOnceHoweverItEnds() throws Exception {
    Server server = new Server(database);
    server.isSilent = true;
    ReadJournal journal = journal();
    AuditedReads killed = reads(server, journal);
    recordAll(killed, 0, 9);
    ticksUntil(killed, "in the journal", () -> journal.bytes() > 0);
    long before = journal.bytes();
    recordAll(killed, 10, 19);
    ticksUntil(killed, "in the journal", () -> journal.bytes() > before);
    journal.close();
    // In this order: the killed process may still be loading the same batch.
    await(database.commit(server.silenced.get(0)));
    server.isSilent = false;

    AuditedReads next = reads(server, journal());
    ticksUntil(next, "stored", () -> journalFiles().isEmpty());
    await(next.close());
    holdsEachOnce(0, 19);
  }

  @Test
  void aStoreThatAnswersInTimeLeavesTheDiskAlone() throws Exception {
    ReadJournal journal = journal();
    AuditedReads reads = reads(new Server(database), journal);
    for (int i = 0; i < 20; i++) {
      recordAll(reads, 100 * i, 100 * i + 99);
      await(reads.flush());
      reads.tick();
    }
    assertFalse(Files.exists(journalFolder()));
    holdsEachOnce(0, 1_999);
    assertEquals(0, marks() - 1, "of the last batch");
  }

  @Test
  void readsAreRefusedWhileNeitherTheStoreNorTheJournalHasRoom() throws Exception {
    Server server = new Server(database);
    server.isAway = true;
    AuditedReads reads = reads(server, journal(4_000));
    int recorded = 0;
    boolean isRefused = false;
    while (!isRefused) {
      try {
        reads.record(row(recorded));
        recorded++;
        reads.tick();
      } catch (ApiException e) {
        isRefused = e.code() == ErrorCode.OVERLOADED;
      }
    }
    int refused = recorded;
    Sample.refused(ErrorCode.OVERLOADED, () -> reads.record(row(refused)));
    server.isAway = false;
    ticksUntil(reads, "stored", () -> rows() == refused);
    ticksUntil(reads, "let in again", () -> isRecorded(reads, row(refused)));
    await(reads.close());
    holdsEachOnce(0, refused);
  }

  /** A file has the folder's name, which simulates a disk that accepts no writes. */
  @Test
  void aDiskThatTakesNothingHasReadsRefusedUntilTheStoreIsBack() throws Exception {
    Files.writeString(journalFolder(), "in the way");
    Server server = new Server(database);
    server.isAway = true;
    AuditedReads reads = reads(server, journal());
    recordAll(reads, 0, 9);
    ticksUntil(
        reads,
        "refused",
        () -> {
          try {
            reads.record(row(-1));
            return false;
          } catch (ApiException e) {
            return true;
          }
        });
    server.isAway = false;
    ticksUntil(reads, "stored", () -> rows() >= 10);
    ticksUntil(reads, "let in again", () -> isRecorded(reads, row(10)));
    await(reads.flush());
    assertTrue(stored().stream().map(RecordedRow::detail).toList().containsAll(details(0, 10)));
  }

  @Test
  void aCleanStopWithoutTheStoreLeavesTheReadsToTheNextStart() throws Exception {
    Server server = new Server(database);
    server.isAway = true;
    AuditedReads stopped = reads(server, journal());
    recordAll(stopped, 0, 99);
    await(stopped.close());
    assertEquals(1, journalFiles().size());
    server.isAway = false;
    AuditedReads next = reads(server, journal());
    ticksUntil(next, "stored", () -> rows() == 100);
    await(next.close());
    holdsEachOnce(0, 99);
  }

  @Test
  void anAbsentStoreIsAskedForOneBatchAtATime() throws Exception {
    Server server = new Server(database);
    server.isAway = true;
    ReadJournal journal = journal();
    AuditedReads reads = reads(server, journal);
    recordAll(reads, 0, 9_999);
    ticksUntil(reads, "in the journal", () -> journal.bytes() > 0);
    int asked = server.commits.get();
    for (int i = 0; i < 10; i++) {
      reads.record(row(10_000 + i));
      reads.tick();
    }
    assertTrue(server.commits.get() - asked <= 10, server.commits.get() - asked + " commits");
    await(reads.close());
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
