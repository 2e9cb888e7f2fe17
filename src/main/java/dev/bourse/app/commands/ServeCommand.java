package dev.bourse.app.commands;

import dev.bourse.app.Bourse;
import dev.bourse.app.Config;
import dev.bourse.app.ProgramVersion;
import dev.bourse.contract.Contract;
import dev.bourse.core.FailureText;
import dev.bourse.core.ThisProcess;
import dev.bourse.logs.Logs;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import java.io.IOException;
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
    description = "Serves until it is told to stop (SIGTERM, Ctrl-C).",
    mixinStandardHelpOptions = true)
final class ServeCommand implements Callable<Integer> {
  private static final Logger LOG = LoggerFactory.getLogger(ServeCommand.class);

  /** A clean stop takes a second or two; past this the supervisor had better see an exit. */
  private static final long STOP_SECONDS = 30;

  private static final long LAST_WORD_MILLIS = 2_000;

  /**
   * A start takes a second, but for one that has to migrate a large store, or waits for another.
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

  private volatile String stopsBecause = "a signal told it to";

  /** For picocli, which fills in the options. */
  ServeCommand() {}

  ServeCommand(ServeArguments given) {
    settings = new SettingsOptions(given.config(), given.data(), given.overrides());
    port = given.port();
    demo = given.isDemo();
  }

  @Override
  public Integer call() throws IOException, Config.Faulty {
    // Nothing of the settings is in them, so another core reads them meanwhile.
    Thread reading = new Thread(Contract::served, "contracts");
    reading.setDaemon(true);
    reading.start();
    // Each would cost as much as a handshake, on a connection that is counted once.
    System.setProperty("jdk.tls.rejectClientInitiatedRenegotiation", "true");
    Config config = settings.read(port == null ? Map.of() : Map.of("port", String.valueOf(port)));
    Logs.configure(config.log());
    Vertx vertx = Bourse.newVertx(config);
    watch(vertx, config.loopTimeoutMillis());
    Bourse bourse = new Bourse(vertx, config, demo);
    ServiceManager manager = ServiceManager.ofProcess();
    tellStart(config);
    try {
      Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(vertx, bourse, manager), "stop"));
      bourse.start().await(START_MINUTES, TimeUnit.MINUTES);
    } catch (Exception e) {
      if (Main.isExpected(e)) {
        // The message says all there is to know; where in the program it came up helps nobody.
        LOG.error("cannot start: {}", FailureText.of(e));
      } else {
        LOG.error("cannot start: {}", e.getMessage(), e);
      }
      stopsBecause = "it could not start";
      // Not through the hook's wait: nothing serves yet, what is open is closed by the hook.
      return Main.EXIT_REFUSED;
    }
    LOG.info("ready: requests are taken at {}", bourse.baseUrl());
    System.out.println("ready " + bourse.baseUrl());
    System.out.flush();
    manager.ready();
    return 0;
  }

  /** What an operator wants to know first of a log: what runs, where, and on what. */
  private void tellStart(Config config) {
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
    LOG.info("settings: {}", config.told().isEmpty() ? "all at their defaults" : config.told());
  }

  /** Has the process end when one of its event loops stops turning. */
  static void watch(Vertx vertx, long limitMillis) {
    if (limitMillis > 0) {
      new Watchdog(
              ((VertxInternal) vertx).nettyEventLoopGroup(),
              limitMillis,
              () -> endStuck(limitMillis))
          .start();
    }
  }

  /** A loop may be stuck at the very log that is to tell of it, so the end does not wait for it. */
  private static void endStuck(long limitMillis) {
    Thread telling =
        new Thread(
            () ->
                LOG.error(
                    """
                    an event loop has not turned for {} ms (event-loop-timeout); the process \
                    ends with exit code {}\
                    """,
                    limitMillis,
                    Main.EXIT_STUCK),
            "last word");
    telling.setDaemon(true);
    telling.start();
    try {
      telling.join(LAST_WORD_MILLIS);
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
    Runtime.getRuntime().halt(Main.EXIT_STUCK);
  }

  private void stop(Vertx vertx, Bourse bourse, ServiceManager manager) {
    LOG.info("stopping, as {}", stopsBecause);
    long mostSeconds = STOP_SECONDS + bourse.drainMillis() / 1_000;
    manager.stopping(mostSeconds + LAST_WORD_MILLIS / 1_000);
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
