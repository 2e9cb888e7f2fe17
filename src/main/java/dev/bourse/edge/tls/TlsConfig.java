package dev.bourse.edge.tls;

import dev.bourse.core.Settings;
import dev.bourse.edge.tls.ClientCertificates.CertificateDemand;
import dev.bourse.pem.CertificatePair;
import dev.bourse.pem.PemException;
import dev.bourse.pem.PemFile;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The certificate of a port and the accepted client certificates.
 *
 * @param certificate a PEM file with the certificate and its chain up to a root
 * @param key a PEM file with its private key
 * @param pair the contents of the two at the start
 * @param clients the accepted client certificates; empty if none is requested
 */
public record TlsConfig(
    PemFile certificate, PemFile key, CertificatePair pair, Optional<ClientCertificates> clients) {
  static final String CERTIFICATE = "tls.cert";
  static final String KEY = "tls.key";
  private static final String CLIENT_AUTHORITIES = "tls.client.ca";
  private static final String CLIENT_DEMAND = "tls.client.auth";

  /** The setting that names the authorities of the management port's readers. */
  public static final String MANAGEMENT_AUTHORITIES = "management.client.ca";

  /**
   * Reads settings {@code tls.*} and the files. Records faults in the settings; they never contain
   * a key.
   *
   * @return empty without a certificate and after a fault
   */
  public static Optional<TlsConfig> from(Settings settings) {
    String authorities = settings.text(CLIENT_AUTHORITIES, "");
    String demanded = settings.text(CLIENT_DEMAND, "agents");
    Optional<CertificateDemand> demand = CertificateDemand.of(demanded);
    if (demand.isEmpty()) {
      settings.fault(
          CLIENT_DEMAND, demanded, "agents (callers with API tokens) or all (every caller)");
    }
    Optional<TlsConfig> own = pair(settings);
    if (authorities.isEmpty()) {
      if (demand.equals(Optional.of(CertificateDemand.ALL))) {
        settings.fault(
            CLIENT_AUTHORITIES, "", "a PEM file, because %s is all".formatted(CLIENT_DEMAND));
      }
      return own;
    }
    if (settings.text(CERTIFICATE, "").isEmpty()) {
      settings.fault(
          CERTIFICATE, "", "a PEM file, because %s is set".formatted(CLIENT_AUTHORITIES));
    }
    return own.flatMap(
        tls ->
            tls.with(
                settings,
                new PemFile(CLIENT_AUTHORITIES, Path.of(authorities)),
                demand.orElse(CertificateDemand.ALL)));
  }

  private static Optional<TlsConfig> pair(Settings settings) {
    String certificate = settings.text(CERTIFICATE, "");
    String key = settings.text(KEY, "");
    if (certificate.isEmpty() && key.isEmpty()) {
      return Optional.empty();
    }
    if (certificate.isEmpty() || key.isEmpty()) {
      settings.fault(
          certificate.isEmpty() ? CERTIFICATE : KEY,
          "",
          "a PEM file, because %s is set: give both or neither"
              .formatted(certificate.isEmpty() ? KEY : CERTIFICATE));
      return Optional.empty();
    }
    try {
      PemFile certificateFile = new PemFile(CERTIFICATE, Path.of(certificate));
      PemFile keyFile = new PemFile(KEY, Path.of(key));
      return Optional.of(
          new TlsConfig(
              certificateFile,
              keyFile,
              CertificatePair.read(certificateFile, keyFile),
              Optional.empty()));
    } catch (PemException fault) {
      settings.fault(fault.named(), fault.file(), fault.accepted());
      return Optional.empty();
    }
  }

  /**
   * Reads setting {@code management.client.ca}: with it the management port speaks TLS with the
   * API's certificate, and requests client certificates of these authorities.
   *
   * @param api the TLS configuration of the API's port
   * @return empty if it is not set and after a fault
   */
  public static Optional<TlsConfig> ofManagement(Settings settings, Optional<TlsConfig> api) {
    String authorities = settings.text(MANAGEMENT_AUTHORITIES, "");
    if (authorities.isEmpty()) {
      return Optional.empty();
    }
    if (settings.text(CERTIFICATE, "").isEmpty()) {
      settings.fault(
          CERTIFICATE, "", "a PEM file, because %s is set".formatted(MANAGEMENT_AUTHORITIES));
    }
    return api.flatMap(
        tls ->
            tls.with(
                settings,
                new PemFile(MANAGEMENT_AUTHORITIES, Path.of(authorities)),
                CertificateDemand.AGENTS));
  }

  private Optional<TlsConfig> with(
      Settings settings, PemFile authorities, CertificateDemand demand) {
    try {
      return Optional.of(
          new TlsConfig(
              certificate, key, pair, Optional.of(ClientCertificates.read(authorities, demand))));
    } catch (PemException fault) {
      settings.fault(fault.named(), fault.file(), fault.accepted());
      return Optional.empty();
    }
  }
}
