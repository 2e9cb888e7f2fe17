package dev.bourse.access;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.util.Base64;
import java.util.Set;

/**
 * The P-256 key members' tokens are signed with (ES256, RFC 7518 section 3.4), in a PEM file only
 * the service's user can read. Made at the first start. Processes that serve one store need the
 * same file.
 *
 * @param privatePem PKCS #8
 * @param publicPem SubjectPublicKeyInfo
 */
public record SigningKey(String privatePem, String publicPem) {
  private static final String PRIVATE = "PRIVATE KEY";
  private static final String PUBLIC = "PUBLIC KEY";

  /** Reads the key, or makes one. Blocks. */
  public static SigningKey at(Path file) throws IOException {
    if (!Files.exists(file)) {
      write(file, generated());
    }
    String text = Files.readString(file, StandardCharsets.US_ASCII);
    int second = text.indexOf("-----BEGIN " + PUBLIC);
    if (!text.startsWith("-----BEGIN " + PRIVATE) || second < 0) {
      throw new IOException(file + ": expected a private and a public key in PEM");
    }
    return new SigningKey(text.substring(0, second), text.substring(second));
  }

  private static String generated() {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(new ECGenParameterSpec("secp256r1"));
      KeyPair pair = generator.generateKeyPair();
      return pem(PRIVATE, pair.getPrivate().getEncoded())
          + pem(PUBLIC, pair.getPublic().getEncoded());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("the JDK has no P-256", e);
    }
  }

  private static String pem(String kind, byte[] encoded) {
    return "-----BEGIN "
        + kind
        + "-----\n"
        + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(encoded)
        + "\n-----END "
        + kind
        + "-----\n";
  }

  /** Whole or not at all: a torn key would keep the service from starting. */
  private static void write(Path file, String text) throws IOException {
    Files.createDirectories(file.toAbsolutePath().resolveSibling("."));
    Path next = file.resolveSibling(file.getFileName() + ".new");
    Files.deleteIfExists(next);
    try (FileChannel channel =
        FileChannel.open(
            next,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
      ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(true);
    }
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
  }

  /** Not the key: it must not reach a log by accident. */
  @Override
  public String toString() {
    return "SigningKey";
  }
}
