package dev.bourse.nodes;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import org.apache.sshd.common.config.keys.writer.openssh.OpenSSHKeyPairResourceWriter;

/** A machine on loopback that the service's ssh provider can use, for tests of other packages. */
public final class LoopbackMachine implements AutoCloseable {
  private final Path adminKey;
  private final LocalMachine machine;

  /**
   * Starts the machine.
   *
   * @param folder the folder of its programs and of the key for logins
   */
  public LoopbackMachine(String nodeId, Path folder) throws IOException, GeneralSecurityException {
    JdkEd25519.register();
    adminKey = Files.createDirectories(folder).resolve("admin");
    KeyPairGenerator keys = KeyPairGenerator.getInstance("Ed25519");
    KeyPair admin = keys.generateKeyPair();
    try (var out = Files.newOutputStream(adminKey)) {
      OpenSSHKeyPairResourceWriter.INSTANCE.writePrivateKey(admin, "admin", null, out);
    }
    machine = new LocalMachine(nodeId, folder, admin.getPublic(), keys.generateKeyPair());
  }

  /** Returns the private key for logins. */
  public Path adminKey() {
    return adminKey;
  }

  public int port() {
    return machine.machine().sshPort();
  }

  /** Returns its host key as a line to pin. */
  public String hostKey() {
    return String.valueOf(machine.machine().hostKey());
  }

  @Override
  public void close() throws IOException {
    machine.close();
  }
}
