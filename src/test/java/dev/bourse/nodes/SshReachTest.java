package dev.bourse.nodes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.apache.sshd.common.config.keys.writer.openssh.OpenSSHKeyPairResourceWriter;
import org.apache.sshd.common.digest.BuiltinDigests;
import org.junit.jupiter.api.Test;

/** The SSH provider's connections: pinned keys, bounded attempts, and turns. */
@SuppressWarnings("NullAway.Init")
class SshReachTest extends SshNodesFixture {
  @Test
  void anotherHostKeyFailsAtOnceAndBothFingerprintsAreNamed() throws Exception {
    KeyPair shown = LocalMachine.newKey("Ed25519");
    KeyPair pinned = LocalMachine.newKey("Ed25519");
    LocalMachine machine = machine("n1", shown);
    SshNodes nodes = nodes(new Setting());

    NodeFailureException failure =
        fails("is pinned", nodes.provision(machine.pinned(pinned), "alloc_1", List.of(ADA), EIGHT));

    assertFalse(failure.isPassing());
    assertTrue(failure.toString().contains(fingerprint(shown)), failure.getMessage());
    assertTrue(failure.toString().contains(fingerprint(pinned)), failure.getMessage());
    assertEquals(1, machine.connections.get());
    assertFalse(Files.exists(mark("n1")));
  }

  @Test
  void aMachineWithoutAPinnedHostKeyIsNotContacted() throws Exception {
    LocalMachine machine = machine("n1");
    SshNodes nodes = nodes(new Setting());
    Machine real = machine.machine();
    for (String line : List.of("ssh-ed25519 AAAA", "nonsense")) {
      fails(
          "cannot be read",
          nodes.reclaim(new Machine("n1", real.publicIp(), real.sshPort(), line), "alloc_1"));
    }
    fails(
        "pinned",
        nodes.reclaim(new Machine("n1", real.publicIp(), real.sshPort(), null), "alloc_1"));
    assertEquals(0, machine.connections.get());
  }

  @Test
  void ofSeveralHostKeysThePinnedOneIsAskedFor() throws Exception {
    KeyPair ed25519 = LocalMachine.newKey("Ed25519");
    KeyPair rsa = LocalMachine.newKey("RSA");
    KeyPair ecdsa = KeyUtils.generateKeyPair("ecdsa-sha2-nistp384", 384);
    LocalMachine machine = machine("n1", ed25519, rsa, ecdsa);
    SshNodes nodes = nodes(new Setting());

    for (KeyPair pinned : List.of(ed25519, rsa, ecdsa)) {
      await(nodes.provision(machine.pinned(pinned), "alloc_1", List.of(ADA), EIGHT));
    }
  }

  @Test
  void aRefusedLoginIsNotRetried() throws Exception {
    LocalMachine machine = machine("n1");
    admin = LocalMachine.newKey("Ed25519");
    try (var out = Files.newOutputStream(root.resolve("admin"))) {
      OpenSSHKeyPairResourceWriter.INSTANCE.writePrivateKey(admin, "other", null, out);
    }

    NodeFailureException failure =
        fails("no login", nodes(new Setting()).reclaim(machine.machine(), "alloc_1"));

    assertFalse(failure.isPassing());
    assertEquals(1, machine.connections.get());
  }

  @Test
  void aLostConnectionIsRetriedUntilItHolds() throws Exception {
    LocalMachine machine = machine("n1");
    machine.toDrop.set(2);

    await(nodes(new Setting()).provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));

    assertEquals(3, machine.connections.get());
  }

  @Test
  void attemptsAreBounded() throws Exception {
    LocalMachine machine = machine("n1");
    machine.toDrop.set(100);

    // The client notices the drop while it connects or while it logs in.
    NodeFailureException failure =
        fails(
            "n1: no ", nodes(new Setting()).provision(machine.machine(), "a", List.of(ADA), EIGHT));

    assertTrue(failure.isPassing());
    assertEquals(3, machine.connections.get());
  }

  @Test
  void aProbeLogsInAndRunsNothing() throws Exception {
    LocalMachine machine = machine("n1");
    SshNodes nodes = nodes(new Setting());
    await(nodes.probe(machine.machine()));
    assertEquals(1, machine.connections.get());
    assertFalse(Files.exists(lock("n1")));

    fails("is pinned", nodes.probe(machine.pinned(LocalMachine.newKey("Ed25519"))));
    machine.close();
    fails("n1: no connection", nodes.probe(machine.machine()));
  }

  @Test
  void aShellThatHangsKeepsNobodyWaitingWhoAsksWhatTheMachineHolds() throws Exception {
    LocalMachine machine = machine("n1");
    Files.createDirectories(mark("n1").getParent());
    Files.writeString(mark("n1"), "alloc_1");
    Path cat = root.resolve("bin-n1/cat");
    Files.writeString(cat, "#!/bin/sh\nexec sleep 50\n");
    assertTrue(cat.toFile().setExecutable(true));
    Setting setting = new Setting();
    setting.connectMillis = 400;
    setting.commandMillis = 600_000;

    long from = System.nanoTime();
    fails("no machine answered", nodes(setting).held(List.of(machine.machine())));
    assertTrue(System.nanoTime() - from < TimeUnit.SECONDS.toNanos(40));
  }

  @Test
  void aMachineThatSaysNothingTimesOut() throws Exception {
    Setting setting = new Setting();
    setting.connectMillis = 200;
    SshNodes nodes = nodes(setting);
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      String hostKey = machine("n1").machine().hostKey();
      Machine machine = new Machine("n2", "127.0.0.1", silent.getLocalPort(), hostKey);
      assertTrue(fails("no ", nodes.reclaim(machine, "alloc_1")).isPassing());
    }
  }

  @Test
  void aCommandThatHangsTimesOutWithoutARetry() throws Exception {
    LocalMachine machine = machine("n1");
    Setting setting = new Setting();
    setting.commandMillis = 500;
    setting.wipe = "while [ ! -e " + root.resolve("stop") + " ]; do sleep 0.05; done";

    fails("did not end within 500 ms", nodes(setting).reclaim(machine.machine(), "alloc_1"));

    assertEquals(1, machine.connections.get());
    Files.createFile(root.resolve("stop"));
  }

  @Test
  void aLockLeftByADeadRunIsTakenOver() throws Exception {
    LocalMachine machine = machine("n1");
    Files.createDirectories(lock("n1").resolveSibling(""));
    Files.writeString(lock("n1"), "1 of-another-boot\n");

    await(nodes(new Setting()).reclaim(machine.machine(), "alloc_1"));

    assertFalse(Files.exists(lock("n1")));
  }

  @Test
  void muchOutputNeitherStallsNorFillsAnything() throws Exception {
    LocalMachine machine = machine("n1");
    Setting setting = new Setting();
    setting.wipe = "head -c 20000000 /dev/zero; head -c 20000000 /dev/zero >&2";

    await(nodes(setting).reclaim(machine.machine(), "alloc_1"));
  }

  @Test
  void callsForOneMachineTakeTurnsAndAFullQueueRefuses() throws Exception {
    LocalMachine machine = machine("n1");
    Setting setting = new Setting();
    setting.concurrent = 1;
    setting.waiting = 2;
    setting.wipe = "while [ ! -e " + root.resolve("go") + " ]; do sleep 0.05; done";
    SshNodes nodes = nodes(setting);

    Future<?> reclaim = nodes.reclaim(machine.machine(), "alloc_1");
    Future<Void> provision = nodes.provision(machine.machine(), "alloc_2", List.of(ADA), EIGHT);
    Future<Void> again = nodes.provision(machine.machine(), "alloc_2", List.of(BEN), EIGHT);
    assertTrue(fails("too many", nodes.reclaim(machine.machine(), "alloc_1")).isPassing());
    Files.createFile(root.resolve("go"));

    await(reclaim);
    await(provision);
    await(again);
    assertEquals(BEN + "\n", Files.readString(keys("n1")));
  }

  @Test
  void answersArriveOnTheCallersContext() throws Exception {
    LocalMachine machine = machine("n1");
    SshNodes nodes = nodes(new Setting());
    var same = new CompletableFuture<Boolean>();
    vertx.runOnContext(
        ignored -> {
          var context = Vertx.currentContext();
          nodes
              .reclaim(machine.machine(), "alloc_1")
              .onComplete(result -> same.complete(Vertx.currentContext() == context));
        });
    assertTrue(same.get(60, TimeUnit.SECONDS));
  }

  @Test
  void closingFailsWhatIsUnderWayAndWhatComesAfter() throws Exception {
    LocalMachine machine = machine("n1");
    Setting setting = new Setting();
    setting.wipe = "while [ ! -e " + root.resolve("stop") + " ]; do sleep 0.05; done";
    SshNodes nodes = nodes(setting);
    Future<?> reclaim = nodes.reclaim(machine.machine(), "alloc_1");

    await(nodes.close());

    fails("closed", reclaim);
    fails("closed", nodes.reclaim(machine.machine(), "alloc_1"));
    fails("closed", nodes.held(List.of(machine.machine())));
    Files.createFile(root.resolve("stop"));
  }

  private static String fingerprint(KeyPair key) {
    return KeyUtils.getFingerPrint(BuiltinDigests.sha256, key.getPublic());
  }
}
