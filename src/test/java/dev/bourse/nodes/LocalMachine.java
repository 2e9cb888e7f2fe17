package dev.bourse.nodes;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PublicKey;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.apache.sshd.common.config.keys.PublicKeyEntry;
import org.apache.sshd.common.keyprovider.KeyPairProvider;
import org.apache.sshd.common.session.Session;
import org.apache.sshd.common.session.SessionListener;
import org.apache.sshd.server.SshServer;
import org.apache.sshd.server.shell.ProcessShellFactory;

/**
 * An SSH server in this process that runs commands with this computer's {@code /bin/sh}. A program
 * that records its arguments replaces {@code chown}, which requires root, and a program that runs
 * its arguments with {@code BOURSE_SUDO} set replaces {@code sudo}.
 */
final class LocalMachine implements AutoCloseable {
  private static final String FULL = "trap '' XFSZ; ulimit -f 0; ";

  final AtomicInteger connections = new AtomicInteger();

  /** The number of next connections that are dropped before the login. */
  final AtomicInteger toDrop = new AtomicInteger();

  /** True to let writes of commands fail as on a full disk; files can still be made and removed. */
  final AtomicBoolean isFull = new AtomicBoolean();

  private final String nodeId;
  private final SshServer server = SshServer.setUpDefaultServer();
  private final KeyPair hostKey;
  private final Path chowned;

  LocalMachine(String nodeId, Path dir, PublicKey admin, KeyPair... hostKeys) throws IOException {
    this.nodeId = nodeId;
    hostKey = hostKeys[hostKeys.length - 1];
    Path bin = Files.createDirectories(dir.resolve("bin-" + nodeId));
    chowned = bin.resolve("chowned");
    executable(bin.resolve("chown"), "echo \"$*\" >>" + chowned);
    executable(bin.resolve("sudo"), "[ \"$1\" = -n ] && shift && BOURSE_SUDO=1 exec \"$@\"");
    // Otherwise the script would read the mounts of this computer.
    executable(bin.resolve("mount"), "exit 1");
    server.setHost("127.0.0.1");
    server.setKeyPairProvider(KeyPairProvider.wrap(hostKeys));
    server.setPublickeyAuthenticator((user, key, session) -> KeyUtils.compareKeys(key, admin));
    server.setCommandFactory(
        (channel, command) ->
            new ProcessShellFactory(
                    "PATH=" + bin + ":$PATH; export PATH; " + (isFull.get() ? FULL : "") + command,
                    "/bin/sh")
                .createShell(channel));
    server.addSessionListener(
        new SessionListener() {
          @Override
          public void sessionCreated(Session session) {
            connections.incrementAndGet();
            if (toDrop.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
              session.close(true);
            }
          }
        });
    server.start();
  }

  static KeyPair newKey(String algorithm) throws Exception {
    return KeyPairGenerator.getInstance(algorithm).generateKeyPair();
  }

  /** Returns this machine as an inventory has it. */
  Machine machine() {
    return pinned(hostKey);
  }

  /** Returns this machine with another pinned host key. */
  Machine pinned(KeyPair key) {
    return new Machine(
        nodeId, "127.0.0.1", server.getPort(), PublicKeyEntry.toString(key.getPublic()));
  }

  /** Adds a program to the PATH of this machine's commands. */
  void install(String program, String text) throws IOException {
    executable(chowned.resolveSibling(program), text);
  }

  /** Cuts all connections. */
  void dropAll() {
    server.getActiveSessions().forEach(session -> session.close(true));
  }

  /** Returns the arguments of each {@code chown} on this machine. */
  List<String> chowned() throws IOException {
    return Files.exists(chowned) ? Files.readAllLines(chowned) : List.of();
  }

  private static void executable(Path file, String text) throws IOException {
    Files.writeString(file, "#!/bin/sh\n" + text + "\n");
    if (!file.toFile().setExecutable(true)) {
      throw new IOException("cannot make " + file + " executable");
    }
  }

  @Override
  public void close() throws IOException {
    server.stop(true);
  }
}
