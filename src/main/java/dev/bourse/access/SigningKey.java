package dev.bourse.access;

import dev.bourse.core.PrivateFile;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.Signature;
import java.security.interfaces.ECPublicKey;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;

/**
 * A P-256 key that signs members' tokens (ES256, RFC 7518 section 3.4), in PEM. A key file is
 * readable by the service's user only.
 *
 * @param privatePem PKCS #8
 * @param publicPem SubjectPublicKeyInfo
 */
record SigningKey(String privatePem, String publicPem) {
  private static final String PRIVATE = "PRIVATE KEY";
  private static final String PUBLIC = "PUBLIC KEY";
  private static final String SUFFIX = ".pem";
  private static final int COORDINATE_BYTES = 32;

  /** Reads a key. Blocks. */
  static SigningKey read(Path file) throws IOException {
    try {
      return parse(Files.readString(file, StandardCharsets.US_ASCII));
    } catch (IllegalArgumentException faulty) {
      throw new IOException(file + ": " + faulty.getMessage(), faulty);
    }
  }

  /**
   * Parses the form that {@link #text} returns.
   *
   * @throws IllegalArgumentException if it is malformed; the message never contains the text
   */
  static SigningKey parse(String text) {
    int second = text.indexOf("-----BEGIN " + PUBLIC);
    if (!text.startsWith("-----BEGIN " + PRIVATE) || second < 0) {
      throw new IllegalArgumentException("expected a private and a public key in PEM");
    }
    return new SigningKey(text.substring(0, second), text.substring(second));
  }

  /** Returns both halves in the stored form. */
  String text() {
    return privatePem + publicPem;
  }

  /** Generates a key, which takes some milliseconds. */
  static SigningKey generate() {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(new ECGenParameterSpec("secp256r1"));
      KeyPair pair = generator.generateKeyPair();
      return new SigningKey(
          pem(PRIVATE, pair.getPrivate().getEncoded()), pem(PUBLIC, pair.getPublic().getEncoded()));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("the JDK has no P-256", e);
    }
  }

  /** Returns the key's thumbprint (RFC 7638), which is the key id in tokens. */
  String kid() {
    JsonObject jwk = coordinates();
    String members =
        """
        {"crv":"P-256","kty":"EC","x":"%s","y":"%s"}\
        """
            .formatted(jwk.getString("x"), jwk.getString("y"));
    try {
      return base64(
          MessageDigest.getInstance("SHA-256").digest(members.getBytes(StandardCharsets.US_ASCII)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("the JDK has no SHA-256", e);
    }
  }

  /** Returns the public half as a JSON Web Key (RFC 7517). */
  JsonObject publicJwk() {
    return coordinates().put("kid", kid()).put("use", "sig").put("alg", "ES256");
  }

  private JsonObject coordinates() {
    try {
      ECPublicKey key =
          (ECPublicKey)
              KeyFactory.getInstance("EC").generatePublic(new X509EncodedKeySpec(der(publicPem)));
      return new JsonObject()
          .put("kty", "EC")
          .put("crv", "P-256")
          .put("x", base64(fixed(key.getW().getAffineX())))
          .put("y", base64(fixed(key.getW().getAffineY())));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("the public key is not a P-256 key", e);
    }
  }

  private static byte[] fixed(BigInteger coordinate) {
    byte[] bytes = coordinate.toByteArray();
    byte[] fixed = new byte[COORDINATE_BYTES];
    int length = Math.min(bytes.length, COORDINATE_BYTES);
    System.arraycopy(bytes, bytes.length - length, fixed, COORDINATE_BYTES - length, length);
    return fixed;
  }

  private static String base64(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  private static String pem(String kind, byte[] encoded) {
    return "-----BEGIN %1$s-----\n%2$s\n-----END %1$s-----\n"
        .formatted(kind, Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(encoded));
  }

  /**
   * Signs a token. It uses the JDK, because the library that verifies tokens cannot write the
   * header type that the profile of access tokens requires.
   */
  String sign(JsonObject header, JsonObject claims) {
    String signed =
        base64(header.toBuffer().getBytes()) + '.' + base64(claims.toBuffer().getBytes());
    try {
      Signature signature = Signature.getInstance("SHA256withECDSAinP1363Format");
      signature.initSign(
          KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(der(privatePem))));
      signature.update(signed.getBytes(StandardCharsets.US_ASCII));
      return signed + '.' + base64(signature.sign());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("the private key is not a P-256 key", e);
    }
  }

  private static byte[] der(String pem) {
    return Base64.getMimeDecoder().decode(pem.replaceAll("-----[^-]+-----", ""));
  }

  /** Returns the path of this key's file in a folder. */
  Path fileIn(Path folder) {
    return folder.resolve(kid() + SUFFIX);
  }

  /**
   * Writes the key atomically, because a partial file would stop the service from starting. Blocks.
   */
  void writeTo(Path folder) throws IOException {
    Files.createDirectories(
        folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    PrivateFile.write(fileIn(folder), text().getBytes(StandardCharsets.US_ASCII));
  }

  /** Does not return the key, which must not reach a log. */
  @Override
  public String toString() {
    return "SigningKey";
  }
}
