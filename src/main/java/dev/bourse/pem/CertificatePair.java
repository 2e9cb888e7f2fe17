package dev.bourse.pem;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Instant;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.X509KeyManager;

/**
 * A certificate and its private key.
 *
 * @param chain the certificate, then each certificate's issuer in turn
 * @param key the private key of the first certificate
 */
public record CertificatePair(List<X509Certificate> chain, PrivateKey key) {
  /** Usual chains have two or three. */
  private static final int MOST_CERTIFICATES = 16;

  private static final Pattern PRIVATE_KEY =
      Pattern.compile("-----BEGIN ((?:RSA |EC )?)PRIVATE KEY-----([^-]*+)-----END");

  /**
   * The signature algorithm for each kind of key, used to check that the key belongs to the
   * certificate.
   */
  private static final Map<String, String> SIGNATURES =
      Map.of("RSA", "SHA256withRSA", "EC", "SHA256withECDSA");

  private static final String KEYS = "a PEM file with a private key, RSA or EC, without passphrase";

  public CertificatePair {
    chain = List.copyOf(chain);
  }

  /** Reads both files and checks that they belong together. Blocks. */
  public static CertificatePair read(PemFile certificate, PemFile key) throws PemException {
    List<X509Certificate> chain = certificate.certificates(MOST_CERTIFICATES);
    PublicKey certified = chain.get(0).getPublicKey();
    String signature = SIGNATURES.get(certified.getAlgorithm());
    if (signature == null) {
      throw certificate.fault(
          "a certificate with an RSA or EC key; this one's is %s", certified.getAlgorithm());
    }
    CertificatePair pair = new CertificatePair(chain, readKey(key, certified));
    if (!pair.isOne(signature)) {
      throw key.fault("the private key of the certificate in %s", certificate.path());
    }
    try {
      pair.keyManager();
    } catch (GeneralSecurityException | IOException refused) {
      throw certificate.fault("the certificate first, then each the issuer of the one before it");
    }
    return pair;
  }

  private static PrivateKey readKey(PemFile file, PublicKey certified) throws PemException {
    Matcher block = PRIVATE_KEY.matcher(file.text());
    if (!block.find()) {
      throw file.fault(KEYS);
    }
    try {
      byte[] encoded = Base64.getMimeDecoder().decode(block.group(2));
      return KeyFactory.getInstance(certified.getAlgorithm())
          .generatePrivate(
              new PKCS8EncodedKeySpec(
                  block.group(1).isEmpty() ? encoded : wrapped(encoded, certified)));
    } catch (GeneralSecurityException | RuntimeException malformed) {
      throw file.fault(KEYS + "; this one cannot be read, or is not %s", certified.getAlgorithm());
    }
  }

  /**
   * Wraps a key in the older form of its algorithm into PKCS #8 (RFC 5208): version 0, the
   * algorithm, the key. The algorithm and its curve are copied from the certified public key, which
   * encodes them in the same way.
   */
  private static byte[] wrapped(byte[] key, PublicKey certified) {
    byte[] publicKey = certified.getEncoded();
    // SEQUENCE { SEQUENCE { algorithm }, BIT STRING }
    int outer = headerBytes(publicKey, 0);
    int inner = headerBytes(publicKey, outer);
    int algorithmBytes = inner + (publicKey[outer + 1] & 0xff);
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    content.writeBytes(new byte[] {0x02, 0x01, 0x00});
    content.write(publicKey, outer, algorithmBytes);
    content.writeBytes(element(0x04, key));
    return element(0x30, content.toByteArray());
  }

  /** The length of an element's tag and length, in bytes. */
  private static int headerBytes(byte[] encoded, int at) {
    int length = encoded[at + 1] & 0xff;
    return length < 0x80 ? 2 : 2 + (length & 0x7f);
  }

  private static byte[] element(int tag, byte[] content) {
    ByteArrayOutputStream element = new ByteArrayOutputStream();
    element.write(tag);
    int length = content.length;
    if (length > 0xffff) {
      throw new IllegalArgumentException("no key has " + length + " bytes");
    }
    if (length > 0xff) {
      element.writeBytes(new byte[] {(byte) 0x82, (byte) (length >> 8)});
    } else if (length > 0x7f) {
      element.write(0x81);
    }
    element.write(length);
    element.writeBytes(content);
    return element.toByteArray();
  }

  /** Whether the certificate's public key verifies a signature made by the private key. */
  private boolean isOne(String signature) {
    try {
      byte[] text = "any".getBytes(StandardCharsets.US_ASCII);
      Signature signing = Signature.getInstance(signature);
      signing.initSign(key);
      signing.update(text);
      byte[] signed = signing.sign();
      signing.initVerify(chain.get(0).getPublicKey());
      signing.update(text);
      return signing.verify(signed);
    } catch (GeneralSecurityException unfit) {
      return false;
    }
  }

  /**
   * The key manager that presents the pair in a handshake. Encrypts the key in between, which takes
   * some milliseconds.
   */
  public X509KeyManager keyManager() throws GeneralSecurityException, IOException {
    char[] none = new char[0];
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, none);
    store.setKeyEntry("tls", key, none, chain.toArray(new X509Certificate[0]));
    KeyManagerFactory factory =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(store, none);
    return (X509KeyManager) factory.getKeyManagers()[0];
  }

  /** The expiry of the chain's first certificate. */
  public Instant end() {
    return chain.stream()
        .map(certificate -> certificate.getNotAfter().toInstant())
        .min(Comparator.naturalOrder())
        .orElseThrow();
  }

  /** Whether another pair has the same chain and key. */
  public boolean isSame(CertificatePair other) {
    return chain.equals(other.chain)
        && MessageDigest.isEqual(key.getEncoded(), other.key.getEncoded());
  }

  /** Shows the subject and the expiry; never the key. */
  @Override
  public String toString() {
    return "%s, which ends %s".formatted(chain.get(0).getSubjectX500Principal().getName(), end());
  }
}
