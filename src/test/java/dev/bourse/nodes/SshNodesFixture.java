package dev.bourse.nodes;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.traces.Traces;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.sshd.common.config.keys.writer.openssh.OpenSSHKeyPairResourceWriter;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** The ssh provider against ssh servers in this process that run this computer's shell. */
@SuppressWarnings("NullAway.Init")
abstract class SshNodesFixture {
  static final String ADA = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 ada@example.com";
  static final MachineTerms EIGHT = new MachineTerms(8, null);

  static final String BEN = "ssh-rsa AAAAB3NzaC1yc2E=";

  /** A login that does not exist on this computer, so that it owns no file or process. */
  static final String NO_LOGIN = "bourse-nobody-here";

  final Vertx vertx = Vertx.vertx();

  /** Collects the spans of calls. */
  Traces traces = Traces.OFF;

  /** The access that agents get; null for none. */
  @Nullable AgentAccess agent;

  final List<AutoCloseable> opened = new ArrayList<>();
  KeyPair admin;
  Path root;

  @TempDir Path temp;

  @BeforeEach
  void makeAnAdmin() throws Exception {
    JdkEd25519.register();
    root = temp.toRealPath();
    admin = LocalMachine.newKey("Ed25519");
    try (var out = Files.newOutputStream(root.resolve("admin"))) {
      OpenSSHKeyPairResourceWriter.INSTANCE.writePrivateKey(admin, "admin", null, out);
    }
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable part : opened) {
      part.close();
    }
    await(vertx.close());
    // A run on a machine outlives its callers and writes below the folder.
    eventually("no run to be under way", () -> runsUnderWay().isEmpty());
  }

  /** Reads names alone: a run removes its files while its folder is looked at. */
  private List<String> runsUnderWay() throws Exception {
    Path state = Files.createDirectories(root.resolve("state"));
    List<String> locks = new ArrayList<>();
    for (String nodeId : names(state)) {
      names(state.resolve(nodeId)).stream()
          .filter(name -> name.endsWith(".lock"))
          .forEach(locks::add);
    }
    return locks;
  }

  static void eventually(String what, Callable<Boolean> condition) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!condition.call()) {
      assertTrue(System.nanoTime() < deadline, "waited 60 s for " + what);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
    }
  }

  static final class Setting {
    String admin = "root";
    String prepare = "";
    String endSessions = "";
    String wipe = "";
    String reimage = "";
    long reimageMillis = 30_000;
    boolean checksHardware;
    String check = "";
    long connectMillis = 30_000;
    long commandMillis = 30_000;
    int concurrent = 4;
    int waiting = 64;
  }

  SshNodes nodes(Setting s) {
    return nodes(s, SshNodes.FIRST_VISIT_SECONDS, SshNodes.FIRST_PAUSE_MILLIS);
  }

  /** Returns a provider whose visits do not wait for a run's end. */
  SshNodes impatientNodes(Setting s) {
    return nodes(s, 0, 10);
  }

  private SshNodes nodes(Setting s, int visitSeconds, long pauseMillis) {
    SshNodes nodes =
        new SshNodes(
            vertx,
            new SshConfig(
                s.admin,
                root.resolve("admin"),
                NO_LOGIN,
                false,
                IdRange.USUAL,
                keys("{node}").toString(),
                mark("{node}").toString(),
                run("{node}").toString(),
                s.prepare,
                s.endSessions,
                s.wipe,
                s.reimage,
                s.reimageMillis,
                s.checksHardware,
                s.check,
                s.connectMillis,
                s.commandMillis,
                3,
                10,
                s.concurrent,
                s.waiting),
            traces,
            Clock.systemUTC(),
            allocation -> Optional.ofNullable(agent),
            visitSeconds,
            pauseMillis);
    opened.add(0, () -> await(nodes.close()));
    return nodes;
  }

  LocalMachine machine(String nodeId, KeyPair... hostKeys) throws Exception {
    Files.createDirectories(root.resolve("home").resolve(nodeId));
    KeyPair[] keys =
        hostKeys.length > 0 ? hostKeys : new KeyPair[] {LocalMachine.newKey("Ed25519")};
    LocalMachine machine = new LocalMachine(nodeId, root, admin.getPublic(), keys);
    opened.add(machine);
    return machine;
  }

  Path keys(String nodeId) {
    return root.resolve("home/" + nodeId + "/.ssh/authorized_keys");
  }

  Path mark(String nodeId) {
    return root.resolve("state/" + nodeId + "/allocation");
  }

  Path run(String nodeId) {
    return root.resolve("run-" + nodeId);
  }

  Path lock(String nodeId) {
    return root.resolve("state/" + nodeId + "/allocation.lock");
  }

  static Set<String> names(Path dir) throws Exception {
    try (var files = Files.list(dir)) {
      return Set.copyOf(files.map(file -> file.getFileName().toString()).toList());
    }
  }

  static NodeFailureException fails(String why, Future<?> future) {
    ExecutionException e = assertThrows(ExecutionException.class, () -> await(future));
    NodeFailureException failure = assertInstanceOf(NodeFailureException.class, e.getCause());
    assertTrue(failure.toString().contains(why), failure.toString());
    return failure;
  }

  static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }
}
