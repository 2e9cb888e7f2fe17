package dev.bourse.edge.tls;

import io.vertx.core.net.KeyCertOptions;
import io.vertx.core.net.ServerSSLOptions;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The pair in use, until its files hold another. */
public final class Renewal {
  private static final Logger LOG = LoggerFactory.getLogger(Renewal.class);

  private final TlsConfig config;
  private final Clock clock;
  private volatile CertificatePair pair;

  /** What was told of files that cannot be used; empty while they can. */
  private String told = "";

  public Renewal(TlsConfig config, Clock clock) {
    this.config = config;
    this.clock = clock;
    this.pair = config.pair();
    warnOfEnd();
  }

  private void warnOfEnd() {
    if (secondsLeft() <= 0) {
      LOG.warn("{}: the certificate has ended: {}", config.certificate(), pair);
    }
  }

  /**
   * Reads the files, and tells the pair when it is another; the one in use stays until {@link
   * #taken}. A pair that cannot be used, such as one of which half is written, is told to the log
   * once. Blocks.
   */
  public synchronized Optional<CertificatePair> look() {
    try {
      CertificatePair found = CertificatePair.read(config.certificate(), config.key());
      if (!told.isEmpty()) {
        told = "";
        LOG.info("the files of the certificate can be used again");
      }
      return found.isSame(pair) ? Optional.empty() : Optional.of(found);
    } catch (PairFault fault) {
      String message = String.valueOf(fault.getMessage());
      if (!told.equals(message)) {
        told = message;
        LOG.warn("{}; the certificate read before stays in use: {}", message, pair);
      }
      return Optional.empty();
    }
  }

  /** New connections are served with this pair by now. */
  public synchronized void taken(CertificatePair other) {
    pair = other;
    LOG.info("a new certificate is in use: {}", other);
    warnOfEnd();
  }

  /** How a server speaks TLS with a pair. Takes some milliseconds. */
  public static ServerSSLOptions options(CertificatePair pair) {
    KeyCertOptions keys;
    try {
      keys = pair.options();
    } catch (GeneralSecurityException | IOException impossible) {
      throw new IllegalStateException("a pair that was usable is not", impossible);
    }
    ServerSSLOptions options = new ServerSSLOptions();
    options.setKeyCertOptions(keys);
    options.setEnabledSecureTransportProtocols(Set.of("TLSv1.3", "TLSv1.2"));
    return options;
  }

  /** The pair in use. */
  public CertificatePair pair() {
    return pair;
  }

  /** Until the certificate ends; negative after. */
  public double secondsLeft() {
    return Duration.between(clock.instant(), pair.end()).toMillis() / 1e3;
  }
}
