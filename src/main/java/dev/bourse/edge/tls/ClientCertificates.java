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
 * The accepted client certificates, and the callers that need one.
 *
 * @param file the file of the authorities
 * @param demand the callers that must present a certificate
 * @param authorities the accepted authorities; each may issue intermediate ones
 */
public record ClientCertificates(
    PemFile file, CertificateDemand demand, List<X509Certificate> authorities) {
  /** An old authority next to each new one, for a few departments or clusters. */
  private static final int MOST_AUTHORITIES = 64;

  /** The callers that must present a certificate. A presented certificate is always verified. */
  public enum CertificateDemand {
    /** Callers with an API token. */
    AGENTS,
    /** All callers. */
    ALL;

    /** Returns the value of a setting. */
    static Optional<CertificateDemand> of(String text) {
      return Arrays.stream(values())
          .filter(demand -> demand.name().toLowerCase(Locale.ROOT).equals(text))
          .findFirst();
    }
  }

  public ClientCertificates {
    authorities = List.copyOf(authorities);
  }

  /** Reads the file. Blocks. */
  static ClientCertificates read(PemFile file, CertificateDemand demand) throws PemException {
    List<X509Certificate> found = file.certificates(MOST_AUTHORITIES);
    for (int i = 0; i < found.size(); i++) {
      // The JDK would accept any other certificate without checking its expiry.
      if (found.get(i).getBasicConstraints() < 0) {
        throw file.fault(
            "certificates of authorities (CA:TRUE); number %d, %s, is of none",
            i + 1, found.get(i).getSubjectX500Principal().getName());
      }
    }
    return new ClientCertificates(file, demand, found);
  }

  /** Returns the authorities that have not expired. */
  List<X509Certificate> inForce(Instant now) {
    return authorities.stream()
        .filter(authority -> authority.getNotAfter().toInstant().isAfter(now))
        .toList();
  }

  /** Returns when the first authority expires. */
  public Instant end() {
    return authorities.stream()
        .map(authority -> authority.getNotAfter().toInstant())
        .min(Comparator.naturalOrder())
        .orElseThrow();
  }

  /**
   * Returns the verifier of clients' certificates as of now. It uses the JDK, which checks the
   * validity of each certificate of a chain except the authority at its end. It does not check
   * revocation.
   */
  TrustOptions trust(Instant now) throws GeneralSecurityException, IOException {
    List<X509Certificate> trusted = inForce(now);
    if (trusted.isEmpty()) {
      return TrustOptions.wrap(new RejectAll());
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

  /** Accepts no certificate, because all authorities have expired. */
  private static final class RejectAll implements X509TrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String kind)
        throws CertificateException {
      throw new CertificateException("all authorities of client certificates have expired");
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

  /** Returns the names of the authorities and when the first one expires. */
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
