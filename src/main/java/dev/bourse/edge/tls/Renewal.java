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

/** What a port speaks TLS with, until its files hold something else. */
public final class Renewal {
  private static final Logger LOG = LoggerFactory.getLogger(Renewal.class);

  /**
   * What new connections are served with.
   *
   * @param authorities of clients' certificates, those that were in force when it was made
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
  private interface Reading<T> {
    T read() throws PemException;
  }

  private final TlsConfig config;
  private final Clock clock;
  private volatile Material material;

  /** What was told of files that cannot be used, by what they are. */
  private final Map<String, String> told = new HashMap<>();

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
      LOG.warn("{}: the certificate has ended: {}", config.certificate().path(), served.pair());
    }
    served
        .clients()
        .filter(clients -> clients.authorities().size() > served.authorities().size())
        .ifPresent(
            clients ->
                LOG.warn(
                    "{}: {} of {} authorities have ended, and their certificates are refused: {}",
                    clients.file().path(),
                    clients.authorities().size() - served.authorities().size(),
                    clients.authorities().size(),
                    clients));
  }

  /**
   * Reads the files, and tells what to serve with when that is something else; what is in use stays
   * until {@link #taken}. Files that cannot be used, such as one of which half is written, are told
   * to the log once, and keep nothing else from being renewed. Blocks.
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

  private <T> T read(String what, Reading<T> reading, T former) {
    try {
      T found = reading.read();
      if (told.remove(what) != null) {
        LOG.info("the files of {} can be used again", what);
      }
      return found;
    } catch (PemException fault) {
      if (!fault.getMessage().equals(told.put(what, fault.getMessage()))) {
        LOG.warn("{}; what was read before stays in use: {}", fault.getMessage(), former);
      }
      return former;
    }
  }

  /** New connections are served with this by now. */
  public synchronized void taken(Material other) {
    Material before = material;
    material = other;
    if (!before.pair().isSame(other.pair())) {
      LOG.info("a new certificate is in use: {}", other.pair());
    }
    other
        .clients()
        .filter(clients -> !before.authorities().equals(other.authorities()))
        .ifPresent(clients -> LOG.info("client certificates are taken of {}", clients));
    warnOfEnds();
  }

  /** How a server speaks TLS. Takes some milliseconds. */
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
      throw new IllegalStateException("what was usable is not", impossible);
    }
    options.setEnabledSecureTransportProtocols(Set.of("TLSv1.3", "TLSv1.2"));
    return options;
  }

  /** What is in use. */
  public Material material() {
    return material;
  }

  /** Until the certificate or the first authority of clients' ends; negative after. */
  public double secondsLeft() {
    Material served = material;
    Instant end = served.pair().end();
    Instant clients = served.clients().map(ClientCertificates::end).orElse(end);
    return Duration.between(clock.instant(), clients.isBefore(end) ? clients : end).toMillis()
        / 1e3;
  }
}
