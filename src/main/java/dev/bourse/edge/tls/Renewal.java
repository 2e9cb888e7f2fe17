package dev.bourse.edge.tls;

import dev.bourse.pem.CertificatePair;
import dev.bourse.pem.PemException;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.net.KeyCertOptions;
import io.vertx.core.net.ServerSSLOptions;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The TLS material of a port, which is renewed when its files change. */
public final class Renewal {
  private static final Logger LOG = LoggerFactory.getLogger(Renewal.class);

  /**
   * The material of new connections.
   *
   * @param authorities the authorities of clients' certificates that had not expired when it was
   *     made
   */
  public record Material(
      CertificatePair pair,
      Optional<ClientCertificates> clients,
      List<X509Certificate> authorities) {
    private boolean isSame(Material other) {
      return pair.isSame(other.pair)
          && clients.equals(other.clients)
          && authorities.equals(other.authorities);
    }
  }

  /** Reads a file, or two that belong together. */
  private interface FileReader<T> {
    T read() throws PemException;
  }

  private final TlsConfig config;
  private final Clock clock;
  private volatile Material material;

  /** The last logged faults of unusable files, by file. */
  private final Map<String, String> loggedFaults = new HashMap<>();

  public Renewal(TlsConfig config, Clock clock) {
    this.config = config;
    this.clock = clock;
    this.material = material(config.pair(), config.clients());
    warnOfEnds();
  }

  private Material material(CertificatePair pair, Optional<ClientCertificates> clients) {
    Instant now = clock.instant();
    return new Material(pair, clients, clients.map(all -> all.inForce(now)).orElse(List.of()));
  }

  private void warnOfEnds() {
    Material served = material;
    if (!served.pair().end().isAfter(clock.instant())) {
      LOG.warn("{}: the certificate has expired: {}", config.certificate().path(), served.pair());
    }
    served
        .clients()
        .filter(clients -> clients.authorities().size() > served.authorities().size())
        .ifPresent(
            clients ->
                LOG.warn(
                    "{}: {} of {} authorities have expired and their certificates are rejected: {}",
                    clients.file().path(),
                    clients.authorities().size() - served.authorities().size(),
                    clients.authorities().size(),
                    clients));
  }

  /**
   * Reads the files and returns the new material if they have changed; the old one stays in use
   * until {@link #recordInUse}. Unusable files, for example incompletely written ones, are logged
   * once and do not block the renewal of others. Blocks.
   */
  public synchronized Optional<Material> look() {
    Material served = material;
    CertificatePair pair =
        read(
            "the certificate",
            () -> CertificatePair.read(config.certificate(), config.key()),
            served.pair());
    Optional<ClientCertificates> clients =
        served
            .clients()
            .map(
                known ->
                    read(
                        "the authorities of client certificates",
                        () -> ClientCertificates.read(known.file(), known.demand()),
                        known));
    Material found = material(pair, clients);
    return found.isSame(served) ? Optional.empty() : Optional.of(found);
  }

  private <T> T read(String what, FileReader<T> reading, T former) {
    try {
      T found = reading.read();
      if (loggedFaults.remove(what) != null) {
        LOG.info("the files of {} are usable again", what);
      }
      return found;
    } catch (PemException fault) {
      if (!fault.getMessage().equals(loggedFaults.put(what, fault.getMessage()))) {
        LOG.warn("{}; keeping the previous one: {}", fault.getMessage(), former);
      }
      return former;
    }
  }

  /** Records that new connections use this material. */
  public synchronized void recordInUse(Material other) {
    Material before = material;
    material = other;
    if (!before.pair().isSame(other.pair())) {
      LOG.info("using a new certificate: {}", other.pair());
    }
    other
        .clients()
        .filter(clients -> !before.authorities().equals(other.authorities()))
        .ifPresent(clients -> LOG.info("accepting client certificates of {}", clients));
    warnOfEnds();
  }

  /** Returns the server's TLS options. Takes some milliseconds. */
  public ServerSSLOptions options(Material served) {
    ServerSSLOptions options = new ServerSSLOptions();
    try {
      options.setKeyCertOptions(KeyCertOptions.wrap(served.pair().keyManager()));
      if (served.clients().isPresent()) {
        ClientCertificates clients = served.clients().get();
        options.setTrustOptions(clients.trust(clock.instant()));
        options.setClientAuth(
            switch (clients.demand()) {
              case AGENTS -> ClientAuth.REQUEST;
              case ALL -> ClientAuth.REQUIRED;
            });
      }
    } catch (GeneralSecurityException | IOException impossible) {
      throw new IllegalStateException("TLS material that was checked is not usable", impossible);
    }
    options.setEnabledSecureTransportProtocols(Set.of("TLSv1.3", "TLSv1.2"));
    return options;
  }

  /** Returns the material in use. */
  public Material material() {
    return material;
  }

  /**
   * Returns the seconds until the certificate or the first client authority expires; negative after
   * that.
   */
  public double secondsLeft() {
    Material served = material;
    Instant end = served.pair().end();
    Instant clients = served.clients().map(ClientCertificates::end).orElse(end);
    return Duration.between(clock.instant(), clients.isBefore(end) ? clients : end).toMillis()
        / 1e3;
  }
}
