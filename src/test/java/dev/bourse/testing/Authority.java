package dev.bourse.testing;

import dev.bourse.testing.Certificates.Pem;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509KeyManager;

/**
 * An authority that issues certificates of clients, made here byte by byte (X.509, RFC 5280): the
 * JDK's keytool would take a process for each, and four for one that another signs.
 */
public final class Authority {
  private static final String ALIAS = "client";
  private static final AtomicLong SERIALS = new AtomicLong(1);
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);

  /** The JDK's name of the signature that keys of each kind make. */
  private static final Map<String, String> SIGNATURES =
      Map.of("EC", "SHA256withECDSA", "RSA", "SHA256withRSA", "Ed25519", "Ed25519");

  /** The algorithm identifier of the same signature. */
  private static final Map<String, byte[]> IDENTIFIERS =
      Map.of(
          "EC", algorithm("2a8648ce3d040302"),
          "RSA", algorithm("2a864886f70d01010b", element(0x05, new byte[0])),
          "Ed25519", algorithm("2b6570"));

  // commonName, basicConstraints, subjectAltName
  private static final byte[] COMMON_NAME = element(0x06, hex("550403"));
  private static final byte[] CONSTRAINTS = element(0x06, hex("551d13"));
  private static final byte[] ALTERNATIVES = element(0x06, hex("551d11"));

  /** The extension that names this machine: dNSName localhost, iPAddress 127.0.0.1. */
  static final byte[] THIS_MACHINE =
      element(
          0x30,
          ALTERNATIVES,
          element(
              0x04,
              element(
                  0x30,
                  element(0x82, "localhost".getBytes(StandardCharsets.US_ASCII)),
                  element(0x87, new byte[] {127, 0, 0, 1}))));

  private final String name;
  private final KeyPair keys;
  private final Pem pem;

  /** One that lasts a year. */
  public Authority(String name) {
    this(name, Duration.ofDays(365));
  }

  /**
   * @param left until it ends; negative when it has
   */
  public Authority(String name, Duration left) {
    this.name = name;
    this.keys = newKeys("EC");
    this.pem = sign(name, keys, true, left);
  }

  /** Its own certificate, which it signs itself. */
  public Pem pem() {
    return pem;
  }

  /** Writes its certificate; gives the setting that names the file. */
  public String write(Path folder, String setting) throws IOException {
    return setting + "=" + Files.writeString(file(folder), pem.text());
  }

  /** Where {@link #write} writes. */
  public static Path file(Path folder) {
    return folder.resolve("authorities.pem");
  }

  /**
   * A certificate of a client.
   *
   * @param left until it ends; negative when it has
   */
  public Pem issue(String client, Duration left) {
    return sign(client, newKeys("EC"), false, left);
  }

  /** One of a client that lasts a day. */
  public Pem issue(String client) {
    return issue(client, Duration.ofDays(1));
  }

  /** A pair takes a third of a second to make. */
  private static final class Rsa {
    static final KeyPair KEYS = made("RSA");
  }

  /** Keys that nobody else has, save RSA keys, of which all have the same. */
  static KeyPair newKeys(String kind) {
    return kind.equals("RSA") ? Rsa.KEYS : made(kind);
  }

  private static KeyPair made(String kind) {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance(kind);
      if (kind.equals("EC")) {
        generator.initialize(new ECGenParameterSpec("secp256r1"));
      }
      return generator.generateKeyPair();
    } catch (GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }

  private Pem sign(String subject, KeyPair of, boolean isAuthority, Duration left) {
    Instant end = Instant.now().plus(left);
    byte[] constraints =
        element(0x30, isAuthority ? element(0x01, new byte[] {(byte) 0xff}) : new byte[0]);
    return sign(
        name,
        keys,
        subject,
        of,
        end.minus(Duration.ofDays(400)),
        end,
        element(0x30, CONSTRAINTS, element(0x04, constraints)));
  }

  /** Signs a certificate with one extension. */
  static Pem sign(
      String issuer,
      KeyPair by,
      String subject,
      KeyPair of,
      Instant begin,
      Instant end,
      byte[] extension) {
    String algorithm = by.getPrivate().getAlgorithm();
    String kind = algorithm.equals("EdDSA") ? "Ed25519" : algorithm;
    byte[] identifier = Objects.requireNonNull(IDENTIFIERS.get(kind));
    byte[] content =
        element(
            0x30,
            element(0xa0, element(0x02, new byte[] {2})),
            element(0x02, BigInteger.valueOf(SERIALS.getAndIncrement()).toByteArray()),
            identifier,
            name(issuer),
            element(0x30, time(begin), time(end)),
            name(subject),
            of.getPublic().getEncoded(),
            element(0xa3, element(0x30, extension)));
    try {
      Signature signature = Signature.getInstance(SIGNATURES.get(kind));
      signature.initSign(by.getPrivate());
      signature.update(content);
      byte[] signed = element(0x03, new byte[1], signature.sign());
      Certificate certificate =
          CertificateFactory.getInstance("X.509")
              .generateCertificate(
                  new ByteArrayInputStream(element(0x30, content, identifier, signed)));
      return new Pem(
          certificate,
          Certificates.pem("CERTIFICATE", certificate.getEncoded()),
          Certificates.pem("PRIVATE KEY", of.getPrivate().getEncoded()));
    } catch (GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }

  private static byte[] algorithm(String identifier, byte[]... parameters) {
    byte[] named = element(0x06, hex(identifier));
    return parameters.length == 0 ? element(0x30, named) : element(0x30, named, parameters[0]);
  }

  private static byte[] name(String text) {
    byte[] value = element(0x0c, text.getBytes(StandardCharsets.UTF_8));
    return element(0x30, element(0x31, element(0x30, COMMON_NAME, value)));
  }

  private static byte[] time(Instant at) {
    return element(0x18, TIME.format(at).getBytes(StandardCharsets.US_ASCII));
  }

  private static byte[] element(int tag, byte[]... parts) {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      content.writeBytes(part);
    }
    ByteArrayOutputStream element = new ByteArrayOutputStream();
    element.write(tag);
    if (content.size() > 0xff) {
      element.writeBytes(
          new byte[] {(byte) 0x82, (byte) (content.size() >> 8), (byte) content.size()});
    } else if (content.size() > 0x7f) {
      element.writeBytes(new byte[] {(byte) 0x81, (byte) content.size()});
    } else {
      element.write(content.size());
    }
    element.writeBytes(content.toByteArray());
    return element.toByteArray();
  }

  private static byte[] hex(String text) {
    return HexFormat.of().parseHex(text);
  }

  /** Shows what it has; the JDK's own would show nothing to who names other authorities. */
  private static final class Shown extends X509ExtendedKeyManager {
    private final X509KeyManager keys;

    Shown(X509KeyManager keys) {
      this.keys = keys;
    }

    @Override
    public String chooseClientAlias(String[] kinds, Principal[] issuers, Socket socket) {
      return ALIAS;
    }

    @Override
    public String chooseEngineClientAlias(String[] kinds, Principal[] issuers, SSLEngine engine) {
      return ALIAS;
    }

    @Override
    public X509Certificate[] getCertificateChain(String alias) {
      return keys.getCertificateChain(alias);
    }

    @Override
    public PrivateKey getPrivateKey(String alias) {
      return keys.getPrivateKey(alias);
    }

    @Override
    public String[] getClientAliases(String kind, Principal[] issuers) {
      return new String[] {ALIAS};
    }

    @Override
    public String[] getServerAliases(String kind, Principal[] issuers) {
      return new String[0];
    }

    @Override
    public String chooseServerAlias(String kind, Principal[] issuers, Socket socket) {
      throw new IllegalStateException("it is a client");
    }
  }

  /** What shows a certificate of a client, and trusts these servers' and no others. */
  public static SSLContext showing(Pem client, Pem... servers) {
    try {
      KeyStore keys = KeyStore.getInstance("PKCS12");
      keys.load(null, new char[0]);
      byte[] key = Base64.getMimeDecoder().decode(client.key().replaceAll("-----[^-]*-----", ""));
      keys.setKeyEntry(
          ALIAS,
          KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(key)),
          new char[0],
          new Certificate[] {client.certificate()});
      KeyManagerFactory shown =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      shown.init(keys, new char[0]);
      KeyStore trusted = KeyStore.getInstance("PKCS12");
      trusted.load(null, new char[0]);
      for (int i = 0; i < servers.length; i++) {
        trusted.setCertificateEntry("server" + i, servers[i].certificate());
      }
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(trusted);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(
          new KeyManager[] {new Shown((X509KeyManager) shown.getKeyManagers()[0])},
          trust.getTrustManagers(),
          null);
      return context;
    } catch (IOException | GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }
}
