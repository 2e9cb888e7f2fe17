package dev.bourse.store.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.store.Change;
import dev.bourse.store.ChangeListener;
import dev.bourse.store.CommitContract;
import dev.bourse.store.CuttingProxy;
import dev.bourse.store.Database;
import dev.bourse.testing.SharedPostgres;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import io.vertx.pgclient.PgConnection;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * Whatever a commit says it changed is told to the other processes, whatever is lost on the way.
 */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class PostgresFeedTest {
  /** A poll without a pause would take the processor from what it waits for. */
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  /** How long a reading is waited for that is to come too late. */
  private static final long READING_MILLIS = 1_500;

  private final Heard heard = new Heard();
  private Vertx vertx;
  private String url;
  private Database listening;

  /** A session of somebody who is no process of ours: it never notifies unless a test does. */
  private Connection session;

  /** Keeps what it hears. */
  private static final class Heard implements ChangeListener, PostgresFeed.Audience {
    final List<String> keys = Collections.synchronizedList(new ArrayList<>());
    final List<Change> changes = new CopyOnWriteArrayList<>();
    final AtomicInteger missed = new AtomicInteger();
    final AtomicLong until = new AtomicLong(Long.MIN_VALUE);

    @Override
    public void changed(Change change) {
      keys.add(change.key());
      changes.add(change);
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
    public void answered() {
      // Nobody waits here.
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

  /** One for which nothing is too late. */
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

  private static void say(Connection in, String key) throws SQLException {
    execute(in, "INSERT INTO change_feed (topic, key) VALUES ('cluster', '" + key + "')");
  }

  private static void execute(Connection in, String sql) throws SQLException {
    try (java.sql.Statement statement = in.createStatement()) {
      statement.execute(sql);
    }
  }

  @Test
  void aChangeIsToldThoughNobodyNotifiesOfIt() throws Exception {
    say(session, "quiet");
    poll("it is told", () -> heard.keys.contains("quiet"));
    assertEquals(0, heard.missed.get());
  }

  @Test
  void aTransactionThatStaysOpenDelaysNobodyAndIsToldOnceItEnds() throws Exception {
    try (Connection open = SharedPostgres.server().connect(url)) {
      open.setAutoCommit(false);
      say(open, "late");
      for (int i = 0; i < 4; i++) {
        String key = "early-" + i;
        say(session, key);
        poll("a later commit is told", () -> heard.keys.contains(key));
      }
      assertFalse(heard.keys.contains("late"));
      open.commit();
      poll("the late commit is told", () -> heard.keys.contains("late"));
    }
  }

  @Test
  void whatIsRolledBackIsNotTold() throws Exception {
    session.setAutoCommit(false);
    say(session, "undone");
    session.rollback();
    session.setAutoCommit(true);
    say(session, "done");
    poll("the commit is told", () -> heard.keys.contains("done"));
    assertFalse(heard.keys.contains("undone"));
  }

  @Test
  void racingTransactionsAreAllToldWhateverTheOrderTheyEndIn() throws Exception {
    Set<String> all = new HashSet<>();
    Random random = new Random(7);
    List<Connection> open = new CopyOnWriteArrayList<>();
    for (int i = 0; i < 8; i++) {
      Connection one = SharedPostgres.server().connect(url);
      one.setAutoCommit(false);
      open.add(one);
    }
    for (int i = 0; i < 400; i++) {
      Connection one = open.get(random.nextInt(open.size()));
      String key = "k" + i;
      say(one, key);
      all.add(key);
      if (random.nextInt(3) == 0) {
        open.get(random.nextInt(open.size())).commit();
      }
    }
    for (Connection one : open) {
      one.commit();
      one.close();
    }
    poll("all are told", () -> new HashSet<>(heard.keys()).equals(all));
    assertEquals(0, heard.missed.get());
  }

  @Test
  void changesAreToldAfterTheListeningSessionWasEndedMeanwhile() throws Exception {
    for (int round = 0; round < 5; round++) {
      SharedPostgres.server().terminateSessions();
      String key = "round-" + round;
      say(session, key);
      poll("it is told", () -> heard.keys.contains(key));
    }
  }

  @Test
  void thousandsOfChangesAtOnceAreToldEachInTheOrderTheyWereStored() throws Exception {
    execute(
        session,
        "INSERT INTO change_feed (topic, key) SELECT 'cluster', n FROM generate_series(1, 5000) n");
    poll("the last is told", () -> heard.keys.contains("5000"));
    assertEquals(5_000, heard.keys().size());
    assertEquals(
        heard.keys().stream().sorted(Comparator.comparing(Integer::valueOf)).toList(),
        heard.keys());
  }

  @Test
  void moreChangesThanAreWorthHearingOfOneByOneMeanThatSomeWereMissed() throws Exception {
    execute(
        session,
        "INSERT INTO change_feed (topic, key) SELECT 'cluster', n FROM generate_series(1, 60000)"
            + " n");
    poll("word of what was missed", () -> heard.missed.get() > 0);
    say(session, "after");
    poll("what comes after is told", () -> heard.keys.contains("after"));
  }

  @Test
  void aRowThatMakesNoSenseKeepsNoOtherFromBeingTold() throws Exception {
    execute(session, "INSERT INTO change_feed (topic, key) VALUES ('', 'x')");
    say(session, "sense");
    poll("it is told", () -> heard.keys.contains("sense"));
    poll("something was missed", () -> heard.missed.get() > 0);
  }

  @Test
  void aFeedThatCannotBeReadForAWhileIsReadOn() throws Exception {
    Heard own = new Heard();
    Database hasty = await(open(config(url, READING_MILLIS)));
    hasty.listen(own);
    session.setAutoCommit(false);
    execute(session, "LOCK TABLE change_feed IN ACCESS EXCLUSIVE MODE");
    say(session, "locked");
    long before = System.nanoTime();
    // As long as a reading is waited for, and then some.
    poll(
        "time passes",
        () -> System.nanoTime() - before > 2 * TimeUnit.MILLISECONDS.toNanos(READING_MILLIS));
    session.commit();
    session.setAutoCommit(true);
    poll("it is told", () -> own.keys.contains("locked"));
    await(hasty.close());
  }

  @Test
  void itIsSaidHowFarTheListenerHasHeard() throws Exception {
    long now = System.nanoTime();
    poll("it has heard until later", () -> heard.until.get() - now > 0);
  }

  @Test
  void aRowComesByTheNotificationAloneAndItsVersionByTheFeed() throws Exception {
    // Nobody but the session knows of the first: it is in no table.
    execute(
        session,
        "SELECT pg_notify('bourse_rows', 'fed-rows-other' || chr(10)"
            + " || concat_ws(chr(9), 'cluster', 'k', '0', '{\"row\":1}'))");
    poll(
        "it is told",
        () -> heard.changes.equals(List.of(new Change("cluster", "k", 0, "{\"row\":1}"))));
    Change change = new Change("cluster", "stored", 7, "its row");
    Database telling = await(openAt(url));
    await(telling.commit(List.of(), List.of(change)));
    poll("it is told with its row", () -> heard.changes.contains(change));
    poll(
        "and again by the feed",
        () -> heard.changes.contains(new Change("cluster", "stored", 7, "")));
    await(telling.close());
  }

  @Test
  void aRowTooLargeForANotificationIsToldByItsVersion() throws Exception {
    Database telling = await(openAt(url));
    await(
        telling.commit(
            List.of(),
            List.of(
                new Change("cluster", "large", 1, "\u20ac".repeat(2_700)),
                new Change("cluster", "fits", 1, "\u20ac".repeat(2_500)))));
    poll("the one that fits is told", () -> rowsHeard() == 1);
    poll(
        "the large one is told",
        () -> heard.changes.contains(new Change("cluster", "large", 1, "")));
    assertEquals(1, rowsHeard());
    await(telling.close());
  }

  private long rowsHeard() {
    return heard.changes.stream().filter(change -> !change.row().isEmpty()).count();
  }

  @Test
  void moreRowsThanAreWorthSendingAreToldByTheirVersions() throws Exception {
    Database telling = await(openAt(url));
    List<Change> changes = new ArrayList<>();
    for (int i = 0; i < 64; i++) {
      changes.add(new Change("cluster", "k" + i, i, "x".repeat(3_000)));
    }
    await(telling.commit(List.of(), changes));
    poll(
        "all are told by the feed",
        () -> heard.changes.stream().filter(change -> change.row().isEmpty()).count() == 64);
    assertTrue(rowsHeard() > 0 && rowsHeard() < 32, rowsHeard() + " rows");
    await(telling.close());
  }

  @Test
  void aNotificationThatMakesNoSenseKeepsNoOtherFromBeingTold() throws Exception {
    for (String senseless : List.of("", "fed-rows-x", "fed-rows-x\n", "fed-rows-x\na\tb\tc\td")) {
      execute(session, "SELECT pg_notify('bourse_rows', '" + senseless + "')");
    }
    say(session, "sense");
    poll("it is told", () -> heard.keys().equals(List.of("sense")));
  }

  @Test
  void aProcessOfTheReleaseBeforeIsHeardThoughItLeavesNoRows() throws Exception {
    execute(
        session,
        "SELECT pg_notify('bourse_change', '0123456789abcdef01234567' || chr(10) || 'cluster'"
            + " || chr(9) || 'of-old' || chr(10) || 'tokens' || chr(9))");
    poll("it is told", () -> heard.keys().equals(List.of("of-old", "")));
  }

  @Test
  void aProcessOfTheReleaseBeforeHearsOurChangesInItsForm() throws Exception {
    execute(session, "LISTEN bourse_change");
    await(
        listening.commit(List.of(), List.of(new Change("cluster", "a"), new Change("tokens", ""))));
    PGNotification[] said = new PGNotification[0];
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (said.length == 0 && System.nanoTime() < deadline) {
      said = session.unwrap(PGConnection.class).getNotifications(1_000);
    }
    assertEquals(1, said.length);
    String[] lines = said[0].getParameter().split("\n", -1);
    assertEquals(List.of("cluster\ta", "tokens\t"), List.of(lines).subList(1, lines.length));
  }

  @Test
  void aCommitWhoseOutcomeStaysUnknownIsToldToItsOwnProcess() throws Exception {
    CuttingProxy proxy = await(CuttingProxy.start(vertx, SharedPostgres.server().port()));
    String through = url.replace(":" + SharedPostgres.server().port(), ":" + proxy.port());
    Database unsure = await(open(config(through, 2_000)));
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
  void rowsGoOnlyOnceTheyWereToBeSeenForAsLongAsTheyAreKept() throws Exception {
    AtomicLong nanos = new AtomicLong();
    FeedPruning pruning = new FeedPruning(listening, 1_000, nanos::get);
    try (Connection open = SharedPostgres.server().connect(url)) {
      open.setAutoCommit(false);
      say(open, "open");
      execute(session, "INSERT INTO change_feed (topic, key, at_ms) VALUES ('cluster', 'old', 1)");
      assertFalse(await(pruning.step()), "looks for the first time");
      execute(session, "INSERT INTO change_feed (topic, key, at_ms) VALUES ('cluster', 'new', 1)");
      execute(open, "UPDATE change_feed SET at_ms = 1 WHERE key = 'open'");
      open.commit();
      assertFalse(await(pruning.step()), "too early");
      assertEquals(3, rows());
      nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
      assertTrue(await(pruning.step()));
      assertEquals(2, rows());
      assertFalse(await(pruning.step()));
      nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
      assertTrue(await(pruning.step()));
      assertEquals(0, rows());
    }
  }

  private long rows() throws Exception {
    return await(
            listening.read(
                "SELECT COUNT(*) AS counted FROM change_feed",
                List.of(),
                row -> row.integer("counted")))
        .get(0);
  }

  @Test
  void aReaderThatWasAwayUntilRowsWentHearsThatItMissedSome() throws Exception {
    PgConnection connection =
        await(
            PostgresLink.open(
                ((VertxInternal) vertx).createEventLoopContext(), config(url), "SELECT 1"));
    Heard sleeper = new Heard();
    PostgresFeed feed = new PostgresFeed("sleeper", sleeper);
    await(feed.read(connection));
    execute(session, "INSERT INTO change_feed (topic, key, at_ms) VALUES ('cluster', 'gone', 1)");
    AtomicLong nanos = new AtomicLong();
    FeedPruning pruning = new FeedPruning(listening, 1_000, nanos::get);
    await(pruning.step());
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
    assertTrue(await(pruning.step()));

    await(feed.read(connection));

    assertEquals(1, sleeper.missed.get());
    await(feed.read(connection));
    assertEquals(1, sleeper.missed.get(), "once");
    await(connection.close());
  }

  /** As in a database that was made of another server's dump. */
  @Test
  void idsThatAreNotHandedOutYetSayNothing() throws Exception {
    PgConnection connection =
        await(
            PostgresLink.open(
                ((VertxInternal) vertx).createEventLoopContext(), config(url), "SELECT 1"));
    execute(
        session,
        "INSERT INTO change_feed_horizon (id, pruned) VALUES (1, '999999999:999999999:')"
            + " ON CONFLICT (id) DO UPDATE SET pruned = excluded.pruned");
    execute(
        session,
        "INSERT INTO change_feed (topic, key, at_ms, txid)"
            + " VALUES ('cluster', 'dumped', 1, '999999990')");
    Heard reader = new Heard();
    PostgresFeed feed = new PostgresFeed("reader", reader);
    await(feed.read(connection));
    execute(session, "INSERT INTO change_feed (topic, key, at_ms) VALUES ('cluster', 'news', 1)");
    for (int i = 0; i < 3; i++) {
      await(feed.read(connection));
    }
    assertEquals(List.of("news"), reader.keys());
    assertEquals(0, reader.missed.get());

    AtomicLong nanos = new AtomicLong();
    FeedPruning pruning = new FeedPruning(listening, 1_000, nanos::get);
    await(pruning.step());
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
    assertTrue(await(pruning.step()));
    assertEquals(0, rows(), "what was dumped goes with the rest");
    // The horizon is of this server now, so whoever sleeps past the next one hears of it.
    execute(session, "INSERT INTO change_feed (topic, key, at_ms) VALUES ('cluster', 'gone', 1)");
    await(pruning.step());
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
    assertTrue(await(pruning.step()));
    await(feed.read(connection));
    assertEquals(1, reader.missed.get());
    await(connection.close());
  }
}
