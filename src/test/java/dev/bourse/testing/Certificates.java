package dev.bourse.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Certificates for this machine that sign themselves, made in this process. */
public final class Certificates {
  private static final char[] PASSWORD = "changeit".toCharArray();

  private Certificates() {}

  /** A certificate and its key, both in PEM. */
  public record Pem(Certificate certificate, String text, String key) {
    /** Writes both; gives the settings that name the files. */
    public String[] write(Path folder) throws IOException {
      return new String[] {
        "tls.cert=" + Files.writeString(certificateFile(folder), text),
        "tls.key=" + Files.writeString(keyFile(folder), key)
      };
    }
  }

  public static Path certificateFile(Path folder) {
    return folder.resolve("tls.crt");
  }

  public static Path keyFile(Path folder) {
    return folder.resolve("tls.key");
  }

  /**
   * Makes a certificate for {@code localhost} and 127.0.0.1 that signs itself.
   *
   * @param kind {@code EC}, {@code RSA} or {@code Ed25519}
   * @param days until it ends; negative if it has ended, after one day
   */
  public static Pem make(String kind, int days) {
    KeyPair keys = Authority.newKeys(kind);
    Instant end = Instant.now().plus(Duration.ofDays(days));
    Instant begin = (days < 0 ? end : Instant.now()).minus(Duration.ofDays(1));
    return Authority.sign("localhost", keys, "localhost", keys, begin, end, Authority.THIS_MACHINE);
  }

  public static String pem(String kind, byte[] encoded) {
    String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(encoded);
    return "-----BEGIN %s-----\n%s\n-----END %s-----\n".formatted(kind, text, kind);
  }

  /** What trusts these certificates and no others. */
  public static SSLContext trusting(Pem... certificates) {
    try {
      KeyStore trusted = KeyStore.getInstance("PKCS12");
      trusted.load(null, PASSWORD);
      for (int i = 0; i < certificates.length; i++) {
        trusted.setCertificateEntry("c" + i, certificates[i].certificate());
      }
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(trusted);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return context;
    } catch (IOException | GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }
}
