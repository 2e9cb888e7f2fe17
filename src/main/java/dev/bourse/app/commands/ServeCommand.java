package dev.bourse.app.commands;

import dev.bourse.app.Bourse;
import dev.bourse.app.Config;
import dev.bourse.app.ProgramVersion;
import dev.bourse.contract.Contract;
import dev.bourse.core.FailureText;
import dev.bourse.core.PrivateFile;
import dev.bourse.core.ThisProcess;
import dev.bourse.keyring.SecretConfig;
import dev.bourse.logs.Logs;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code bourse serve}. */
@Command(
    name = "serve",
    description = "Runs the service until SIGTERM or Ctrl-C.",
    mixinStandardHelpOptions = true)
final class ServeCommand implements Callable<Integer> {
  private static final Logger LOG = LoggerFactory.getLogger(ServeCommand.class);

  /** A clean stop takes a second or two; after this time the process exits for its supervisor. */
  private static final long STOP_SECONDS = 30;

  private static final long LAST_LOG_MILLIS = 2_000;

  private static final int SECRET_KEY_BYTES = 32;

  /**
   * A start takes a second, but longer if it migrates a large store or waits for another process.
   */
  private static final long START_MINUTES = 60;

  @Mixin private SettingsOptions settings = new SettingsOptions();

  @Option(
      names = "--port",
      paramLabel = "N",
      description = "The API's port; 0 picks a free one (default: 8080).")
  private @Nullable Integer port;

  @Option(
      names = "--demo",
      description = "Creates a small world to try things in; its tokens are in demo.json.")
  private boolean demo;

  private volatile String stopsBecause = "signal received";

  /** For picocli, which fills in the options. */
  ServeCommand() {}

  ServeCommand(ServeArguments given) {
    settings = new SettingsOptions(given.config(), given.data(), given.overrides());
    port = given.port();
    demo = given.isDemo();
  }

  @Override
  public Integer call() throws IOException, Config.InvalidConfigException {
    // Contracts do not depend on the settings, so another core reads them in parallel.
    Thread reading = new Thread(Contract::served, "contracts");
    reading.setDaemon(true);
    reading.start();
    // Each renegotiation would cost as much as a handshake, on a connection that is counted once.
    System.setProperty("jdk.tls.rejectClientInitiatedRenegotiation", "true");
    Config config = read();
    Logs.configure(config.log());
    Vertx vertx = Bourse.newVertx(config);
    watch(vertx, config.loopTimeoutMillis());
    Bourse bourse = new Bourse(vertx, config, demo);
    ServiceManager manager = ServiceManager.ofProcess();
    logStart(config);
    try {
      Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(vertx, bourse, manager), "stop"));
      bourse.start().await(START_MINUTES, TimeUnit.MINUTES);
    } catch (Exception e) {
      if (Main.isExpected(e)) {
        // The message is sufficient; a stack trace would not help.
        LOG.error("cannot start: {}", FailureText.of(e));
      } else {
        LOG.error("cannot start: {}", e.getMessage(), e);
      }
      stopsBecause = "the start failed";
      // Returns without the hook's wait: nothing is served yet, and the hook closes the open parts.
      return Main.EXIT_REFUSED;
    }
    LOG.info("ready: serving requests at {}", bourse.baseUrl());
    System.out.println("ready " + bourse.baseUrl());
    System.out.flush();
    manager.ready();
    return 0;
  }

  /**
   * Reads the settings. A demo without a secret key gets one, in its data folder, so that webhooks
   * and trail streams work in it; on a shared database it does not, because each process would make
   * its own.
   */
  Config read() throws IOException, Config.InvalidConfigException {
    Map<String, String> given = port == null ? Map.of() : Map.of("port", String.valueOf(port));
    Config config = settings.read(given);
    if (!demo || !config.secret().keyring().isEmpty() || config.postgres().isPresent()) {
      return config;
    }
    byte[] key = new byte[SECRET_KEY_BYTES];
    new SecureRandom().nextBytes(key);
    PrivateFile.createFolders(config.data());
    PrivateFile.write(
        config.data().resolve(SecretConfig.FILE),
        (HexFormat.of().formatHex(key) + '\n').getBytes(StandardCharsets.US_ASCII));
    return settings.read(given);
  }

  /** Logs the facts an operator needs first: program, settings and environment. */
  private void logStart(Config config) {
    LOG.info(
        """
        bourse {} starts as process {} on {}: data in {}, store {}, {} event loops, heap of {} MiB, \
        Java {}{}\
        """,
        ProgramVersion.text(),
        ThisProcess.id(),
        ThisProcess.hostName(),
        config.data(),
        config.postgres().isPresent() ? "PostgreSQL" : "embedded",
        config.eventLoops(),
        Runtime.getRuntime().maxMemory() >> 20,
        System.getProperty("java.version"),
        demo ? ", with the demo world" : "");
    LOG.info(
        "settings: {}",
        config.settingsSummary().isEmpty() ? "all at their defaults" : config.settingsSummary());
  }

  /** Ends the process when one of its event loops is stuck. */
  static void watch(Vertx vertx, long limitMillis) {
    if (limitMillis > 0) {
      new Watchdog(
              ((VertxInternal) vertx).nettyEventLoopGroup(),
              limitMillis,
              () -> endStuck(limitMillis))
          .start();
    }
  }

  /** Does not wait for the log, because the event loop may be stuck in it. */
  private static void endStuck(long limitMillis) {
    Thread logging =
        new Thread(
            () ->
                LOG.error(
                    """
                    an event loop has been stuck for {} ms (event-loop-timeout); the process \
                    ends with exit code {}\
                    """,
                    limitMillis,
                    Main.EXIT_STUCK),
            "last word");
    logging.setDaemon(true);
    logging.start();
    try {
      logging.join(LAST_LOG_MILLIS);
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
    Runtime.getRuntime().halt(Main.EXIT_STUCK);
  }

  private void stop(Vertx vertx, Bourse bourse, ServiceManager manager) {
    LOG.info("stopping: {}", stopsBecause);
    long mostSeconds = STOP_SECONDS + bourse.drainMillis() / 1_000;
    manager.stopping(mostSeconds + LAST_LOG_MILLIS / 1_000);
    try {
      bourse
          .stop()
          .eventually(vertx::close)
          .toCompletionStage()
          .toCompletableFuture()
          .get(mostSeconds, TimeUnit.SECONDS);
      LOG.info("stopped");
    } catch (Exception e) {
      LOG.error("not stopped cleanly", e);
    }
  }
}
