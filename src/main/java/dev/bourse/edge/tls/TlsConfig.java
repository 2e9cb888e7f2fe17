package dev.bourse.edge.tls;

import dev.bourse.core.Settings;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Where the certificate is with which the API speaks TLS.
 *
 * @param certificate a PEM file with the certificate and those that lead from it to a root
 * @param key a PEM file with its private key
 * @param pair what the two held at the start
 */
public record TlsConfig(Path certificate, Path key, CertificatePair pair) {
  static final String CERTIFICATE = "tls.cert";
  static final String KEY = "tls.key";

  /**
   * Maps settings {@code tls.cert} and {@code tls.key}. Reads both files. Faults are recorded in
   * the settings and never show a key.
   *
   * @return empty when neither is set, and when there is a fault
   */
  public static Optional<TlsConfig> from(Settings settings) {
    String certificate = settings.text(CERTIFICATE, "");
    String key = settings.text(KEY, "");
    if (certificate.isEmpty() && key.isEmpty()) {
      return Optional.empty();
    }
    if (certificate.isEmpty() || key.isEmpty()) {
      settings.fault(
          certificate.isEmpty() ? CERTIFICATE : KEY,
          "",
          "a PEM file, for %s is set: both or neither"
              .formatted(certificate.isEmpty() ? KEY : CERTIFICATE));
      return Optional.empty();
    }
    try {
      Path certificateFile = Path.of(certificate);
      Path keyFile = Path.of(key);
      return Optional.of(
          new TlsConfig(certificateFile, keyFile, CertificatePair.read(certificateFile, keyFile)));
    } catch (PairFault fault) {
      settings.fault(fault.setting, fault.file, fault.accepted);
      return Optional.empty();
    }
  }
}
