package dev.bourse.app;

import dev.bourse.access.MemberTokens;
import dev.bourse.capacity.ClusterOwners;
import dev.bourse.capacity.Clusters;
import dev.bourse.edge.EdgeMetrics;
import dev.bourse.store.Database;
import dev.bourse.store.StoreConfig;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One running service: its parts in the order of their start, and stopped in reverse. */
final class Bourse {
  private final Stops stops = new Stops();
  private final KeysFiles files;
  private final StoreOpening store;
  private final Ground ground;
  private @Nullable Database database;
  private @Nullable Features features;
  private @Nullable Serving serving;

  Bourse(Vertx vertx, Config config, boolean demo) {
    this(vertx, config, demo, StoreConfig.defaults());
  }

  /**
   * @param bounds those of the embedded store
   */
  Bourse(Vertx vertx, Config config, boolean demo, StoreConfig bounds) {
    ground =
        new Ground(
            vertx, config, demo, Clock.systemUTC(), new SecureRandom(), stops, new EdgeMetrics());
    files = new KeysFiles(config, demo);
    store = new StoreOpening(ground, bounds, files);
  }

  /** Starts everything; the service answers when this succeeds. */
  Future<Void> start() {
    Replication replication = new Replication();
    Serving door = new Serving(ground, files);
    serving = door;
    return store
        .open(replication)
        .compose(
            opened -> {
              database = opened;
              Features inside = new Features(ground, opened, door::baseUrl);
              features = inside;
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

  /** What clients call the service; once started. */
  String baseUrl() {
    return Objects.requireNonNull(serving, "not started").baseUrl();
  }

  /** The store; once started. */
  Database database() {
    return Objects.requireNonNull(database, "not started");
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
