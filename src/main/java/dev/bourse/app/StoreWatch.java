package dev.bourse.app;

import dev.bourse.core.Ids;
import dev.bourse.jobs.BackgroundJob;
import dev.bourse.signals.Label;
import dev.bourse.signals.Signals;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreUnavailableException;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * Probes whether the store can be read and written, by a job for each. Runs of a job do not
 * overlap, so that probes do not queue up at a store that does not answer.
 */
final class StoreWatch {
  private static final String READ = "SELECT COUNT(*) AS found FROM probe";
  private static final String PUT = "INSERT INTO probe (probe_id, filler) VALUES (?, ?)";
  private static final String TAKE = "DELETE FROM probe WHERE probe_id = ?";

  /** A page or two of the embedded store: an update in place would succeed on a full disk. */
  private static final int FILLER_LENGTH = 8_192;

  private static final int ID_LENGTH = 12;

  /** A kind of access to the store, with its latest state. */
  private final class Access {
    private final Supplier<Future<?>> probe;
    private final String name;
    private volatile long lastNanos = nanos.getAsLong();
    private volatile String fault = "it does not answer";

    private Access(String name, Supplier<Future<?>> probe) {
      this.name = name;
      this.probe = probe;
    }

    private Future<Boolean> look() {
      // Success counts from the start of the probe, because the state may have changed before the
      // answer.
      long asked = nanos.getAsLong();
      return probe
          .get()
          .onComplete(
              done -> {
                if (done.succeeded()) {
                  lastNanos = asked;
                  fault = "it does not answer";
                } else {
                  fault =
                      done.cause() instanceof StoreUnavailableException unavailable
                              && unavailable.isFull()
                          ? "it has no room left"
                          : String.valueOf(done.cause().getMessage());
                }
              })
          .map(false);
    }

    private boolean isOlderThan(long millis) {
      return nanos.getAsLong() - lastNanos > TimeUnit.MILLISECONDS.toNanos(millis);
    }
  }

  private final StoreWatchConfig config;
  private final LongSupplier nanos;
  private final Access reading;
  private final Access writing;

  StoreWatch(
      Database database, StoreWatchConfig config, LongSupplier nanos, RandomGenerator random) {
    this.config = config;
    this.nanos = nanos;
    String id = Ids.base62(random, ID_LENGTH);
    reading = new Access("read", () -> database.read(READ, List.of(), row -> row.integer("found")));
    writing =
        new Access(
            "written",
            () ->
                database.commit(
                    List.of(
                        Statement.of(PUT, id, "x".repeat(FILLER_LENGTH)), Statement.of(TAKE, id))));
  }

  /** The jobs of the probes, one for each kind: a write that hangs must not hide working reads. */
  List<BackgroundJob> jobs() {
    return List.of(
        BackgroundJob.inEachProcess(
            "probe-store-reads",
            "probing whether the store can be read",
            config.probeMillis(),
            reading::look),
        BackgroundJob.inEachProcess(
            "probe-store-writes",
            "probing whether the store can be written",
            config.probeMillis(),
            writing::look));
  }

  /** Registers metrics of the probes. */
  void registerMetrics(Signals signals) {
    signals.gauges(
        "bourse_store_answered_age_seconds",
        """
        How long ago a look at the store was begun that succeeded, by what the store did: it was \
        `read` or `written`.\
        """,
        List.of(Label.KIND),
        ages -> {
          for (Access way : List.of(reading, writing)) {
            ages.put((nanos.getAsLong() - way.lastNanos) / 1e9, way.name);
          }
        });
  }

  /** The reason why this process should get no requests; empty while its store works. */
  Optional<String> fault() {
    for (Access way : List.of(reading, writing)) {
      if (way.isOlderThan(config.awayMillis())) {
        return Optional.of("the store cannot be " + way.name + ": " + way.fault);
      }
    }
    return Optional.empty();
  }
}
