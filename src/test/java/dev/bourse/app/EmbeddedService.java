package dev.bourse.app;

import dev.bourse.access.MemberTokens;
import dev.bourse.access.NodeCredentials;
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
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** A whole service in the test's process, with the parts that tests of other packages need. */
public final class EmbeddedService {
  /** Short enough that no test waits for the next check of a certificate. */
  private static final long CERTIFICATE_MILLIS = 100;

  private final Vertx vertx;
  private final Bourse bourse;

  /**
   * @param settings in the form of a configuration file or {@code --set}
   * @param data its data folder
   * @param demo whether it serves the demo world
   * @param bounds those of the embedded store
   * @param clock the wall clock
   * @param asksServer whether the clock is compared with the one of the store's server
   * @param around wraps the store
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
    } catch (Config.InvalidConfigException e) {
      throw new AssertionError(e);
    }
    Timekeeper time =
        new Timekeeper(clock, System::nanoTime, config.confirmAfterMillis(), asksServer);
    vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(config.eventLoops()));
    bourse = new Bourse(vertx, config, demo, bounds, time, around, CERTIFICATE_MILLIS, PROGRAM);
  }

  /** Stands for the jar that a packaged service offers for installation. */
  private static final Optional<Path> PROGRAM = Optional.of(program());

  private static Path program() {
    try {
      Path file = Files.createTempFile("program", ".jar");
      file.toFile().deleteOnExit();
      return Files.writeString(file, "a program");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Starts all parts; the service answers when this succeeds. */
  public Future<Void> start() {
    return bourse.start();
  }

  /** Stops the service in order. */
  public Future<Void> stop() {
    return bourse.stop().eventually(vertx::close);
  }

  /** The service's Vert.x instance. */
  public Vertx vertx() {
    return vertx;
  }

  /** The service's address for clients. */
  public String baseUrl() {
    return bourse.baseUrl();
  }

  /** The port of health and metrics. */
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

  public NodeCredentials nodeCredentials() {
    return bourse.nodeCredentials();
  }

  /** The clusters as event loops read them. */
  public Clusters clusters() {
    return bourse.clusters();
  }

  /** The owners of clusters. */
  public ClusterOwners owners() {
    return bourse.owners();
  }

  Replication replication() {
    return bourse.replication();
  }
}
