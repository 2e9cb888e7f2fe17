package dev.bourse.audit;

import dev.bourse.core.Page;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import dev.bourse.store.postgres.PostgresConfig;
import dev.bourse.store.postgres.PostgresDatabase;
import dev.bourse.store.postgres.PostgresUrl;
import dev.bourse.store.sqlite.SqliteConfig;
import dev.bourse.store.sqlite.SqliteDatabase;
import dev.bourse.testing.PostgresServer;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * What a page of a long trail costs at its head, in its middle and at its tail, and what sealing
 * and verifying cost. One organization has four rows of five, half of them reads; the others' lie
 * between, and the tokens are scattered. The indexes are made when the rows are there.
 *
 * <p>Arguments: {@code sqlite} or {@code postgres}, the rows of the trail, and an empty folder. For
 * each kind of page it prints {@code page ENGINE KIND HEAD MIDDLE TAIL}, medians in microseconds.
 */
public final class TrailBench {
  private static final int PAGE = 100;
  private static final int ROUNDS = 300;
  private static final int WARM_UP = 100;
  private static final long ROWS_PER_FILL = 500_000;
  private static final long MAX_SEALED = 1_000_000;

  /** Pages begin somewhere in so many rows about their place, so that not all is in a cache. */
  private static final int SPREAD = 20_000;

  private final String engine;
  private final Database database;
  private final TrailStore trails;
  private final Vertx vertx;
  private final long allRows;
  private final Random random = new Random(1);

  private TrailBench(String engine, Vertx vertx, Database database, long trailRows) {
    this.engine = engine;
    this.vertx = vertx;
    this.database = database;
    this.trails = new TrailStore(database);
    this.allRows = trailRows * 5 / 4;
  }

  public static void main(String[] args) throws Exception {
    Vertx vertx = Vertx.vertx();
    long rows = Long.parseLong(args[1]);
    Path folder = Path.of(args[2]);
    if (args[0].equals("sqlite")) {
      measure(
          new TrailBench(
              args[0],
              vertx,
              await(
                  SqliteDatabase.open(
                      vertx,
                      folder.resolve("bourse.db"),
                      SqliteConfig.defaults(),
                      "db/schema",
                      Clock.systemUTC())),
              rows));
    } else {
      // Filling need not survive a crash; the rest only reads, but for the seals.
      try (PostgresServer server =
          PostgresServer.start(
              folder.resolve("pg"),
              Map.of(
                  "fsync", "off",
                  "max_wal_size", "4GB",
                  "shared_buffers", "256MB",
                  "maintenance_work_mem", "512MB"))) {
        PostgresConfig config =
            new PostgresConfig(
                PostgresUrl.parse(server.newDatabase()),
                "",
                4,
                65_536,
                4_096,
                5_000,
                5_000,
                600_000);
        measure(
            new TrailBench(
                args[0],
                vertx,
                await(
                    PostgresDatabase.open(
                        vertx, config, "db/schema", Clock.systemUTC(), new Random())),
                rows));
      }
    }
    await(vertx.close());
  }

  private static void measure(TrailBench bench) throws Exception {
    bench.fill();
    bench.pages(false);
    bench.pages(true);
    bench.sealing();
    await(bench.database.close());
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(30, TimeUnit.MINUTES);
  }

  private void run(String sql) throws Exception {
    await(database.commit(List.of(Statement.of(sql))));
  }

  private void fill() throws Exception {
    long begin = System.nanoTime();
    run("INSERT INTO org (org_id, display, kind, created_at) VALUES ('big', 'Big', 'standard', 0)");
    run("DROP INDEX audit_of_org");
    run("DROP INDEX audit_of_actor");
    for (long from = 1; from <= allRows; from += ROWS_PER_FILL) {
      long to = Math.min(allRows, from + ROWS_PER_FILL - 1);
      run(
          (engine.equals("sqlite")
                      ? "WITH RECURSIVE n (i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i <"
                          + " %d)"
                      : "WITH n (i) AS (SELECT generate_series(%d, %d::bigint))")
                  .formatted(from, to)
              + " INSERT INTO audit (id, ts, org_id, actor, action, subject, detail, is_read)"
              + " SELECT i, 1700000000000 + i,"
              + " CASE WHEN i % 5 = 0 THEN 'org-' || (i / 5 % 500) ELSE 'big' END,"
              + " 'token:4fQz81Lm' || (i * 2654435761 % 5000),"
              + " CASE WHEN i / 5 % 2 = 0 THEN 'vm_capacity_put' ELSE 'vm_capacity_get' END,"
              + " 'cluster-training-main-' || (i % 7), 'max_gpus=64 price=2.50 version=' || i,"
              + " i / 5 % 2 FROM n");
    }
    run("CREATE INDEX audit_of_org ON audit (org_id, is_read, id)");
    run("CREATE INDEX audit_of_actor ON audit (actor, is_read, id)");
    if (!engine.equals("sqlite")) {
      run("ANALYZE audit");
    }
    System.err.printf(
        "%s: %d rows in %d s%n",
        engine, allRows, TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begin));
  }

  private void pages(boolean reads) throws Exception {
    Map<String, Long> places = new LinkedHashMap<>();
    places.put("head", allRows + 1);
    places.put("middle", allRows / 2);
    places.put("tail", SPREAD + 5L * PAGE);
    Map<String, long[]> nanos = new LinkedHashMap<>();
    places.keySet().forEach(place -> nanos.put(place, new long[ROUNDS]));
    for (int i = -WARM_UP; i < ROUNDS; i++) {
      for (Map.Entry<String, Long> place : places.entrySet()) {
        long before = place.getValue() - random.nextInt(SPREAD);
        long begin = System.nanoTime();
        Page<TrailEntry> page =
            await(trails.listEntries("big", Optional.empty(), reads, before, PAGE));
        long took = System.nanoTime() - begin;
        if (!page.more()) {
          throw new IllegalStateException(page.items().size() + " rows before " + before);
        }
        if (i >= 0) {
          nanos.get(place.getKey())[i] = took;
        }
      }
    }
    StringBuilder line = new StringBuilder("page " + engine + (reads ? " all" : " writes"));
    nanos.forEach((place, all) -> line.append(' ').append(median(all) / 1_000));
    System.out.println(line);
  }

  private static long median(long[] values) {
    long[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  /** Seals the last rows and verifies them, without the pauses the service makes. */
  private void sealing() throws Exception {
    long from = Math.max(0, allRows - MAX_SEALED);
    run("DELETE FROM audit_sealed");
    run("INSERT INTO audit_sealed (name, through_id) VALUES ('trail', " + from + ")");
    Sealer sealer = new Sealer(vertx, database, Clock.systemUTC());
    long begin = System.nanoTime();
    while (await(sealer.step())) {
      Thread.onSpinWait();
    }
    System.out.printf("seal %s %.0f%n", engine, (allRows - from) / seconds(begin));
    long verified = 0;
    // The rows before the first batch were skipped by hand, and would be found to lack a seal.
    Long after = 1L;
    begin = System.nanoTime();
    SealService service = new SealService(vertx, database);
    while (after != null) {
      SealService.Report report = await(service.verifySeals(new Chain("big", false), after));
      if (report.fault() != null) {
        throw new IllegalStateException(report.toString());
      }
      verified += report.rows();
      after = report.next();
    }
    System.out.printf("verify %s %.0f%n", engine, verified / seconds(begin));
  }

  private static double seconds(long begin) {
    return (System.nanoTime() - begin) / 1e9;
  }
}
