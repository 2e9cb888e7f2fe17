package dev.bourse.app;

import dev.bourse.core.Ids;
import dev.bourse.signals.Label;
import dev.bourse.signals.Signals;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreUnavailable;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * Looks at the store now and then: whether it answers, and whether it takes what is written. One
 * look of each kind is under way at a time, so that a store that does not answer has no queue of
 * them.
 */
final class StoreWatch {
  private static final String READ = "SELECT COUNT(*) AS found FROM probe";
  private static final String PUT = "INSERT INTO probe (probe_id, filler) VALUES (?, ?)";
  private static final String TAKE = "DELETE FROM probe WHERE probe_id = ?";

  /** A page of the embedded store or two: a change in place would need no room on a full disk. */
  private static final int FILLER_LENGTH = 8_192;

  private static final int ID_LENGTH = 12;

  /** A way to the store that may work or not. */
  private final class Way {
    private final Supplier<Future<?>> probe;
    private final String name;
    private volatile long lastNanos = nanos.getAsLong();
    private volatile String fault = "it does not answer";
    private volatile boolean underWay;

    private Way(String name, Supplier<Future<?>> probe) {
      this.name = name;
      this.probe = probe;
    }

    private void look() {
      if (underWay) {
        return;
      }
      underWay = true;
      // What was true when it was asked need not be when the answer comes.
      long asked = nanos.getAsLong();
      probe
          .get()
          .onComplete(
              done -> {
                if (done.succeeded()) {
                  lastNanos = asked;
                  fault = "it does not answer";
                } else {
                  fault =
                      done.cause() instanceof StoreUnavailable unavailable && unavailable.isFull()
                          ? "it has no room left"
                          : String.valueOf(done.cause().getMessage());
                }
                underWay = false;
              });
    }

    private boolean isOlderThan(long millis) {
      return nanos.getAsLong() - lastNanos > TimeUnit.MILLISECONDS.toNanos(millis);
    }
  }

  private final Vertx vertx;
  private final StoreWatchConfig config;
  private final LongSupplier nanos;
  private final Way reading;
  private final Way writing;
  private long timer = -1;

  StoreWatch(
      Vertx vertx,
      Database database,
      StoreWatchConfig config,
      LongSupplier nanos,
      RandomGenerator random) {
    this.vertx = vertx;
    this.config = config;
    this.nanos = nanos;
    String id = Ids.base62(random, ID_LENGTH);
    reading = new Way("read", () -> database.read(READ, List.of(), row -> row.integer("found")));
    writing =
        new Way(
            "written",
            () ->
                database.commit(
                    List.of(
                        Statement.of(PUT, id, "x".repeat(FILLER_LENGTH)), Statement.of(TAKE, id))));
  }

  void start() {
    timer =
        vertx.setPeriodic(
            config.probeMillis(),
            tick -> {
              reading.look();
              writing.look();
            });
  }

  /** Shows how long ago the store last answered. */
  void show(Signals signals) {
    signals.gauges(
        "bourse_store_answered_age_seconds",
        """
        How long ago a look at the store was begun that succeeded, by what the store did: it was \
        `read` or `written`.\
        """,
        List.of(Label.KIND),
        ages -> {
          for (Way way : List.of(reading, writing)) {
            ages.put((nanos.getAsLong() - way.lastNanos) / 1e9, way.name);
          }
        });
  }

  Future<Void> stop() {
    vertx.cancelTimer(timer);
    return Future.succeededFuture();
  }

  /** Why nothing should be asked of this process; empty while its store is there. */
  Optional<String> fault() {
    for (Way way : List.of(reading, writing)) {
      if (way.isOlderThan(config.awayMillis())) {
        return Optional.of("the store cannot be " + way.name + ": " + way.fault);
      }
    }
    return Optional.empty();
  }
}
