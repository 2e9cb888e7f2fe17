package dev.bourse.pem;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A PEM file.
 *
 * @param named the setting or option that names it, for error messages
 */
public record PemFile(String named, Path path) {
  /** A chain takes some 10 KiB, and a key 3. */
  private static final int MOST_BYTES = 256 * 1_024;

  private static final Pattern CERTIFICATE =
      Pattern.compile("-----BEGIN CERTIFICATE-----([^-]*+)-----END CERTIFICATE-----");

  /**
   * The certificates in the file, in order. Blocks.
   *
   * @param most the most certificates allowed; at least one is required
   */
  public List<X509Certificate> certificates(int most) throws PemException {
    List<X509Certificate> found = new ArrayList<>();
    Matcher block = CERTIFICATE.matcher(text());
    try {
      CertificateFactory factory = CertificateFactory.getInstance("X.509");
      while (block.find()) {
        byte[] encoded = Base64.getMimeDecoder().decode(block.group(1));
        found.add((X509Certificate) factory.generateCertificate(new ByteArrayInputStream(encoded)));
      }
    } catch (CertificateException | IllegalArgumentException malformed) {
      throw fault("a PEM file of certificates; number %d cannot be read", found.size() + 1);
    }
    if (found.isEmpty() || found.size() > most) {
      throw fault("a PEM file of 1 to %d certificates; there are %d", most, found.size());
    }
    return found;
  }

  String text() throws PemException {
    try (InputStream in = Files.newInputStream(path)) {
      byte[] bytes = in.readNBytes(MOST_BYTES + 1);
      if (bytes.length > MOST_BYTES) {
        throw fault("a PEM file of at most %d bytes", MOST_BYTES);
      }
      return new String(bytes, StandardCharsets.ISO_8859_1);
    } catch (NoSuchFileException missing) {
      throw fault("a PEM file; there is none");
    } catch (AccessDeniedException denied) {
      throw fault("a PEM file that this process may read");
    } catch (IOException unreadable) {
      throw fault("a PEM file: %s", String.valueOf(unreadable.getMessage()));
    }
  }

  /** The exception for a file with other content than expected. */
  @SuppressWarnings("AnnotateFormatMethod") // The annotation needs another library.
  public PemException fault(String accepted, Object... parts) {
    return new PemException(named, path, accepted.formatted(parts));
  }
}
