package dev.bourse.app;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ChildBourse;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.ReplicaPair;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Two processes on one database are one service, also while one of them hangs or dies. */
@OneEngine("only PostgreSQL is shared by several processes")
class ReplicaProcessesTest {
  /** Long enough that a busy machine renews it in time. */
  private static final int LEASE_MILLIS = 4_000;

  /** For all requests of a load together. */
  private static final int LOAD_MINUTES = 5;

  /** What a busy machine may add to any promised time. */
  private static final int SLACK_MILLIS = 20_000;

  /** Writes to each cluster in a race, and nodes that change hands meanwhile. */
  private static final int WRITES = 60;

  private static final int CHANGES = 30;
  private static final String GONE = "SELECT COUNT(*) FROM allocation WHERE gone_at IS NOT NULL";

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);
  private final ExecutorService writers = Executors.newCachedThreadPool();

  /** Versions of accepted writes, by cluster. */
  private final Map<String, Set<Long>> accepted = new ConcurrentHashMap<>();

  @AfterEach
  void endWriters() {
    writers.shutdownNow();
  }

  @Test
  void writersThatRaceThroughBothLoseNoWriteAndNoNodeIsGrantedTwice() throws Exception {
    try (ReplicaPair replicas = new ReplicaPair()) {
      replicas.addKeys();
      Map<String, Long> before = versions(replicas);
      List<Future<?>> loads = new ArrayList<>();
      for (String cluster : ReplicaPair.CLUSTERS.keySet()) {
        for (ChildBourse child : replicas.both()) {
          loads.add(
              load(
                  replicas.client(child, cluster),
                  () -> accepted(cluster).size() < WRITES || replicas.number(GONE) < CHANGES));
        }
      }
      finish(loads);
      for (String cluster : ReplicaPair.CLUSTERS.keySet()) {
        long version = before.getOrDefault(cluster, 0L) + accepted(cluster).size();
        assertEquals(
            version,
            replicas.number(
                "SELECT COUNT(*) FROM audit WHERE action = 'vm_capacity_put' AND subject = '"
                    + cluster
                    + "'"),
            "rows of " + cluster + ", seed " + seed);
        assertEquals(
            version, replicas.number("SELECT version FROM cluster WHERE name = '" + cluster + "'"));
        for (ChildBourse child : replicas.both()) {
          until("both read it", () -> replicas.client(child, cluster).version() == version);
        }
      }
      replicas.assertNoNodeWasHeldTwice();
    }
  }

  @Test
  void acceptedWritesOfOneClusterKeepTheirDistanceWhicheverProcessTakesThem() throws Exception {
    int cadenceMillis = 300;
    try (ReplicaPair replicas = new ReplicaPair("capacity.write-cadence=" + cadenceMillis + "ms")) {
      AtomicInteger throttled = new AtomicInteger();
      AtomicInteger taken = new AtomicInteger();
      List<Future<?>> loads = new ArrayList<>();
      for (ChildBourse child : replicas.both()) {
        ClusterClient client = replicas.client(child, "acme-train");
        loads.add(
            writers.submit(
                () -> {
                  while (taken.get() < 12 || throttled.get() == 0) {
                    HttpAnswer answer =
                        client.put(client.order(0, (200 + random.nextInt(100)) / 100.0));
                    if (answer.status() == 200) {
                      taken.incrementAndGet();
                    } else if (answer.status() == 429) {
                      answer.refused(ErrorCode.RATE_LIMITED);
                      throttled.incrementAndGet();
                    } else {
                      answer.refused(ErrorCode.VERSION_MISMATCH);
                    }
                  }
                }));
      }
      finish(loads);
      List<Long> gaps =
          replicas.numbers(
              "SELECT ts - LAG(ts) OVER (ORDER BY id) FROM audit"
                  + " WHERE action = 'vm_capacity_put' ORDER BY id OFFSET 1");
      assertEquals(taken.get() - 1, gaps.size());
      assertTrue(gaps.stream().allMatch(gap -> gap >= cadenceMillis), "gaps " + gaps);
    }
  }

  @Test
  void upkeepIsDividedAmongTheProcessesThatAreThere() throws Exception {
    String there = "SELECT COUNT(*) FROM upkeep_process";
    try (ReplicaPair replicas = new ReplicaPair("billing.check-interval=200ms")) {
      until("both are there", () -> replicas.number(there) == 2);
      replicas.first().freeze();
      until("the one that hangs is not there", () -> replicas.number(there) == 1);
      replicas.first().thaw();
      until("it is there again", () -> replicas.number(there) == 2);
      replicas.second().kill();
      until("the one that died is not there", () -> replicas.number(there) == 1);
      replicas.first().terminate();
      assertEquals(0, replicas.number(there), "whoever stops leaves at once");
    }
  }

  @Test
  void whenTheProcessThatRunsTheMarketIsKilledTheOtherClearsOnceTheLeaseIsOver() throws Exception {
    try (ReplicaPair replicas = new ReplicaPair("market.lease=" + LEASE_MILLIS + "ms")) {
      replicas.addKeys();
      ClusterClient client = replicas.client(replicas.second(), "acme-train");
      client.untilHeld(1);
      long epoch = replicas.number("SELECT epoch FROM lease");
      replicas.first().kill();
      long overAt = replicas.number("SELECT expires_at FROM lease");
      client.declare(3, 3);
      client.untilHeld(3);
      assertEquals(epoch + 1, replicas.number("SELECT epoch FROM lease"));
      long late = replicas.number("SELECT MAX(granted_at) FROM allocation") - overAt;
      assertTrue(late >= 0, "granted " + -late + " ms before the lease was over");
      // The lease is asked for three times within its length.
      assertTrue(late <= LEASE_MILLIS / 3 + SLACK_MILLIS, "granted after " + late + " ms");
      replicas.assertNoNodeWasHeldTwice();
    }
  }

  /**
   * Has the database note who grants in which epoch, and count what it turned away for its epoch: a
   * sequence is not rolled back with the commit that was refused. It is drawn from once at the
   * start, as a new sequence tells the same before and after its first number.
   */
  private static final String WATCH =
      """
      CREATE TABLE grant_log (backend INTEGER NOT NULL, epoch BIGINT NOT NULL);
      CREATE FUNCTION log_grant() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO grant_log SELECT pg_backend_pid(), epoch FROM lease;
        RETURN NULL;
      END $$;
      CREATE TRIGGER log_grant AFTER INSERT ON allocation
        FOR EACH ROW EXECUTE FUNCTION log_grant();
      CREATE SEQUENCE fenced;
      SELECT nextval('fenced');
      CREATE FUNCTION count_fenced() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF NOT EXISTS (SELECT 1 FROM touched) THEN
          PERFORM nextval('fenced');
        END IF;
        RETURN NULL;
      END $$;
      CREATE TRIGGER count_fenced AFTER UPDATE ON lease REFERENCING NEW TABLE AS touched
        FOR EACH STATEMENT EXECUTE FUNCTION count_fenced();
      """;

  @Test
  void aFrozenMarketIsTakenOverAndWhenItThawsItsCommitsAreRefusedAndItFollows() throws Exception {
    try (ReplicaPair replicas = new ReplicaPair("market.lease=" + LEASE_MILLIS + "ms")) {
      replicas.addKeys();
      replicas.execute(WATCH);
      AtomicInteger over = new AtomicInteger();
      List<Future<?>> loads = new ArrayList<>();
      for (String cluster : ReplicaPair.CLUSTERS.keySet()) {
        loads.add(load(replicas.client(replicas.second(), cluster), () -> over.get() == 0));
      }
      long epoch = replicas.number("SELECT epoch FROM lease");
      until("the first grants", () -> grants(replicas, epoch) > 5);
      replicas.first().freeze();
      long sessions = replicas.number(SESSIONS + epoch);
      until("the second takes over", () -> replicas.number("SELECT epoch FROM lease") == epoch + 1);
      until("and grants", () -> grants(replicas, epoch + 1) > 5);
      long before = replicas.number("SELECT last_value FROM fenced");

      replicas.first().thaw();

      until(
          "what the first commits for its old epoch is refused, or its session was ended when it"
              + " was frozen in the middle of a commit",
          () ->
              replicas.number("SELECT last_value FROM fenced") > before
                  || replicas.number(SESSIONS + epoch) < sessions);
      long granted = grants(replicas, epoch + 1);
      until("the second goes on", () -> grants(replicas, epoch + 1) > granted + 20);
      over.set(1);
      finish(loads);
      for (String cluster : ReplicaPair.CLUSTERS.keySet()) {
        long version = replicas.client(replicas.second(), cluster).version();
        until(
            "the first reads what was written while it was frozen",
            () -> replicas.client(replicas.first(), cluster).version() == version);
      }
      ClusterClient client = replicas.client(replicas.first(), "acme-train");
      client.declare(2, 9);
      client.untilHeld(2);
      assertEquals(epoch + 1, replicas.number("SELECT epoch FROM lease"), "seed " + seed);
      assertEquals(
          List.of(),
          replicas.numbers(
              "SELECT epoch FROM grant_log GROUP BY epoch HAVING COUNT(DISTINCT backend) > 1"),
          "epochs in which two processes granted");
      replicas.assertNoNodeWasHeldTwice();
    }
  }

  /** Sessions that granted in an epoch and are still there. */
  private static final String SESSIONS =
      "SELECT COUNT(DISTINCT pid) FROM grant_log JOIN pg_stat_activity ON pid = backend"
          + " WHERE epoch = ";

  private static long grants(ReplicaPair replicas, long epoch) {
    return replicas.number("SELECT COUNT(*) FROM grant_log WHERE epoch = " + epoch);
  }

  private Set<Long> accepted(String cluster) {
    return accepted.computeIfAbsent(cluster, c -> ConcurrentHashMap.newKeySet());
  }

  private static Map<String, Long> versions(ReplicaPair replicas) {
    Map<String, Long> versions = new ConcurrentHashMap<>();
    ReplicaPair.CLUSTERS
        .keySet()
        .forEach(c -> versions.put(c, replicas.client(replicas.first(), c).version()));
    return versions;
  }

  /** Declares this and that upon whatever version it reads. */
  private Future<?> load(ClusterClient client, BooleanSupplier goesOn) {
    Random choices = new Random(random.nextLong());
    return writers.submit(
        () -> {
          while (goesOn.getAsBoolean()) {
            HttpAnswer answer =
                client.put(client.order(choices.nextInt(7), 2 + choices.nextInt(8)));
            if (answer.status() == 200) {
              long version = answer.json().getLong("version");
              assertTrue(accepted(client.cluster()).add(version), "twice version " + version);
            } else if (answer.status() == ErrorCode.OVERLOADED.status()) {
              // A process that was frozen in the middle of a commit holds up the others.
              answer.refused(ErrorCode.OVERLOADED);
            } else {
              answer.refused(ErrorCode.VERSION_MISMATCH);
            }
          }
          return null;
        });
  }

  private static void finish(List<Future<?>> loads) throws Exception {
    for (Future<?> load : loads) {
      load.get(LOAD_MINUTES, TimeUnit.MINUTES);
    }
  }
}
