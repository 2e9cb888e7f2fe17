package dev.bourse.jobs;

import static dev.bourse.testing.RunningBourse.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.FakeClock;
import dev.bourse.signals.Signals;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import dev.bourse.store.postgres.PostgresConfig;
import dev.bourse.store.postgres.PostgresDatabase;
import dev.bourse.store.postgres.PostgresUrl;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.Polls;
import dev.bourse.testing.SharedPostgres;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The assignment of tasks to processes, each with its own connections to one database. */
@OneEngine("only PostgreSQL is shared by several processes")
class JobSharesTest {
  private static final List<String> TASKS = List.of("a", "b", "c", "d", "e", "f", "g");

  /** Rows are valid for minutes, so that none expires during a test. */
  private static final long SELDOM = 60_000;

  /** Rows expire in a third of a second. */
  private static final long OFTEN = 100;

  private final Vertx vertx = Vertx.vertx();
  private final List<Database> databases = new ArrayList<>();
  private String url;

  @BeforeEach
  void newDatabase() throws Exception {
    url = SharedPostgres.server().newStore();
  }

  @AfterEach
  void close() throws Exception {
    for (Database database : databases) {
      await(database.close());
    }
    await(vertx.close());
  }

  /** One process: its divided tasks, and the work it has done. */
  private final class Sharer {
    final AtomicLong nanos = new AtomicLong();
    final JobShares shares;
    final Database database;

    Sharer(long intervalMillis, List<String> tasks) throws Exception {
      database =
          await(
              PostgresDatabase.open(
                  vertx,
                  new PostgresConfig(
                      PostgresUrl.parse(url), "", 2, 4_096, 4_096, 60_000, 60_000, 60_000),
                  "db/schema",
                  Clock.systemUTC(),
                  new Random()));
      databases.add(database);
      shares = new JobShares(intervalMillis, nanos::get);
      tasks.forEach(shares::declare);
      shares.join(database, "process_" + databases.size());
    }

    boolean isMine(String task) {
      return shares.findOther(task).isEmpty();
    }

    void round() throws Exception {
      await(shares.round());
    }

    List<String> its() {
      return TASKS.stream().filter(this::isMine).toList();
    }
  }

  private Sharer process() throws Exception {
    return new Sharer(SELDOM, TASKS);
  }

  private static void roundOfAll(Sharer... all) throws Exception {
    // One round to be seen, and one to see processes that came later.
    for (int i = 0; i < 2; i++) {
      for (Sharer process : all) {
        process.round();
      }
    }
  }

  private static void assertDividedOnce(Sharer... all) {
    List<String> done = new ArrayList<>();
    for (Sharer process : all) {
      done.addAll(process.its());
    }
    assertEquals(TASKS, done.stream().sorted().toList());
  }

  @Test
  void eachTaskIsOneProcesssAndNoneHasMuchMoreThanAnother() throws Exception {
    Sharer first = process();
    Sharer second = process();
    Sharer third = process();
    roundOfAll(first, second, third);
    assertDividedOnce(first, second, third);
    for (Sharer process : List.of(first, second, third)) {
      assertTrue(process.its().size() == 2 || process.its().size() == 3, process.its()::toString);
    }
  }

  @Test
  void whoHasNotLookedYetDoesEverything() throws Exception {
    Sharer first = process();
    first.round();
    Sharer second = process();
    assertEquals(TASKS, first.its());
    assertEquals(TASKS, second.its());
  }

  @Test
  void aTaskThatIsNotDoneHereNamesTheProcessThatDoesIt() throws Exception {
    Sharer first = process();
    Sharer second = process();
    roundOfAll(first, second);
    Sharer doer = first.isMine("a") ? first : second;
    Sharer other = doer == first ? second : first;
    assertEquals(
        Optional.of(doer == first ? "process_1" : "process_2"), other.shares.findOther("a"));
  }

  @Test
  void aJobIsSkippedWhileAnotherProcessRunsItAndRunsHereForAnOperator() throws Exception {
    Sharer other = new Sharer(SELDOM, List.of("a"));
    // Of two processes with one task the first by name has it; the name of the other is random.
    other.shares.join(other.database, "a process before any id");
    other.round();
    FakeClock clock = new FakeClock(1_700_000_000_000L);
    BackgroundJobs jobs =
        new BackgroundJobs(
            vertx, clock, clock, System::nanoTime, new Random(), SELDOM, new Signals());
    jobs.divide(other.database);
    AtomicInteger runs = new AtomicInteger();
    Polls.until("the other process is known", () -> jobs.shares().findOther("a").isPresent());
    ScheduledJob job =
        jobs.start(
            BackgroundJob.inOneProcess(
                "a",
                "testing",
                SELDOM,
                () -> {
                  runs.incrementAndGet();
                  return Future.succeededFuture(false);
                }));
    Polls.until("skipped", () -> job.view().skipped() == JobView.Skip.OTHER_PROCESS);
    assertEquals("a process before any id", job.view().holder());
    assertEquals(0, runs.get());
    await(job.runNow(Future::succeededFuture));
    Polls.until("it ran", () -> job.view().runs() == 1);
    assertEquals(1, runs.get());
  }

  @Test
  void whoeverLeavesIsFollowedAtTheNextRound() throws Exception {
    Sharer first = process();
    Sharer second = process();
    roundOfAll(first, second);
    await(first.shares.leave());
    second.round();
    assertEquals(TASKS, second.its());
  }

  @Test
  void theTasksOfAProcessThatDiedAreTakenOnceItsRowHasExpired() throws Exception {
    Sharer first = new Sharer(OFTEN, TASKS);
    Sharer second = new Sharer(OFTEN, TASKS);
    first.round();
    Polls.until(
        "the other has all",
        () -> {
          // No time passes on its own clock, so its assignment stays valid.
          try {
            second.round();
          } catch (Exception e) {
            throw new AssertionError(e);
          }
          return second.its().equals(TASKS);
        });
    assertEquals(
        List.of(1L),
        await(
            second.database.read(
                "SELECT COUNT(*) AS n FROM upkeep_process", List.of(), row -> row.integer("n"))),
        "the row is gone too");
  }

  @Test
  void aProcessThatThawsDoesEverythingUntilItHasLookedAgain() throws Exception {
    Sharer first = process();
    Sharer second = process();
    roundOfAll(first, second);
    first.nanos.addAndGet(TimeUnit.MINUTES.toNanos(3));
    assertEquals(TASKS, first.its());
    roundOfAll(first);
    assertDividedOnce(first, second);
  }

  @Test
  void aRowOfBeforeTheClockWasSetBackDoesNotCount() throws Exception {
    Sharer first = process();
    await(
        first.database.commit(
            List.of(
                Statement.of(
                    "INSERT INTO upkeep_process (process, tasks, expires_at) VALUES (?, ?, %s + ?)"
                        .formatted(first.database.clockSql()),
                    "gone",
                    String.join("\n", TASKS),
                    TimeUnit.DAYS.toMillis(400)))));
    first.round();
    assertEquals(TASKS, first.its());
  }

  @Test
  void aTaskThatFailsInOneProcessIsDoneByAnother() throws Exception {
    Sharer first = process();
    Sharer second = process();
    roundOfAll(first, second);
    Sharer failing = first.its().contains("a") ? first : second;
    Sharer other = failing == first ? second : first;
    failing.shares.note("a", true);
    roundOfAll(first, second);
    assertFalse(failing.isMine("a"));
    assertTrue(other.isMine("a"));
  }

  @Test
  void aTaskThatFailsEverywhereIsTriedByAll() throws Exception {
    Sharer first = process();
    Sharer second = process();
    for (Sharer process : List.of(first, second)) {
      process.shares.note("a", true);
    }
    roundOfAll(first, second);
    assertTrue(first.isMine("a"));
    assertTrue(second.isMine("a"));
  }

  @Test
  void aTaskThatOnlySomeProcessesDoIsDealtToThem() throws Exception {
    Sharer first = process();
    Sharer second = new Sharer(SELDOM, List.of("a"));
    roundOfAll(first, second);
    assertTrue(first.its().containsAll(List.of("b", "c", "d", "e", "f", "g")));
    // Whoever is asked for a task that it does not know goes by what is stored, too.
    assertFalse(second.isMine("b"));
    assertTrue(first.isMine("a") != second.isMine("a"));
  }
}
