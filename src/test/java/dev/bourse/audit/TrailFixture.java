package dev.bourse.audit;

import dev.bourse.core.FakeClock;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** An empty store with organizations acme and globex, and methods to write, seal and verify. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
abstract class TrailFixture {
  static final long T0 = 1_700_000_000_000L;

  final FakeClock clock = new FakeClock(T0);
  final Vertx vertx = Vertx.vertx();

  Database database;
  Sealer sealer;

  abstract Future<? extends Database> open() throws Exception;

  @BeforeEach
  void openStore() throws Exception {
    database = await(open());
    sealer = newSealer();
    for (String org : List.of("acme", "globex")) {
      run(
          "INSERT INTO org (org_id, display, kind, created_at) VALUES ('"
              + org
              + "', 'x', 'standard', 0)");
    }
  }

  @AfterEach
  void closeStore() throws Exception {
    await(database.close());
    await(vertx.close());
  }

  static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  Sealer newSealer() {
    return new Sealer(vertx, database, clock);
  }

  /** Makes chosen ids count as allocated by a server whose sequence did not allocate them. */
  void settle() throws Exception {
    if (database.isShared()) {
      run(
          "SELECT setval('audit_id_seq', GREATEST(MAX(id), (SELECT last_value FROM audit_id_seq)))"
              + " FROM audit HAVING MAX(id) >= 1");
    }
  }

  /** Runs steps until the round has no more work. */
  static void round(Supplier<Future<Boolean>> step) throws Exception {
    while (await(step.get())) {
      Thread.onSpinWait();
    }
  }

  /** Runs a round that seals all rows. */
  void seal() throws Exception {
    settle();
    round(sealer::step);
  }

  void run(String sql) throws Exception {
    await(database.commit(List.of(Statement.of(sql))));
  }

  List<Long> integers(String sql) throws Exception {
    return await(
        database.read(
            "WITH found (value) AS (%s) SELECT value FROM found".formatted(sql),
            List.of(),
            row -> row.integer("value")));
  }

  /** A row with a chosen id. */
  void row(long id, String org, boolean isRead) throws Exception {
    row(id, clock.millis(), org, isRead);
  }

  void row(long id, long atMillis, String org, boolean isRead) throws Exception {
    await(
        database.commit(
            List.of(
                Statement.of(
                    "INSERT INTO audit (id, ts, org_id, actor, action, subject, detail, is_read)"
                        + " VALUES (?, ?, ?, 'token:a', 'vm_capacity_put', 'c', ?, ?)",
                    id,
                    atMillis,
                    org,
                    "max_gpus=" + id,
                    isRead))));
  }

  /** Rows with these ids and all between. */
  void rows(long from, long to, String org, boolean isRead) throws Exception {
    run(
        "WITH RECURSIVE n (i) AS (SELECT "
            + from
            + " UNION ALL SELECT i + 1 FROM n WHERE i < "
            + to
            + ") INSERT INTO audit (id, ts, org_id, actor, action, subject, detail, is_read)"
            + " SELECT i, "
            + clock.millis()
            + ", '"
            + org
            + "', 'token:a', 'vm_capacity_get', 'c', 'd', "
            + (isRead ? 1 : 0)
            + " FROM n");
  }

  SealService.Report verify(String org, boolean isRead, long afterBatch) throws Exception {
    return await(new SealService(vertx, database).verifySeals(new Chain(org, isRead), afterBatch));
  }

  /** All findings of a whole chain, each as {@code batch row what}. */
  List<String> findings(String org, boolean isRead) throws Exception {
    List<String> found = new ArrayList<>();
    Long after = 0L;
    while (after != null) {
      SealService.Report report = verify(org, isRead, after);
      SealFault fault = report.fault();
      if (fault != null) {
        found.add(fault.batch() + " " + fault.rowId() + " " + fault.what().label());
      }
      after = report.next();
    }
    return found;
  }
}
