package dev.bourse.capacity;

import static dev.bourse.capacity.Sample.T0;
import static dev.bourse.capacity.Sample.TERMS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Times;
import dev.bourse.pools.Switches;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** A cluster's owner ends a declaration that is due before it carries out a command. */
class LapsingOwnerTest extends ExchangeFixture {
  private static final long UNTIL = T0 + 3_600_000;

  @Override
  protected ClusterOwners.Clocks clocks() {
    return new ClusterOwners.Clocks(clock, clock);
  }

  private static Command declaring(int gpus, long version, JsonObject conditions) {
    return declaring(gpus, version, conditions, TERMS);
  }

  private static Command declaring(int gpus, long version, JsonObject conditions, Terms terms) {
    return (cluster, now) ->
        Capacity.declare(cluster, Sample.order(gpus, "2", version, conditions), terms, now);
  }

  private static JsonObject until(long millis) {
    return new JsonObject().put("until", Times.rfc3339(millis));
  }

  /** Declares two active nodes until UNTIL. */
  private void hold() throws Exception {
    adopt(Sample.active(2));
    clock.advance(120_000);
    submit(declaring(16, 1, until(UNTIL)));
  }

  /** A declaration is never earlier than the one before, because bills use the times. */
  @Test
  void aDeclarationOfAClockThatIsBehindIsMadeNoEarlierThanTheOneBefore() throws Exception {
    adopt(Sample.active(2));
    clock.advance(120_000);
    declare(16, 1);
    long ahead = clock.millis();
    clock.advance(-20_000);
    declare(8, 2);
    assertEquals(ahead, Sample.declaration(cluster()).updatedAtMillis());
    clock.advance(1_000);
    declare(0, 3);
    assertEquals(
        List.of(ahead, ahead, ahead),
        integers("SELECT ts FROM activity WHERE kind = 'request' ORDER BY id"));
    clock.advance(20_000);
    declare(8, 4);
    assertEquals(ahead + 1_000, Sample.declaration(cluster()).updatedAtMillis());

    // A time further ahead was wrong from the start.
    clock.advance(-3_600_000);
    declare(16, 5);
    assertEquals(clock.millis(), Sample.declaration(cluster()).updatedAtMillis());
  }

  /** As often as one likes. */
  private void declare(int gpus, long version) throws Exception {
    Terms terms = Sample.terms(Sample.POOL, null, true, true, 0);
    submit(declaring(gpus, version, new JsonObject(), terms));
  }

  @Test
  void whoRenewsTooLateIsRefusedAndFindsItLapsed() throws Exception {
    hold();
    clock.advance(UNTIL + 1 - clock.millis());

    ApiException refusal =
        fails(ApiException.class, owners.submit("c1", declaring(16, 2, until(UNTIL + 3_600_000))));

    assertEquals(ErrorCode.VERSION_MISMATCH, refusal.code());
    assertEquals(3, cluster().version());
    assertEquals(0, Sample.declaration(cluster()).maxGpus());
    assertNull(Sample.declaration(cluster()).untilMillis());
    assertEquals(List.of(UNTIL, UNTIL), integers("SELECT reclaim_at FROM allocation"));
    assertEquals(
        List.of("SCALE_DOWN", "SCALE_DOWN"), texts("SELECT reclaim_reason FROM allocation"));
    assertEquals(
        List.of("lapsed"),
        texts("SELECT reason FROM activity WHERE kind = 'request' AND max_gpus = 0"));
    assertEquals(16, Sample.declaration(submit(declaring(16, 3, new JsonObject()))).maxGpus());
  }

  @Test
  void whoKnowsOfTheEndAndWritesUponWhatIsLeftIsAccepted() throws Exception {
    hold();
    clock.advance(UNTIL + 1 - clock.millis());

    Cluster after = submit(declaring(8, 3, new JsonObject()));

    assertEquals(4, after.version());
    assertEquals(8, Sample.declaration(after).maxGpus());
    assertEquals(List.of(), after.releaseOrder(), "all nodes are reclaimed");
  }

  @Test
  void whileNothingVouchesForTheTimeNothingEnds() throws Exception {
    hold();
    clock.confirm(false);
    clock.advance(UNTIL + 1 - clock.millis());

    assertEquals(2, submit(Lapse.due()).version());
    assertEquals(2, cluster().releaseOrder().size());
    clock.confirm(true);
    assertEquals(3, submit(Lapse.due()).version());
    assertEquals(List.of(), cluster().releaseOrder());
  }

  @Test
  void whatIsStoredIsWhatIsShown() throws Exception {
    hold();
    clock.advance(UNTIL + 1 - clock.millis());
    Cluster shown = submit(Lapse.due());

    Clusters read = new Clusters(new Switches(true, false, false), clock);
    read.put(Sample.POOL);
    await(
        ClusterOwners.deploy(vertx, read, new CapacityStore(database, new Random(1)), clocks(), 2));
    assertEquals(shown, read.find("c1").orElseThrow().cluster());
  }
}
