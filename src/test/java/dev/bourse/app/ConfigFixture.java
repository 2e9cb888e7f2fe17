package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.bourse.core.Settings;
import dev.bourse.edge.limits.SharedBudgetConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Short forms for settings. */
abstract class ConfigFixture {
  static final Path DATA = Path.of("data");

  static SharedBudgetConfig shared(Map<String, String> values)
      throws Config.InvalidConfigException {
    return config(values).sharedBudgets().orElseThrow();
  }

  static Config config(Map<String, String> values) throws Config.InvalidConfigException {
    return Config.from(new Settings(values, Map.of()), DATA, List.of());
  }

  static List<String> faults(Map<String, String> values, Map<String, String> environment) {
    Config.InvalidConfigException faulty =
        assertThrows(
            Config.InvalidConfigException.class,
            () -> Config.from(new Settings(values, environment), DATA, List.of()));
    return List.of(String.valueOf(faulty.getMessage()).split("\n", -1));
  }
}
