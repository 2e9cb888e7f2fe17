package dev.bourse.nodes;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.PublicKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.apache.sshd.client.SshClient;
import org.apache.sshd.client.auth.pubkey.UserAuthPublicKeyFactory;
import org.apache.sshd.client.channel.ChannelExec;
import org.apache.sshd.client.channel.ClientChannelEvent;
import org.apache.sshd.client.config.hosts.HostConfigEntryResolver;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.common.AttributeRepository;
import org.apache.sshd.common.SshConstants;
import org.apache.sshd.common.SshException;
import org.apache.sshd.common.config.keys.FilePasswordProvider;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.apache.sshd.common.config.keys.PublicKeyEntry;
import org.apache.sshd.common.digest.BuiltinDigests;
import org.apache.sshd.common.future.CancelOption;
import org.apache.sshd.common.keyprovider.KeyIdentityProvider;
import org.apache.sshd.common.session.Session;
import org.apache.sshd.common.session.SessionListener;
import org.apache.sshd.common.util.security.SecurityUtils;
import org.apache.sshd.core.CoreModuleProperties;
import org.apache.sshd.server.forward.RejectAllForwardingFilter;
import org.jspecify.annotations.Nullable;

/**
 * Runs commands on machines over SSH. Each machine has one pinned host key. Calls block the calling
 * thread for a bounded time. Thread-safe.
 */
final class PinnedSsh {
  /** The stored part of each of a command's two outputs; the rest is read and dropped. */
  private static final int MAX_OUTPUT_BYTES = 65_536;

  /**
   * The time for an answer beyond a command's own patience, in connect timeouts, because the shell
   * of a busy machine starts late.
   */
  private static final int ANSWER_CONNECT_TIMEOUTS = 6;

  private static final AttributeRepository.AttributeKey<Pin> PIN =
      new AttributeRepository.AttributeKey<>();

  private static final CancelOption[] CANCEL = {
    CancelOption.CANCEL_ON_TIMEOUT, CancelOption.CANCEL_ON_INTERRUPT
  };

  private final SshConfig config;
  private final SshClient client;

  /**
   * The result of a command: its exit status and the beginning of its outputs.
   *
   * @param status the exit status; 0 for success
   */
  record Result(int status, String output, String errors) {}

  /**
   * A client with one identity, which ignores the SSH settings of this host.
   *
   * @throws IllegalArgumentException if the identity file has no usable key
   */
  PinnedSsh(SshConfig config) {
    JdkEd25519.register();
    this.config = config;
    client = SshClient.setUpDefaultClient();
    client.setHostConfigEntryResolver(HostConfigEntryResolver.EMPTY);
    client.setKeyIdentityProvider(
        KeyIdentityProvider.wrapKeyPairs(List.of(identity(config.identityFile()))));
    // A session's signatures are limited to those of its host key; the login needs all of them.
    client.setUserAuthFactories(
        List.of(new UserAuthPublicKeyFactory(List.copyOf(client.getSignatureFactories()))));
    client.setForwardingFilter(RejectAllForwardingFilter.INSTANCE);
    client.setServerKeyVerifier((session, address, key) -> pin(session).accepts(key));
    client.addSessionListener(
        new SessionListener() {
          @Override
          public void sessionCreated(Session session) {
            pin(session).narrow(session);
          }
        });
    // A silent command ends by its own timeout, not by the library's idle timeout.
    CoreModuleProperties.IDLE_TIMEOUT.set(client, Duration.ofMinutes(10));
    client.start();
  }

  /** Ends all sessions. Blocks until they have ended. */
  void close() {
    client.stop();
  }

  /**
   * Runs one command.
   *
   * @throws NodeFailureException if the command could not run to its end
   */
  Result run(Machine machine, MachineScript script) {
    Pin pin = new Pin(machine);
    ClientSession session = connect(machine, pin);
    try {
      login(session, pin);
      return execute(session, machine, script);
    } finally {
      // Immediately, because the answer is complete and a hung peer would not confirm the close.
      session.close(true);
    }
  }

  /**
   * Logs in and out again.
   *
   * @throws NodeFailureException if the login fails
   */
  void probe(Machine machine) {
    Pin pin = new Pin(machine);
    ClientSession session = connect(machine, pin);
    try {
      login(session, pin);
    } finally {
      session.close(true);
    }
  }

  private ClientSession connect(Machine machine, Pin pin) {
    try {
      return client
          .connect(
              config.adminUser(),
              machine.publicIp(),
              machine.sshPort(),
              AttributeRepository.ofKeyValuePair(PIN, pin),
              null)
          .verify(config.connectTimeoutMillis(), CANCEL)
          .getSession();
    } catch (IOException e) {
      throw NodeFailureException.passing(machine.nodeId() + ": no connection: " + e.getMessage());
    }
  }

  private void login(ClientSession session, Pin pin) {
    try {
      session.auth().verify(config.connectTimeoutMillis(), CANCEL);
    } catch (IOException e) {
      String why = pin.machine.nodeId() + ": no login: ";
      if (pin.mismatch != null) {
        throw NodeFailureException.lasting(why + pin.mismatch);
      }
      throw isRefusal(e)
          ? NodeFailureException.lasting(why + e.getMessage())
          : NodeFailureException.passing(why + e.getMessage());
    }
  }

  /** True if the peer rejected the login or the key exchange, so that a retry cannot succeed. */
  private static boolean isRefusal(IOException e) {
    return e instanceof SshException ssh
        && (ssh.getDisconnectCode() == SshConstants.SSH2_DISCONNECT_NO_MORE_AUTH_METHODS_AVAILABLE
            || ssh.getDisconnectCode() == SshConstants.SSH2_DISCONNECT_KEY_EXCHANGE_FAILED);
  }

  private Result execute(ClientSession session, Machine machine, MachineScript script) {
    CappedOutput output = new CappedOutput();
    CappedOutput errors = new CappedOutput();
    Integer status;
    try {
      ChannelExec channel = session.createExecChannel(script.command());
      channel.setIn(new ByteArrayInputStream(script.input().getBytes(StandardCharsets.UTF_8)));
      channel.setOut(output);
      channel.setErr(errors);
      channel.open().verify(config.connectTimeoutMillis(), CANCEL);
      long waitMillis =
          script.patienceSeconds() * 1000L
              + ANSWER_CONNECT_TIMEOUTS * config.connectTimeoutMillis();
      Set<ClientChannelEvent> events =
          channel.waitFor(EnumSet.of(ClientChannelEvent.CLOSED), waitMillis);
      if (events.contains(ClientChannelEvent.TIMEOUT)) {
        throw NodeFailureException.passing(
            machine.nodeId() + ": the machine did not answer within " + waitMillis + " ms");
      }
      status = channel.getExitStatus();
    } catch (IOException e) {
      throw NodeFailureException.passing(machine.nodeId() + ": connection lost: " + e.getMessage());
    }
    if (status == null) {
      throw NodeFailureException.passing(
          machine.nodeId() + ": connection lost before the commands ended");
    }
    return new Result(status, output.text(), errors.text());
  }

  static KeyPair identity(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      Iterable<KeyPair> keys =
          SecurityUtils.loadKeyPairIdentities(null, file::toString, in, FilePasswordProvider.EMPTY);
      if (keys != null) {
        return keys.iterator().next();
      }
    } catch (IOException e) {
      throw new UncheckedIOException("identity-file " + file + ": " + e.getMessage(), e);
    } catch (GeneralSecurityException e) {
      throw new IllegalArgumentException("identity-file " + file + ": " + e.getMessage(), e);
    }
    throw new IllegalArgumentException("identity-file " + file + ": holds no private key");
  }

  private static Pin pin(Session session) {
    AttributeRepository context = ((ClientSession) session).getConnectionContext();
    Pin pin = context == null ? null : context.getAttribute(PIN);
    if (pin == null) {
      throw new IllegalStateException("a session without a pinned host key");
    }
    return pin;
  }

  /** The only host key that a session accepts. */
  private static final class Pin {
    private final Machine machine;
    private final String type;
    private final PublicKey expected;

    /** The mismatch found, if any; the library's thread writes it, the waiting thread reads it. */
    private volatile @Nullable String mismatch;

    Pin(Machine machine) {
      this.machine = machine;
      String line = machine.hostKey();
      if (line == null) {
        throw NodeFailureException.lasting(
            machine.nodeId() + ": no host key is pinned in the inventory");
      }
      try {
        PublicKeyEntry entry = PublicKeyEntry.parsePublicKeyEntry(line.strip());
        type = entry.getKeyType();
        expected = entry.resolvePublicKey(null, null, null);
      } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
        throw NodeFailureException.lasting(
            machine.nodeId() + ": the pinned host key cannot be read: " + e.getMessage());
      }
    }

    boolean accepts(PublicKey key) {
      if (KeyUtils.compareKeys(expected, key)) {
        return true;
      }
      mismatch = "host key " + fingerprint(key) + " where " + fingerprint(expected) + " is pinned";
      return false;
    }

    /** Requests the pinned type of host key, because a server may have keys of several types. */
    void narrow(Session session) {
      List<String> names = new ArrayList<>();
      if (type.equals("ssh-rsa")) {
        // RFC 8332: the key's type stays ssh-rsa, its signatures are these.
        names.addAll(List.of("rsa-sha2-512", "rsa-sha2-256"));
      } else {
        names.add(type);
      }
      session.setSignatureFactoriesNames(names);
    }

    private static String fingerprint(PublicKey key) {
      return KeyUtils.getFingerPrint(BuiltinDigests.sha256, key);
    }
  }

  /** Keeps the beginning of a command's output. */
  private static final class CappedOutput extends OutputStream {
    private final ByteArrayOutputStream kept = new ByteArrayOutputStream();

    @Override
    public synchronized void write(int b) {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public synchronized void write(byte[] bytes, int offset, int length) {
      kept.write(bytes, offset, Math.min(length, MAX_OUTPUT_BYTES - kept.size()));
    }

    synchronized String text() {
      return kept.toString(StandardCharsets.UTF_8);
    }
  }
}
