package dev.bourse.faults;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** A machine whose clock is set while the process runs: days ahead, back, and days behind. */
final class Clocks implements Scenario {
  private static final List<Integer> STEPS_DAYS = List.of(3, 0, -3, 0);

  /** Longer than the library and the service together look away from a clock. */
  private static final int STEP_SECONDS = 4;

  private static final int CADENCE_MILLIS = 300;

  /** A cadence, and what a busy machine adds; a clock that is followed would delay it by days. */
  private static final int WRITE_SECONDS = 10;

  private static final List<String> SETTINGS =
      List.of(
          "capacity.write-cadence=" + CADENCE_MILLIS + "ms",
          "billing.check-interval=100ms",
          "billing.settle=1ms");

  @Override
  public String leftOut() throws IOException {
    return LibfaketimeClock.missing();
  }

  private final boolean hasReplicas;

  /**
   * @param hasReplicas whether there are two processes on PostgreSQL, or one on the embedded store
   */
  Clocks(boolean hasReplicas) {
    this.hasReplicas = hasReplicas;
  }

  @Override
  public void run(Run run) throws Exception {
    if (hasReplicas) {
      FaultWorld two = new FaultWorld(run, "clock-postgres");
      run.addReplicas(two, SETTINGS.toArray(String[]::new));
      step(run, two, "the clock of one of two replicas");
    } else {
      FaultWorld one = new FaultWorld(run, "clock-sqlite");
      one.add("only", Stream.concat(SETTINGS.stream(), Stream.of("store.url=sqlite")).toList());
      step(run, one, "the clock of the one process, embedded store,");
    }
  }

  private static void step(Run run, FaultWorld world, String what) throws Exception {
    LibfaketimeClock clock = new LibfaketimeClock(world.folder(), world.process(0));
    world.calm();
    world.start();
    int steps = 0;
    for (int days : STEPS_DAYS) {
      clock.set(TimeUnit.DAYS.toSeconds(days));
      steps++;
      for (int i = 0; i < STEP_SECONDS; i++) {
        world.untilDeclared(
            WRITE_SECONDS, "a declaration within a cadence of a step to " + days + " d", 1);
        LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(1));
        requireNothingBilledAhead(world);
      }
      // A delayed process would see two steps as one.
      int expected = steps;
      FaultWorld.until(
          "the process sees step " + expected + " of its clock",
          WRITE_SECONDS,
          () -> stepsSeen(world) >= expected);
    }
    requireStepsSeen(world);
    run.judge(world, what + " set to " + STEPS_DAYS + " days from now");
  }

  private static void requireNothingBilledAhead(FaultWorld world) {
    Instant now = Instant.now();
    for (Object one :
        world.ask("acme", "GET", "/api/billing/ledger?limit=500").getJsonArray("transactions")) {
      JsonObject posted = (JsonObject) one;
      if (posted.getString("kind").equals("usage")
          && Instant.parse(posted.getString("effective_at")).plusSeconds(3_600).isAfter(now)) {
        throw new ViolatedException("billed for an hour that has not happened: " + posted.encode());
      }
    }
  }

  /** Else nothing would have been tried. */
  private static void requireStepsSeen(FaultWorld world) {
    JsonObject seen = clock(world);
    if (seen.getInteger("steps_ahead") < 2 || seen.getInteger("steps_back") < 2) {
      throw new ViolatedException("the process has not seen its clock being set: " + seen.encode());
    }
  }

  private static int stepsSeen(FaultWorld world) {
    JsonObject seen = clock(world);
    return seen.getInteger("steps_ahead") + seen.getInteger("steps_back");
  }

  private static JsonObject clock(FaultWorld world) {
    return Http.ok(
        String.valueOf(world.process(0).baseUrl()),
        "GET",
        "/api/operator/clock",
        world.operatorToken(),
        null);
  }
}
