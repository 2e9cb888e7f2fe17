package dev.bourse.app;

import dev.bourse.access.MemberTokens;
import dev.bourse.capacity.ClusterOwners;
import dev.bourse.capacity.Clusters;
import dev.bourse.edge.EdgeMetrics;
import dev.bourse.store.Database;
import dev.bourse.store.StoreConfig;
import dev.bourse.store.Timekeeper;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** One running service: its parts in the order of their start, and stopped in reverse. */
final class Bourse {
  private final Stops stops = new Stops();
  private final KeysFiles files;
  private final StoreOpening store;
  private final Ground ground;
  private final UnaryOperator<Database> around;
  private final Replication replication;
  private @Nullable Database database;
  private @Nullable Features features;
  private @Nullable Serving serving;

  Bourse(Vertx vertx, Config config, boolean demo) {
    this(
        vertx,
        config,
        demo,
        StoreConfig.defaults(),
        new Timekeeper(Clock.systemUTC(), System::nanoTime, config.confirmAfterMillis()),
        UnaryOperator.identity());
  }

  /**
   * @param bounds those of the embedded store
   * @param time the time; it is not started
   * @param around what the features are given in the store's place
   */
  Bourse(
      Vertx vertx,
      Config config,
      boolean demo,
      StoreConfig bounds,
      Timekeeper time,
      UnaryOperator<Database> around) {
    this.around = around;
    ground =
        new Ground(
            vertx, config, demo, time.clock(), time, new SecureRandom(), stops, new EdgeMetrics());
    replication = new Replication(vertx);
    files = new KeysFiles(config, demo);
    store = new StoreOpening(ground, bounds, files);
  }

  /** Starts everything; the service answers when this succeeds. */
  Future<Void> start() {
    Serving door = new Serving(ground, files);
    serving = door;
    return door.managed()
        .compose(managed -> store.open(replication))
        .compose(
            opened -> {
              database = opened;
              StoreWatch watch =
                  new StoreWatch(
                      ground.vertx(),
                      opened,
                      ground.config().storeWatch(),
                      System::nanoTime,
                      ground.random());
              watch.start();
              ground.stops().push(watch::stop);
              // Once other processes write too, what this one knows ages.
              Features inside =
                  new Features(
                      ground,
                      around.apply(new ToldDatabase(opened, replication::changedHere)),
                      door::baseUrl,
                      opened.isShared() ? replication::knownAsOfNanos : System::nanoTime);
              features = inside;
              door.dependOn(watch::fault);
              return inside
                  .start(replication, files)
                  .compose(
                      started ->
                          door.start(
                              inside.operations(),
                              inside.authenticator(),
                              inside::reachedBy,
                              () -> inside.noteMemberTokens(files)));
            });
  }

  /** Stops taking requests, finishes those under way, writes what is in memory, closes. */
  Future<Void> stop() {
    return stops.stopAll();
  }

  /** Where health and metrics are served; once started. */
  int managementPort() {
    return Objects.requireNonNull(serving, "not started").managementPort();
  }

  /** How much longer a stop takes for those who have to learn of it first. */
  long drainMillis() {
    return ground.config().drainMillis();
  }

  /** What clients call the service; once started. */
  String baseUrl() {
    return Objects.requireNonNull(serving, "not started").baseUrl();
  }

  /** The store; once started. */
  Database database() {
    return Objects.requireNonNull(database, "not started");
  }

  /** Keeps what is in memory in step with the store, and knows how old it is. */
  Replication replication() {
    return replication;
  }

  /** What is counted, as {@code /metrics} tells it. */
  EdgeMetrics metrics() {
    return ground.metrics();
  }

  /** Issues members' tokens; once started. */
  MemberTokens memberTokens() {
    return Objects.requireNonNull(features, "not started").memberTokens();
  }

  /** What the event loops read; once started. */
  Clusters clusters() {
    return Objects.requireNonNull(features, "not started").clusters();
  }

  /** The way to the clusters' owners; once started. */
  ClusterOwners owners() {
    return Objects.requireNonNull(features, "not started").owners();
  }
}
