package dev.bourse.app;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.ReplicaPair;
import dev.bourse.testing.Slow;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A stuck process loses the market to another process on the same database. The simulation covers
 * the other rules of leases, crashes and races, and {@link ReplicasTest} two services on
 * PostgreSQL.
 */
@OneEngine("only PostgreSQL is shared by several processes")
class ReplicaProcessesTest {
  /** Long enough that a busy machine renews it in time; the second asks three times as often. */
  private static final int LEASE_MILLIS = 8_000;

  /** The time for all requests of a load together. */
  private static final int LOAD_MINUTES = 5;

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);
  private final ExecutorService writers = Executors.newCachedThreadPool();

  @AfterEach
  void endWriters() {
    writers.shutdownNow();
  }

  /**
   * Makes the database record grants with their epoch, and count refused ones: a sequence is not
   * rolled back with a refused commit. The first number is drawn at the start, because a new
   * sequence has the same value before and after it.
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

  // A holder that hears of its loss before its lease expires gives up without a commit that could
  // be refused.
  @Test
  @Slow("starts two JVMs and waits until a lease expires")
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
            "the first reads the writes made while it was frozen",
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

  /** Sessions with grants in an epoch that still exist. */
  private static final String SESSIONS =
      "SELECT COUNT(DISTINCT pid) FROM grant_log JOIN pg_stat_activity ON pid = backend"
          + " WHERE epoch = ";

  private static long grants(ReplicaPair replicas, long epoch) {
    return replicas.number("SELECT COUNT(*) FROM grant_log WHERE epoch = " + epoch);
  }

  /** Declares different sizes based on the current version. */
  private Future<?> load(ClusterClient client, BooleanSupplier goesOn) {
    Random choices = new Random(random.nextLong());
    return writers.submit(
        () -> {
          while (goesOn.getAsBoolean()) {
            HttpAnswer answer =
                client.put(client.order(choices.nextInt(7), 2 + choices.nextInt(8)));
            if (answer.status() == ErrorCode.OVERLOADED.status()) {
              // A process suspended during a commit blocks the others.
              answer.refused(ErrorCode.OVERLOADED);
            } else if (answer.status() != 200) {
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
