package dev.bourse.app;

import dev.bourse.access.MemberTokens;
import dev.bourse.capacity.ClusterOwners;
import dev.bourse.capacity.Clusters;
import dev.bourse.core.Settings;
import dev.bourse.signals.Signals;
import dev.bourse.store.Database;
import dev.bourse.store.Timekeeper;
import dev.bourse.store.sqlite.SqliteConfig;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** The whole service in the process of a test: what tests of other packages may reach of it. */
public final class EmbeddedService {
  /** Often enough that no test waits for the next look at a certificate. */
  private static final long CERTIFICATE_MILLIS = 100;

  private final Vertx vertx;
  private final Bourse bourse;

  /**
   * @param settings as a configuration file or {@code --set} has them
   * @param data its data folder
   * @param demo whether it serves the demo world
   * @param bounds those of the embedded store
   * @param clock what people read the time from
   * @param asksServer whether the clock is compared with the one of the store's server
   * @param around what the features are given in the store's place
   */
  public EmbeddedService(
      Map<String, String> settings,
      Path data,
      boolean demo,
      SqliteConfig bounds,
      Clock clock,
      boolean asksServer,
      UnaryOperator<Database> around) {
    Config config;
    try {
      config = Config.from(new Settings(settings, Map.of()), data, List.of());
    } catch (Config.Faulty e) {
      throw new AssertionError(e);
    }
    Timekeeper time =
        new Timekeeper(clock, System::nanoTime, config.confirmAfterMillis(), asksServer);
    vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(config.eventLoops()));
    bourse = new Bourse(vertx, config, demo, bounds, time, around, CERTIFICATE_MILLIS);
  }

  /** Starts everything; the service answers when this succeeds. */
  public Future<Void> start() {
    return bourse.start();
  }

  /** ShutdownHooks the service in order. */
  public Future<Void> stop() {
    return bourse.stop().eventually(vertx::close);
  }

  /** What the service runs on. */
  public Vertx vertx() {
    return vertx;
  }

  /** What clients call the service. */
  public String baseUrl() {
    return bourse.baseUrl();
  }

  /** Where health and metrics are served. */
  public int managementPort() {
    return bourse.managementPort();
  }

  public Database database() {
    return bourse.database();
  }

  public Signals signals() {
    return bourse.signals();
  }

  public MemberTokens memberTokens() {
    return bourse.memberTokens();
  }

  /** What the event loops read. */
  public Clusters clusters() {
    return bourse.clusters();
  }

  /** The way to the clusters' owners. */
  public ClusterOwners owners() {
    return bourse.owners();
  }

  Replication replication() {
    return bourse.replication();
  }
}
