package dev.bourse.app.commands;

import dev.bourse.app.Config;
import dev.bourse.app.StoreOpening;
import dev.bourse.core.Settings;
import dev.bourse.store.transfer.WholeStore;
import dev.bourse.world.Yaml;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The options that identify a service; commands with the same options refer to the same service.
 */
final class SettingsOptions {
  /** The default data folder. */
  static final String DATA = "data";

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "Settings in YAML (see conf/bourse.yaml).")
  private @Nullable Path config;

  @Option(
      names = "--data",
      paramLabel = "FOLDER",
      description = "The data folder (default: ${DEFAULT-VALUE}).",
      defaultValue = DATA)
  private Path data = Path.of(DATA);

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description = "Overrides one setting; may be repeated.")
  private Map<String, String> overrides = new LinkedHashMap<>();

  /** For picocli, which fills them in. */
  SettingsOptions() {}

  SettingsOptions(@Nullable Path config, Path data, Map<String, String> overrides) {
    this.config = config;
    this.data = data;
    this.overrides = overrides;
  }

  /**
   * Reads the settings: those of the file, overridden by {@code given}, overridden by {@code
   * --set}.
   *
   * @throws IOException when the file cannot be read
   * @throws Config.InvalidConfigException listing all faults
   */
  Config read(Map<String, String> given) throws IOException, Config.InvalidConfigException {
    Map<String, String> values = new LinkedHashMap<>();
    List<String> faults = new ArrayList<>();
    if (config != null) {
      try (Reader reader = Files.newBufferedReader(config)) {
        values.putAll(Yaml.read(config.toString(), reader, faults).flat());
      }
    }
    values.putAll(given);
    values.putAll(overrides);
    return Config.from(new Settings(values, System.getenv()), data, faults);
  }

  /** Opens the store that {@code serve} with the same options uses. */
  WholeStore openStore(WholeStore.Purpose purpose)
      throws IOException, Config.InvalidConfigException {
    return StoreOpening.whole(read(Map.of()), purpose);
  }
}
