package dev.bourse.app;

import dev.bourse.store.StoreRefused;
import dev.bourse.store.StoreUnavailable;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
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

  @Override
  public Integer call() throws IOException, Config.Faulty {
    Config config = settings.read(port == null ? Map.of() : Map.of("port", String.valueOf(port)));
    Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(config.eventLoops()));
    Bourse bourse = new Bourse(vertx, config, demo);
    try {
      Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(vertx, bourse), "stop"));
      bourse.start().await(START_MINUTES, TimeUnit.MINUTES);
    } catch (Exception e) {
      if (e instanceof StoreUnavailable || e instanceof StoreRefused) {
        // The message says all there is to know; where in the program it came up helps nobody.
        LOG.error("cannot start: {}", e.getMessage());
      } else {
        LOG.error("cannot start: {}", e.getMessage(), e);
      }
      // Not through the hook's wait: nothing serves yet, what is open is closed by the hook.
      return Main.EXIT_REFUSED;
    }
    System.out.println("ready " + bourse.baseUrl());
    System.out.flush();
    return 0;
  }

  private static void stop(Vertx vertx, Bourse bourse) {
    try {
      bourse
          .stop()
          .eventually(vertx::close)
          .toCompletionStage()
          .toCompletableFuture()
          .get(STOP_SECONDS, TimeUnit.SECONDS);
    } catch (Exception e) {
      LOG.error("not stopped cleanly", e);
    }
  }
}
