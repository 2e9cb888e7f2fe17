package dev.bourse.store.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.store.Change;
import dev.bourse.store.ChangeListener;
import dev.bourse.store.CommitContract;
import dev.bourse.store.CuttingProxy;
import dev.bourse.store.Database;
import dev.bourse.store.StoreUnavailableException;
import dev.bourse.testing.SharedPostgres;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import io.vertx.pgclient.PgConnection;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Processes learn of each other's commits, and of their own, from the commit logs. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class CommitLogTest {
  /** A poll without a pause would take CPU time from the awaited work. */
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  /** How long a reading is waited for that is to come too late. */
  private static final long READING_MILLIS = 3_000;

  private final Heard heard = new Heard();

  /** Old for a test, and too new for the store's own pruning. */
  private static final long AGE_MILLIS = 300_000;

  private static final String AGED = "UPDATE commit_log SET at_ms = at_ms - " + AGE_MILLIS;

  private final Map<String, Integer> sent = new HashMap<>();
  private Vertx vertx;
  private String url;
  private Database listening;

  /** A session of another process, which never notifies unless a test does. */
  private Connection session;

  /** Records what it receives. */
  private static final class Heard implements ChangeListener, CommitLogReader.Receiver {
    final List<String> keys = Collections.synchronizedList(new ArrayList<>());
    final List<Change> changes = new CopyOnWriteArrayList<>();
    final AtomicInteger missed = new AtomicInteger();
    final AtomicInteger setBack = new AtomicInteger();
    final AtomicInteger afterSilence = new AtomicInteger();
    final AtomicLong until = new AtomicLong(Long.MIN_VALUE);

    @Override
    public void changed(Change change) {
      // The keys come last, because tests wait for them.
      changes.add(change);
      keys.add(change.key());
    }

    @Override
    public void changed(List<Change> changes) {
      changes.forEach(this::changed);
    }

    @Override
    public void missed() {
      missed.incrementAndGet();
    }

    @Override
    public void setBack(boolean isAfterSilence) {
      (isAfterSilence ? afterSilence : setBack).incrementAndGet();
    }

    List<String> keys() {
      synchronized (keys) {
        return List.copyOf(keys);
      }
    }

    @Override
    public void heardUntil(long nanoTime) {
      until.set(nanoTime);
    }
  }

  @BeforeEach
  void open() throws Exception {
    vertx = Vertx.vertx();
    url = SharedPostgres.server().newDatabase();
    listening = await(openAt(url));
    listening.listen(heard);
    session = SharedPostgres.server().connect(url);
  }

  @AfterEach
  void close() throws Exception {
    session.close();
    await(listening.close());
    await(vertx.close());
  }

  /** One without deadlines. */
  private static PostgresConfig config(String at) {
    return config(at, 60_000);
  }

  private static PostgresConfig config(String at, long queryMillis) {
    return new PostgresConfig(
        PostgresUrl.parse(at), "", 2, 4_096, 4_096, 5_000, 60_000, queryMillis);
  }

  private Future<PostgresDatabase> openAt(String at) {
    return open(config(at));
  }

  private Future<PostgresDatabase> open(PostgresConfig config) {
    return PostgresDatabase.open(
        vertx, config, "db/postgres-contract", Clock.systemUTC(), new Random());
  }

  private static <T> T await(Future<T> future) throws Exception {
    return CommitContract.await(future);
  }

  private static void poll(String what, Callable<Boolean> condition) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!condition.call()) {
      assertTrue(System.nanoTime() < deadline, () -> what + " did not come to pass");
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  /** Stores a sender's next group, which changes one cluster. */
  private void store(Connection in, String sender, String key) throws SQLException {
    store(in, sender, sent.merge(sender, 1, Integer::sum), "'cluster\t" + key + "\t\t'");
  }

  private static void store(Connection in, String sender, int seq, String changes)
      throws SQLException {
    execute(
        in,
        "INSERT INTO commit_log (sender, seq, changes) VALUES ('%s', %d, %s)"
            .formatted(sender, seq, changes));
  }

  private long number(String sql) throws Exception {
    return await(listening.readOne(sql, List.of(), row -> row.integer("n")));
  }

  private PgConnection connection() throws Exception {
    return await(
        PostgresLink.open(
            ((VertxInternal) vertx).createEventLoopContext(),
            config(url),
            "log",
            PostgresLink.Needs.PRIMARY,
            "SELECT 1"));
  }

  private static void execute(Connection in, String sql) throws SQLException {
    try (java.sql.Statement statement = in.createStatement()) {
      statement.execute(sql);
    }
  }

  @Test
  void aGroupIsReadThoughNobodyNotifiesOfIt() throws Exception {
    store(session, "a", "quiet");
    poll("it is read", () -> heard.keys.contains("quiet"));
    assertEquals(0, heard.missed.get());
  }

  @Test
  void aTransactionThatStaysOpenDelaysNoOtherSender() throws Exception {
    try (Connection open = SharedPostgres.server().connect(url)) {
      open.setAutoCommit(false);
      store(open, "slow", "late");
      for (int i = 0; i < 4; i++) {
        String key = "early-" + i;
        store(session, "fast", key);
        poll("a later commit is read", () -> heard.keys.contains(key));
      }
      assertFalse(heard.keys.contains("late"));
      open.commit();
      poll("the late commit is read", () -> heard.keys.contains("late"));
      assertEquals(0, heard.missed.get());
    }
  }

  @Test
  void racingSendersAreReadEachInItsOrder() throws Exception {
    List<List<String>> all = new ArrayList<>();
    Random random = new Random(7);
    List<Connection> open = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Connection one = SharedPostgres.server().connect(url);
      one.setAutoCommit(false);
      open.add(one);
      all.add(new ArrayList<>());
    }
    for (int i = 0; i < 400; i++) {
      int sender = random.nextInt(open.size());
      String key = sender + "-" + i;
      store(open.get(sender), "s" + sender, key);
      all.get(sender).add(key);
      if (random.nextInt(3) == 0) {
        open.get(random.nextInt(open.size())).commit();
      }
    }
    for (Connection one : open) {
      one.commit();
      one.close();
    }
    poll("all are read", () -> heard.keys().size() == 400);
    for (int sender = 0; sender < all.size(); sender++) {
      String prefix = sender + "-";
      assertEquals(
          all.get(sender), heard.keys().stream().filter(key -> key.startsWith(prefix)).toList());
    }
    assertEquals(0, heard.missed.get());
  }

  @Test
  void nothingIsMissedWhenTheListeningSessionIsEnded() throws Exception {
    for (int round = 0; round < 5; round++) {
      SharedPostgres.server().terminateSessions();
      String key = "round-" + round;
      store(session, "a", key);
      poll("it is read", () -> heard.keys.contains(key));
    }
    assertEquals(0, heard.missed.get());
  }

  /** More than fit into one answer. */
  @Test
  void hundredsOfGroupsAtOnceAreReadInTheirOrder() throws Exception {
    execute(
        session,
        "INSERT INTO commit_log (sender, seq, changes)"
            + " SELECT 'a', n, 'cluster\t' || n || '\t\t' FROM generate_series(1, 1500) n");
    poll("the last is read", () -> heard.keys.contains("1500"));
    assertEquals(IntStream.rangeClosed(1, 1_500).mapToObj(String::valueOf).toList(), heard.keys());
    assertEquals(0, heard.missed.get());
  }

  @Test
  void moreGroupsThanAreWorthReadingMeanThatEverythingIsCompared() throws Exception {
    execute(
        session,
        "INSERT INTO commit_log (sender, seq, changes)"
            + " SELECT 'a', n, 'cluster\t' || n || '\t\t' FROM generate_series(1, 3000) n");
    poll("word of what was missed", () -> heard.missed.get() > 0);
    store(session, "a", 3_001, "'cluster\tafter\t\t'");
    poll("what comes after is read", () -> heard.keys.contains("after"));
    assertEquals(1, heard.missed.get());
  }

  @Test
  void aRowThatMakesNoSenseKeepsNoOtherFromBeingRead() throws Exception {
    store(session, "a", 1, "'\t'");
    store(session, "a", 2, "'cluster\tsense\t\t'");
    poll("it is read", () -> heard.keys.contains("sense"));
    poll("something was missed", () -> heard.missed.get() > 0);
  }

  @Test
  void aTombstoneChangesNothing() throws Exception {
    store(session, "a", 1, "NULL");
    store(session, "a", 2, "'cluster\tnext\t\t'");
    poll("the next is read", () -> heard.keys().equals(List.of("next")));
    assertEquals(0, heard.missed.get());
  }

  @Test
  void aLogThatCannotBeReadForAWhileIsReadOn() throws Exception {
    Heard own = new Heard();
    Database hasty = await(open(config(url, READING_MILLIS)));
    hasty.listen(own);
    session.setAutoCommit(false);
    execute(session, "LOCK TABLE commit_log IN ACCESS EXCLUSIVE MODE");
    store(session, "a", "locked");
    long before = System.nanoTime();
    // As long as a read is waited for, and some more.
    poll(
        "time passes",
        () -> System.nanoTime() - before > 2 * TimeUnit.MILLISECONDS.toNanos(READING_MILLIS));
    session.commit();
    session.setAutoCommit(true);
    poll("it is read", () -> own.keys.contains("locked"));
    await(hasty.close());
  }

  @Test
  void itIsSaidHowFarTheListenerHasHeard() throws Exception {
    long now = System.nanoTime();
    poll("it has heard until later", () -> heard.until.get() - now > 0);
  }

  @Test
  void aChangeComesOnceAndWithItsRow() throws Exception {
    Change change = new Change("cluster", "stored", 7, "its row");
    Database telling = await(openAt(url));
    await(telling.commit(List.of(), List.of(change)));
    await(telling.commit(List.of(), List.of(new Change("cluster", "next"))));
    poll("the next is read", () -> heard.keys.contains("next"));
    assertEquals(List.of(change, new Change("cluster", "next")), heard.changes);
    await(telling.close());
  }

  @Test
  void rowsPastTheBoundOfAGroupAreLeftOut() throws Exception {
    Database telling = await(openAt(url));
    List<Change> changes = new ArrayList<>();
    for (int i = 0; i < 64; i++) {
      changes.add(new Change("cluster", "k" + i, i, "x".repeat(3_000)));
    }
    await(telling.commit(List.of(), changes));
    poll("all are read", () -> heard.changes.size() == 64);
    assertEquals(
        21, heard.changes.stream().filter(change -> !change.row().isEmpty()).count(), "of 64,000");
    await(telling.close());
  }

  @Test
  void aCommitWhoseOutcomeStayedUnknownIsToldToItsOwnProcess() throws Exception {
    CuttingProxy proxy = await(CuttingProxy.start(vertx, SharedPostgres.server().port()));
    String through = url.replace(":" + SharedPostgres.server().port(), ":" + proxy.port());
    Database unsure = await(open(config(through, 5_000)));
    Heard own = new Heard();
    unsure.listen(own);
    await(unsure.commit(List.of(), List.of(new Change("cluster", "sure"))));
    proxy.plan = CuttingProxy.Plan.LOSE_ANSWER;
    proxy.isDown = true;
    CommitContract.failureOf(unsure.commit(List.of(), List.of(new Change("cluster", "unsure"))));
    proxy.isDown = false;
    poll("it is told", () -> own.keys().equals(List.of("unsure")));
    await(unsure.close());
  }

  @Test
  void aProcessThatFindsItsOwnGroupsGoneWritesNothingOnTopOfThem() throws Exception {
    Heard own = new Heard();
    Database writing = await(openAt(url));
    writing.listen(own);
    await(writing.commit(List.of(), List.of(new Change("cluster", "kept"))));
    poll("it is read", () -> heard.keys.contains("kept"));
    session.setAutoCommit(false);
    // No read sees the log while it is locked, so the writer is the first to detect it.
    execute(session, "LOCK TABLE commit_log IN ACCESS EXCLUSIVE MODE");
    Future<Void> late = writing.commit(List.of(), List.of(new Change("cluster", "late")));
    Future<Void> queued = writing.commit(List.of(), List.of(new Change("cluster", "later")));
    execute(session, "DELETE FROM commit_log");
    session.commit();
    session.setAutoCommit(true);
    StoreUnavailableException refusal =
        assertInstanceOf(StoreUnavailableException.class, CommitContract.failureOf(late));
    assertFalse(refusal.mayBeStored());
    assertInstanceOf(StoreUnavailableException.class, CommitContract.failureOf(queued));
    poll("everything is compared", () -> own.missed.get() > 0);
    poll("everything is compared by the other", () -> heard.missed.get() > 0);
    // Its own reader may notice it, too, and the writer hears of that after the listeners.
    poll(
        "it stores again",
        () ->
            await(
                writing
                    .commit(List.of(), List.of(new Change("cluster", "after")))
                    .transform(CommitLogTest::isStored)));
    poll("the next group is read", () -> heard.keys.contains("after"));
    assertFalse(heard.keys.contains("late"));
    assertEquals(0, number("SELECT COUNT(*) AS n FROM commit_log WHERE changes LIKE '%late%'"));
    await(writing.close());
  }

  @Test
  void aProcessThatOnlyReadsNoticesThatItsOwnGroupsAreGone() throws Exception {
    await(listening.commit(List.of(), List.of(new Change("cluster", "mine"))));
    execute(session, "DELETE FROM commit_log");
    poll("everything is compared", () -> heard.missed.get() > 0);
    assertEquals(1, listening.setBacks());
    // The writer hears of it after the listeners: a commit in between is refused.
    poll(
        "it stores again",
        () -> await(listening.commit(List.of()).transform(CommitLogTest::isStored)));
  }

  private static Future<Boolean> isStored(AsyncResult<Void> commit) {
    return Future.succeededFuture(commit.succeeded());
  }

  @Test
  void aReaderNoticesThatAGroupItAppliedIsGone() throws Exception {
    PgConnection connection = connection();
    Heard reader = new Heard();
    CommitLogReader log = new CommitLogReader(new OwnGroups(new Random()), reader);
    await(log.read(connection));
    store(session, "a", "one");
    store(session, "a", "two");
    store(session, "b", "other");
    await(log.read(connection));
    assertEquals(Set.of("one", "two", "other"), Set.copyOf(reader.keys()));

    execute(session, "DELETE FROM commit_log WHERE sender = 'a' AND seq = 2");
    await(log.read(connection));
    assertEquals(1, reader.setBack.get(), "the newest row is older than what was applied");
    await(log.read(connection));
    assertEquals(1, reader.setBack.get(), "once");

    // Another group under a key that was never applied here: the row at the position is gone.
    execute(session, "UPDATE commit_log SET seq = 3 WHERE sender = 'a'");
    await(log.read(connection));
    assertEquals(1, reader.missed.get());

    execute(session, "DELETE FROM commit_log WHERE sender = 'b'");
    await(log.read(connection));
    assertEquals(2, reader.setBack.get(), "a sender that was there a moment ago");
    await(connection.close());
  }

  /** The promoted server lost a group, whose number the sender used again since. */
  @Test
  void aReaderComparesEverythingAfterAPromotion() throws Exception {
    PgConnection connection = connection();
    Heard reader = new Heard();
    CommitLogReader log = new CommitLogReader(new OwnGroups(new Random()), reader);
    await(log.read(connection));
    store(session, "a", "lost");
    await(log.read(connection));
    execute(session, "UPDATE commit_log SET changes = NULL WHERE sender = 'a'");

    log.promoted();
    await(log.read(connection));
    assertEquals(1, reader.missed.get());
    await(log.read(connection));
    assertEquals(1, reader.missed.get(), "once");
    await(connection.close());
  }

  @Test
  void aSenderThatEndedLongAgoIsNotMissed() throws Exception {
    PgConnection connection = connection();
    Heard reader = new Heard();
    CommitLogReader log = new CommitLogReader(new OwnGroups(new Random()), reader);
    store(session, "ended", "one");
    execute(session, "UPDATE commit_log SET at_ms = 1 WHERE sender = 'ended'");
    await(log.read(connection));
    execute(session, "DELETE FROM commit_log WHERE sender = 'ended'");
    await(log.read(connection));
    assertEquals(0, reader.setBack.get() + reader.missed.get());
    await(connection.close());
  }

  /** Simulates a suspension: other processes deleted its rows, or the database lost them. */
  @Test
  void aReaderWhoseOwnRowsWentLongAgoCannotTellThatFromASetBack() throws Exception {
    PgConnection connection = connection();
    Heard reader = new Heard();
    OwnGroups own = new OwnGroups(new Random());
    CommitLogReader log = new CommitLogReader(own, reader);
    GroupId before = own.begin();
    store(session, before.sender(), 1, "''");
    own.sent();
    own.recorded(before);
    execute(session, "UPDATE commit_log SET at_ms = 1 WHERE sender = '" + before.sender() + "'");
    await(log.read(connection));
    execute(session, "DELETE FROM commit_log WHERE sender = '" + before.sender() + "'");
    await(log.read(connection));
    assertEquals(1, reader.afterSilence.get());
    assertEquals(0, reader.setBack.get() + reader.missed.get());
    await(connection.close());
  }

  @Test
  void aProcessKeepsItsNewestGroupHoweverOldItIs() throws Exception {
    OwnGroups own = new OwnGroups(new Random());
    GroupId newest = own.begin();
    store(session, newest.sender(), 1, "''");
    own.sent();
    own.recorded(newest);
    execute(session, AGED);
    await(new CommitLogPruning(listening, own, AGE_MILLIS - 1).step());
    assertEquals(
        1,
        number(
            "SELECT COUNT(*) AS n FROM commit_log WHERE sender = '%s'".formatted(newest.sender())));
  }

  @Test
  void oldGroupsGoAndTheNewestOfEachLivingSenderStays() throws Exception {
    for (int i = 0; i < 3; i++) {
      store(session, "alive", "k");
      store(session, "ended", "k");
    }
    execute(session, AGED + " WHERE sender = 'ended' OR seq < 3");
    CommitLogPruning pruning =
        new CommitLogPruning(listening, new OwnGroups(new Random()), AGE_MILLIS - 1);
    assertFalse(await(pruning.step()));
    assertEquals(
        3, number("SELECT MIN(seq) AS n FROM commit_log WHERE sender = 'alive'"), "the newest");
    assertEquals(0, number("SELECT COUNT(*) AS n FROM commit_log WHERE sender = 'ended'"));
    String others = "SELECT COUNT(*) AS n FROM commit_log WHERE sender <> 'alive'";
    assertEquals(1, number(others), "the deletion is a group as well");
    assertFalse(await(pruning.step()));
    assertEquals(1, number(others));
    assertFalse(await(pruning.step()));
    assertEquals(2, number(others), "a process that is idle for a round shows that it lives");
    assertEquals(1, number("SELECT COUNT(*) AS n FROM commit_log WHERE sender = 'alive'"));
  }
}
