package dev.bourse.edge.tls;

import dev.bourse.core.Settings;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Settings of TLS in few words. */
public final class TlsFixture {
  private TlsFixture() {}

  /** Settings with two files, which must be valid. */
  public static TlsConfig config(Path certificate, Path key) {
    Settings settings = settings(certificate.toString(), key.toString());
    Optional<TlsConfig> config = TlsConfig.from(settings);
    return config.orElseThrow(() -> new AssertionError(settings.faults()));
  }

  static Settings settings(String certificate, String key) {
    return new Settings(Map.of("tls.cert", certificate, "tls.key", key), Map.of());
  }

  /** The faults of these settings, which must have some. */
  static List<String> faults(Map<String, String> values) {
    Settings settings = new Settings(values, Map.of());
    TlsConfig.from(settings);
    return settings.faults();
  }

  static List<String> faults(String certificate, String key) {
    Settings settings = settings(certificate, key);
    if (TlsConfig.from(settings).isPresent()) {
      throw new AssertionError("there is no fault");
    }
    return settings.faults();
  }
}
