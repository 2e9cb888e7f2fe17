package dev.bourse.edge.tls;

import dev.bourse.pem.PemException;
import dev.bourse.pem.PemFile;
import io.vertx.core.net.TrustOptions;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;

/**
 * Which certificates of clients are taken, and who has to show one.
 *
 * @param file where the authorities are
 * @param demand who has to show a certificate
 * @param authorities those whose certificates are taken; each may issue others
 */
public record ClientCertificates(PemFile file, Demand demand, List<X509Certificate> authorities) {
  /** An old authority beside each new one, of a few departments or clusters. */
  private static final int MOST_AUTHORITIES = 64;

  /** Who has to show a certificate. What is shown is verified in any case. */
  public enum Demand {
    /** Whoever sends an API token. */
    AGENTS,
    /** Whoever connects. */
    ALL;

    /** The one that settings call so. */
    static Optional<Demand> of(String text) {
      return Arrays.stream(values())
          .filter(demand -> demand.name().toLowerCase(Locale.ROOT).equals(text))
          .findFirst();
    }
  }

  public ClientCertificates {
    authorities = List.copyOf(authorities);
  }

  /** Reads the file. Blocks. */
  static ClientCertificates read(PemFile file, Demand demand) throws PemException {
    List<X509Certificate> found = file.certificates(MOST_AUTHORITIES);
    for (int i = 0; i < found.size(); i++) {
      // Any other would be taken as it is, without a look at when it ends.
      if (found.get(i).getBasicConstraints() < 0) {
        throw file.fault(
            "certificates of authorities (CA:TRUE); number %d, %s, is of none",
            i + 1, found.get(i).getSubjectX500Principal().getName());
      }
    }
    return new ClientCertificates(file, demand, found);
  }

  /** Those of the authorities that have not ended. */
  List<X509Certificate> inForce(Instant now) {
    return authorities.stream()
        .filter(authority -> authority.getNotAfter().toInstant().isAfter(now))
        .toList();
  }

  /** When the first authority ends. */
  public Instant end() {
    return authorities.stream()
        .map(authority -> authority.getNotAfter().toInstant())
        .min(Comparator.naturalOrder())
        .orElseThrow();
  }

  /**
   * What verifies clients' certificates as of now: the JDK, which goes by what is in force of each
   * of a chain but not of the authority at its end. Whether one was revoked is not asked.
   */
  TrustOptions trust(Instant now) throws GeneralSecurityException, IOException {
    List<X509Certificate> trusted = inForce(now);
    if (trusted.isEmpty()) {
      return TrustOptions.wrap(new Nobody());
    }
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, new char[0]);
    for (int i : IntStream.range(0, trusted.size()).toArray()) {
      store.setCertificateEntry("authority" + i, trusted.get(i));
    }
    TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
    factory.init(store);
    return TrustOptions.wrap(factory.getTrustManagers()[0]);
  }

  /** Takes no certificate: all authorities have ended. */
  private static final class Nobody implements X509TrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String kind)
        throws CertificateException {
      throw new CertificateException("all authorities of client certificates have ended");
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String kind)
        throws CertificateException {
      throw new CertificateException("no server is trusted here");
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }

  /** Whose authorities they are and until when the first is one. */
  @Override
  public String toString() {
    return "%s, of which the first ends %s"
        .formatted(
            authorities.stream()
                .map(authority -> authority.getSubjectX500Principal().getName())
                .toList(),
            end());
  }
}
