package dev.bourse.audit;

import dev.bourse.core.Ids;
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
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * What a recorded read costs: bytes on the disk with all indexes and time of the writer, as entries
 * of segments and as rows, of one hot token and of 5,000 scattered ones; and what a page of a trail
 * costs at its head, in its middle and at its tail.
 *
 * <p>Arguments: {@code sqlite} or {@code postgres}, how many reads the trail has, and an empty
 * folder. Prints {@code cost ENGINE TOKENS FORM BYTES MICROS} and {@code page ENGINE KIND HEAD
 * MIDDLE TAIL}, medians in microseconds. Of SQLite the time is the writer thread's on a processor;
 * of PostgreSQL it is what passes from one commit to the next.
 */
public final class ReadsBench {
  /** Reads of each kind and form. */
  private static final int MEASURED = 1 << 18;

  /** As a flush makes commits of them. */
  private static final int PER_COMMIT = 1_024;

  private static final int PAGE = 100;
  private static final int ROUNDS = 300;
  private static final int WARM_UP = 100;
  private static final int TOKENS = 5_000;

  /** Pages begin somewhere in so many ids about their place, so that not all is in a cache. */
  private static final int SPREAD = 20_000;

  private final String engine;
  private final Database database;
  private final AuditStore store;
  private final TrailStore trails;
  private final Random random = new Random(1);
  private final List<String> tokens = new ArrayList<>();
  private List<String> settled = List.of();
  private long millis = 1_700_000_000_000L;

  private ReadsBench(String engine, Database database) {
    this.engine = engine;
    this.database = database;
    this.store = new AuditStore(database);
    this.trails = new TrailStore(database);
    for (int i = 0; i < TOKENS; i++) {
      tokens.add("token:" + Ids.base62(random, 12));
    }
  }

  public static void main(String[] args) throws Exception {
    Vertx vertx = Vertx.vertx();
    try {
      measure(vertx, args[0], Long.parseLong(args[1]), Path.of(args[2]));
    } finally {
      await(vertx.close());
    }
  }

  private static void measure(Vertx vertx, String engine, long reads, Path folder)
      throws Exception {
    if (engine.equals("sqlite")) {
      measure(
          engine,
          await(
              SqliteDatabase.open(
                  vertx,
                  folder.resolve("bourse.db"),
                  SqliteConfig.defaults(),
                  "db/schema",
                  Clock.systemUTC())),
          reads);
    } else {
      // The disk of this machine is no matter of the reads.
      try (PostgresServer server =
          PostgresServer.start(
              folder.resolve("pg"), Map.of("fsync", "off", "max_wal_size", "4GB"))) {
        measure(
            engine,
            await(
                PostgresDatabase.open(
                    vertx,
                    PostgresConfig.defaults(PostgresUrl.parse(server.newDatabase()), ""),
                    "db/schema",
                    Clock.systemUTC(),
                    new Random())),
            reads);
      }
    }
  }

  private static void measure(String engine, Database database, long reads) throws Exception {
    ReadsBench bench = new ReadsBench(engine, database);
    bench.run("INSERT INTO org (org_id, display, kind, created_at) VALUES ('big', 'x', 'y', 0)");
    for (int tokens : new int[] {1, TOKENS}) {
      bench.cost(tokens, true);
      bench.cost(tokens, false);
    }
    // Rows that a server has deleted and not yet swept away would be paid for by the pages.
    String empty = engine.equals("sqlite") ? "DELETE FROM " : "TRUNCATE ";
    bench.run(empty + "audit");
    bench.run(empty + "audit_read_segment");
    long last = bench.fill(reads);
    bench.pages("all", Optional.empty(), last);
    bench.pages("one", Optional.of(bench.tokens.get(7)), last);
    await(database.close());
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(30, TimeUnit.MINUTES);
  }

  private void run(String sql) throws Exception {
    await(database.commit(List.of(Statement.of(sql))));
  }

  private long number(String sql) throws Exception {
    return await(database.readOne(sql, List.of(), row -> row.integer("n")));
  }

  private List<AuditRow> reads(String org, int tokensRead, int count) {
    List<AuditRow> rows = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      millis += i % 10 == 0 ? 1 : 0;
      rows.add(
          new AuditRow(
              millis,
              org,
              tokens.get(random.nextInt(tokensRead)),
              "vm_capacity_get",
              "cluster-training-main-" + random.nextInt(tokensRead == 1 ? 1 : 7),
              ""));
    }
    return rows;
  }

  private Future<Void> flush(List<AuditRow> rows) {
    String batch = Ids.next("arb", random);
    List<String> known = settled;
    settled = List.of(batch);
    return store.insertReads(batch, store.encoded(rows), known, millis);
  }

  private void cost(int tokensRead, boolean isSegment) throws Exception {
    long bytes = bytes();
    long nanos = 0;
    for (int i = 0; i < 2 * MEASURED; i += PER_COMMIT) {
      List<AuditRow> rows = reads("big", tokensRead, PER_COMMIT);
      long begin = writerNanos();
      await(
          isSegment
              ? flush(rows)
              : database.commit(rows.stream().map(AuditStore::insert).toList()));
      // The first half warms up.
      nanos += i < MEASURED ? 0 : writerNanos() - begin;
    }
    System.out.printf(
        "cost %s %s %s %.1f %.2f%n",
        engine,
        tokensRead == 1 ? "hot" : "scattered",
        isSegment ? "segments" : "rows",
        (bytes() - bytes) / (2.0 * MEASURED),
        nanos / 1e3 / MEASURED);
  }

  private long bytes() throws Exception {
    return number(
        engine.equals("sqlite")
            ? "SELECT page_count * page_size AS n FROM pragma_page_count(), pragma_page_size()"
            : "SELECT pg_total_relation_size('audit')"
                + " + pg_total_relation_size('audit_read_segment') AS n");
  }

  private long writerNanos() {
    if (!engine.equals("sqlite")) {
      return System.nanoTime();
    }
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    for (long id : threads.getAllThreadIds()) {
      if (threads.getThreadInfo(id).getThreadName().equals("store-writer")) {
        return threads.getThreadCpuTime(id);
      }
    }
    throw new IllegalStateException("there is no writer");
  }

  /** A trail with a fifth as many reads of others between; the greatest id. */
  private long fill(long reads) throws Exception {
    long begin = System.nanoTime();
    for (long i = 0; i < reads; i += PER_COMMIT) {
      List<AuditRow> rows = reads("big", TOKENS, PER_COMMIT);
      rows.addAll(reads("org-" + random.nextInt(500), 10, PER_COMMIT / 5));
      await(flush(rows));
    }
    if (!engine.equals("sqlite")) {
      run("ANALYZE");
    }
    System.err.printf(
        "%s: %d reads in %d s%n",
        engine, reads, TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begin));
    return number("SELECT MAX(id) AS n FROM audit");
  }

  private void pages(String kind, Optional<String> actor, long last) throws Exception {
    // The sequence of a server goes on from what was measured before.
    long first = number("SELECT MIN(first_id) AS n FROM audit_read_segment");
    long[] places = {last, (first + last) / 2, first + (last - first) / 10};
    long[][] nanos = new long[places.length][ROUNDS];
    for (int i = -WARM_UP; i < ROUNDS; i++) {
      for (int place = 0; place < places.length; place++) {
        long before = places[place] - random.nextInt(SPREAD);
        long begin = System.nanoTime();
        Page<TrailEntry> page = await(trails.listEntries("big", actor, true, before, PAGE));
        if (i >= 0) {
          nanos[place][i] = System.nanoTime() - begin;
        }
        if (actor.isEmpty() && page.items().size() < PAGE) {
          throw new IllegalStateException(page.items().size() + " reads before " + before);
        }
      }
    }
    StringBuilder line = new StringBuilder("page " + engine + ' ' + kind);
    for (long[] each : nanos) {
      Arrays.sort(each);
      line.append(' ').append(each[ROUNDS / 2] / 1_000);
    }
    System.out.println(line);
  }
}
