package dev.bourse.app;

import dev.bourse.core.Settings;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command line. */
@Command(
    name = "bourse",
    description = "A GPU-capacity exchange.",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    subcommands = Main.Serve.class)
public final class Main {
  private static final Logger LOG = LoggerFactory.getLogger(Main.class);

  /** Exit code of a process that could not start, or whose settings are faulty. */
  private static final int EXIT_REFUSED = 2;

  private Main() {}

  public static void main(String[] args) {
    CommandLine line = new CommandLine(new Main());
    int code = args.length == 0 ? usage(line) : line.execute(args);
    if (code != 0) {
      System.exit(code);
    }
  }

  private static int usage(CommandLine line) {
    line.usage(System.err);
    return EXIT_REFUSED;
  }

  /** The version of the jar. */
  static final class Version implements CommandLine.IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = Main.class.getPackage().getImplementationVersion();
      return new String[] {"bourse " + (version == null ? "(not packaged)" : version)};
    }
  }

  /** {@code bourse serve}. */
  @Command(
      name = "serve",
      description = "Serves until it is told to stop (SIGTERM, Ctrl-C).",
      mixinStandardHelpOptions = true)
  static final class Serve implements Callable<Integer> {
    /** A clean stop takes a second or two; past this the supervisor had better see an exit. */
    private static final long STOP_SECONDS = 30;

    @Option(
        names = "--config",
        paramLabel = "FILE",
        description = "Settings in YAML (see conf/bourse.yaml).")
    private @Nullable Path config;

    @Option(
        names = "--data",
        paramLabel = "FOLDER",
        description = "The data folder (default: ${DEFAULT-VALUE}).",
        defaultValue = "data")
    private Path data = Path.of("data");

    @Option(
        names = "--port",
        paramLabel = "N",
        description = "The API's port; 0 picks a free one (default: 8080).")
    private @Nullable Integer port;

    @Option(
        names = "--set",
        paramLabel = "KEY=VALUE",
        description = "Overrides one setting; may be repeated.")
    private Map<String, String> overrides = new LinkedHashMap<>();

    @Option(
        names = "--demo",
        description = "Creates a small world to try things in; its tokens are in demo.json.")
    private boolean demo;

    @Override
    public Integer call() {
      Config settings;
      try {
        settings = configure();
      } catch (Config.Faulty | IOException e) {
        System.err.println(e.getMessage());
        return EXIT_REFUSED;
      }
      Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(settings.eventLoops()));
      Bourse bourse = new Bourse(vertx, settings, demo);
      try {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(vertx, bourse), "stop"));
        bourse.start().await(STOP_SECONDS, TimeUnit.SECONDS);
      } catch (Exception e) {
        LOG.error("cannot start: {}", e.getMessage(), e);
        // Not through the hook's wait: nothing serves yet, what is open is closed by the hook.
        return EXIT_REFUSED;
      }
      System.out.println("ready " + bourse.baseUrl());
      System.out.flush();
      return 0;
    }

    private Config configure() throws IOException, Config.Faulty {
      Map<String, String> values = new LinkedHashMap<>();
      List<String> faults = new ArrayList<>();
      if (config != null) {
        try (Reader reader = Files.newBufferedReader(config)) {
          values.putAll(Yaml.read(config.toString(), reader, faults).flat());
        }
      }
      if (port != null) {
        values.put("port", String.valueOf(port));
      }
      values.putAll(overrides);
      return Config.from(new Settings(values, System.getenv()), data, faults);
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
}
