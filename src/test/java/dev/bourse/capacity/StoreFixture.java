package dev.bourse.capacity;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.fail;

import dev.bourse.access.AccessConfig;
import dev.bourse.access.AccessStore;
import dev.bourse.access.MemberTokens;
import dev.bourse.access.Members;
import dev.bourse.access.Organization;
import dev.bourse.access.Revocations;
import dev.bourse.access.SigningKeys;
import dev.bourse.access.Tokens;
import dev.bourse.core.FakeClock;
import dev.bourse.market.NodeStore;
import dev.bourse.nodes.Machine;
import dev.bourse.pools.settings.PoolStore;
import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.ForwardingDatabase;
import dev.bourse.store.RowMapper;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreUnavailableException;
import dev.bourse.store.sqlite.MemoryEngine;
import dev.bourse.testing.TestStore;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A real store in a folder of its own, with organization acme, pool h100 and 16 nodes. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
public abstract class StoreFixture {
  private static final long DEADLINE_SECONDS = 60;

  protected final FakeClock clock = new FakeClock(Sample.T0);
  protected final Vertx vertx = Vertx.vertx();

  @TempDir protected Path folder;

  protected Database database;

  @BeforeEach
  void openStore() throws Exception {
    database = new Failing(await(open()));
    List<Statement> statements = new ArrayList<>();
    statements.add(AccessStore.insert(new Organization("acme", "Acme", "standard"), Sample.T0));
    statements.add(PoolStore.insert(Sample.POOL, Sample.T0));
    for (int i = 0; i < 16; i++) {
      statements.add(NodeStore.insert("h100", machine(i), Sample.T0));
    }
    await(database.commit(statements));
  }

  /** Members' tokens of this store; it has no key to sign them. */
  protected final MemberTokens memberTokens(Tokens tokens) {
    return new MemberTokens(
        new SigningKeys(vertx, database, folder, AccessConfig.defaults(), clock),
        new Members(new AccessStore(database)),
        tokens,
        new Revocations(database, clock),
        () -> "http://bourse.example",
        clock,
        new Random(1));
  }

  @AfterEach
  void closeStore() throws Exception {
    await(database.close());
    await(vertx.close());
  }

  /** Opens the store file; a test that opens it again closes {@link #database} first. */
  protected Future<? extends Database> open() throws Exception {
    return TestStore.openEmbedded(vertx, folder.resolve("bourse.db"), clock);
  }

  /** Makes the next commits fail as on a full disk; nothing of them is stored. */
  protected void failNextCommits(int count) {
    ((Failing) database).failures.set(count);
  }

  /** Makes the next commit lose its answer after it is stored. */
  protected void loseNextAnswer() {
    ((Failing) database).lostAnswers.set(1);
  }

  /** Simulates a failover to a server that has all commits. */
  protected void failOver(String lineage) {
    ((Failing) database).lineage = lineage;
  }

  /** Simulates a failover to a server that lacks commits, which this process detects. */
  protected void loseCommits(String lineage) {
    ((Failing) database).setBacks.incrementAndGet();
    failOver(lineage);
  }

  /** Returns the most commits that waited for the store at a time. */
  protected int mostCommitsAtOnce() {
    return ((Failing) database).mostAtOnce.get();
  }

  /** Makes the next reads fail as if the store were unavailable. */
  protected void failNextReads(int count) {
    ((Failing) database).readFailures.set(count);
  }

  /**
   * Makes the next read answer late with the rows that it found in time.
   *
   * @param until completes when it may answer
   * @return completes when it has read the rows
   */
  protected Future<Void> holdNextRead(Future<Void> until) {
    Promise<Void> found = Promise.promise();
    ((Failing) database)
        .late.set(
            rows -> {
              found.complete();
              return until;
            });
    return found.future();
  }

  protected static Machine machine(int i) {
    return new Machine(nodeId(i), Sample.ip(i), 22, null);
  }

  protected static String nodeId(int i) {
    return "n" + i;
  }

  /** Returns a query that gives its one column a fixed alias. */
  private static String ofValue(String sql) {
    return "WITH found (value) AS (%s) SELECT value FROM found".formatted(sql);
  }

  /** The store without made faults, for the reads of the test itself. */
  private Database faultless() {
    return database instanceof Failing failing ? failing.store : database;
  }

  protected List<Long> integers(String sql) throws Exception {
    return await(faultless().read(ofValue(sql), List.of(), row -> row.integer("value")));
  }

  protected List<String> texts(String sql) throws Exception {
    return await(faultless().read(ofValue(sql), List.of(), row -> row.text("value")));
  }

  public static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(DEADLINE_SECONDS, TimeUnit.SECONDS);
  }

  public static <E extends Throwable> E fails(Class<E> with, Future<?> future) {
    ExecutionException e = assertThrows(ExecutionException.class, () -> await(future));
    return assertInstanceOf(with, e.getCause());
  }

  /** Waits until something holds. */
  public static void eventually(String what, BooleanSupplier holds) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS);
    while (!holds.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        fail("never: " + what);
      }
      TimeUnit.MILLISECONDS.sleep(2);
    }
  }

  /** A store whose commits and reads can be made to fail, and reads to be late. */
  private static final class Failing extends ForwardingDatabase {
    final AtomicInteger failures = new AtomicInteger();
    final AtomicInteger lostAnswers = new AtomicInteger();
    final AtomicInteger readFailures = new AtomicInteger();
    private final AtomicInteger underWay = new AtomicInteger();
    final AtomicInteger mostAtOnce = new AtomicInteger();
    final AtomicReference<Function<List<?>, Future<Void>>> late =
        new AtomicReference<>(Failing::inTime);

    private final Database store;

    Failing(Database store) {
      super(store);
      this.store = store;
    }

    volatile String lineage = "first";
    final AtomicInteger setBacks = new AtomicInteger();

    @Override
    public Future<String> lineage() {
      return Future.succeededFuture(lineage);
    }

    @Override
    public long setBacks() {
      return setBacks.get();
    }

    private static Future<Void> inTime(List<?> rows) {
      return Future.succeededFuture();
    }

    @Override
    public <T> Future<List<T>> read(String sql, List<?> parameters, RowMapper<T> mapper) {
      if (readFailures.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
        return Future.failedFuture(new StoreUnavailableException("made to fail", null));
      }
      Function<List<?>, Future<Void>> answer = late.getAndSet(Failing::inTime);
      return super.read(sql, parameters, mapper).compose(rows -> answer.apply(rows).map(rows));
    }

    @Override
    public Future<Void> commit(List<Statement> statements, List<Change> changes) {
      if (failures.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
        return Future.failedFuture(new StoreUnavailableException("made to fail", null));
      }
      if (lostAnswers.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
        return super.commit(statements, changes)
            .compose(stored -> Future.failedFuture(MemoryEngine.unknown("made to be lost")));
      }
      mostAtOnce.accumulateAndGet(underWay.incrementAndGet(), Math::max);
      return super.commit(statements, changes).onComplete(done -> underWay.decrementAndGet());
    }
  }
}
