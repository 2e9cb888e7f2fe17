package dev.bourse.testing;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Certificates for this machine that sign themselves, made by the JDK's keytool. */
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
   * Makes one of so many days.
   *
   * @param kind {@code EC} or {@code RSA}
   */
  public static Pem make(Path folder, String kind, int days) {
    try {
      Path file = Files.createTempDirectory(folder, "keys").resolve("store.p12");
      List<String> command = new ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
      // Most of its second is its start.
      command.addAll(List.of("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"));
      command.add("-J-Dkeystore.pkcs12.keyPbeIterationCount=10");
      command.addAll(List.of("-genkeypair", "-alias", "it", "-keyalg", kind));
      command.addAll(List.of("-keystore", file.toString(), "-storetype", "PKCS12"));
      command.addAll(List.of("-storepass", new String(PASSWORD), "-dname", "CN=localhost"));
      command.addAll(List.of("-ext", "san=dns:localhost,ip:127.0.0.1"));
      command.addAll(List.of("-startdate", days < 0 ? days - 1 + "d" : "-1d"));
      command.addAll(List.of("-validity", String.valueOf(Math.max(1, days + 1))));
      Process keytool = new ProcessBuilder(command).redirectErrorStream(true).start();
      String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (!keytool.waitFor(60, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
        throw new AssertionError(said);
      }
      KeyStore store = KeyStore.getInstance("PKCS12");
      try (InputStream in = Files.newInputStream(file)) {
        store.load(in, PASSWORD);
      }
      Certificate certificate = store.getCertificate("it");
      return new Pem(
          certificate,
          pem("CERTIFICATE", certificate.getEncoded()),
          pem("PRIVATE KEY", store.getKey("it", PASSWORD).getEncoded()));
    } catch (IOException | GeneralSecurityException e) {
      throw new AssertionError(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
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
