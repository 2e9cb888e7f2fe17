package dev.bourse.nodes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPair;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.apache.sshd.common.config.keys.writer.openssh.OpenSSHKeyPairResourceWriter;
import org.apache.sshd.common.digest.BuiltinDigests;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The ssh provider against ssh servers in this process that run this computer's shell. */
@SuppressWarnings("NullAway.Init")
class SshNodesTest {
  private static final String ADA = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 ada@example.com";
  private static final String BEN = "ssh-rsa AAAAB3NzaC1yc2E=";

  private final Vertx vertx = Vertx.vertx();
  private final List<AutoCloseable> opened = new ArrayList<>();
  private KeyPair admin;
  private Path root;

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
  }

  @Test
  void provisionInstallsExactlyTheGivenKeysReadableByTheTenantAlone() throws Exception {
    LocalMachine machine = machine("n1");
    SshNodes nodes = nodes(new Setting());

    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA, BEN)));

    assertEquals(ADA + "\n" + BEN + "\n", Files.readString(keys("n1")));
    assertEquals(
        PosixFilePermissions.fromString("rw-------"), Files.getPosixFilePermissions(keys("n1")));
    assertEquals(List.of("tenant .", "-h tenant .authorized_keys.new"), machine.chowned());
    assertEquals("alloc_1\n", Files.readString(mark("n1")));
  }

  @Test
  void provisionAgainReplacesTheKeysAndLeavesNothingElseBehind() throws Exception {
    LocalMachine machine = machine("n1");
    SshNodes nodes = nodes(new Setting());

    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA, BEN)));
    Files.writeString(keys("n1").resolveSibling("authorized_keys2"), "ssh-rsa AAAA planted\n");
    await(nodes.provision(machine.machine(), "alloc_1", List.of(BEN)));

    assertEquals(BEN + "\n", Files.readString(keys("n1")));
    assertEquals(Set.of("authorized_keys"), names(keys("n1").resolveSibling("")));
    assertEquals(Set.of("allocation"), names(mark("n1").resolveSibling("")));
  }

  @Test
  void whatAKeysCommentSaysIsNeverRun() throws Exception {
    LocalMachine machine = machine("n1");
    SshNodes nodes = nodes(new Setting());
    String touch = "touch " + root.resolve("pwned");
    List<String> lines =
        List.of(
            ADA + " $(" + touch + ")",
            ADA + " `" + touch + "`",
            ADA + " '; " + touch + "; '",
            ADA + " \"; " + touch + " #",
            ADA + " && " + touch + " | " + touch + " & \\",
            ADA + " EOF {node} {user} %s ünï");

    await(nodes.provision(machine.machine(), "alloc_1", lines));

    assertEquals(lines, Files.readAllLines(keys("n1")));
    assertFalse(Files.exists(root.resolve("pwned")));
  }

  @Test
  void textThatIsNotAKeyLineIsRefusedBeforeAnyConnection() throws Exception {
    LocalMachine machine = machine("n1");
    SshNodes nodes = nodes(new Setting());
    for (String line :
        List.of(
            "", "# comment", "command=\"id\" " + ADA, ADA + "\n" + BEN, ADA + "\r", "ssh-rsa")) {
      fails("key lines", nodes.provision(machine.machine(), "alloc_1", List.of(line)));
    }
    fails("allocation id", nodes.provision(machine.machine(), "a b", List.of(ADA)));
    Machine real = machine.machine();
    fails(
        "node id",
        nodes.reclaim(
            new Machine("n1; id", real.publicIp(), real.sshPort(), real.hostKey()), "alloc_1"));
    assertEquals(0, machine.connections.get());
  }

  @Test
  void thePrepareCommandKnowsItsNodeAndAllocationAndRunsBeforeTheTenantCanComeIn()
      throws Exception {
    LocalMachine machine = machine("n1");
    Setting setting = new Setting();
    setting.prepare =
        "test ! -e "
            + keys("{node}")
            + " && echo \"it's {node} $BOURSE_NODE $BOURSE_ALLOCATION\" >"
            + root.resolve("prepared");
    SshNodes nodes = nodes(setting);

    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA)));

    assertEquals("it's n1 n1 alloc_1\n", Files.readString(root.resolve("prepared")));
  }

  @Test
  void anAdminWhoIsNotRootWorksThroughSudo() throws Exception {
    LocalMachine machine = machine("n1");
    Setting setting = new Setting();
    setting.admin = "ops";
    setting.prepare = "test -n \"$BOURSE_SUDO\"";

    await(nodes(setting).provision(machine.machine(), "alloc_1", List.of(ADA)));

    assertEquals(ADA + "\n", Files.readString(keys("n1")));
  }

  @Test
  void aFailedPrepareCommandLetsNobodyInAndKeepsTheMark() throws Exception {
    LocalMachine machine = machine("n1");
    Setting setting = new Setting();
    setting.prepare = "exit 3";
    SshNodes nodes = nodes(setting);

    fails("prepare", nodes.provision(machine.machine(), "alloc_1", List.of(ADA)));

    assertFalse(Files.exists(keys("n1")));
    assertEquals(
        List.of(new Holding("n1", "alloc_1")), await(nodes.held(List.of(machine.machine()))));
    assertEquals(1, machine.connections.get() - 1, "a lasting failure is not retried");
  }

  @Test
  void aMachineThatHoldsAnotherAllocationIsLeftAsItIs() throws Exception {
    LocalMachine machine = machine("n1");
    SshNodes nodes = nodes(new Setting());
    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA)));

    NodeFailure refused =
        fails("another allocation", nodes.provision(machine.machine(), "alloc_2", List.of(BEN)));

    assertTrue(refused.isHeldByAnother());

    assertEquals(ADA + "\n", Files.readString(keys("n1")));
    assertEquals("alloc_1\n", Files.readString(mark("n1")));
  }

  @Test
  void reclaimRemovesKeysThenEndsSessionsThenWipesThenForgetsTheMark() throws Exception {
    LocalMachine machine = machine("n1");
    Setting setting = new Setting();
    Path log = root.resolve("log");
    String state = " $(test -e " + keys("n1") + " && echo keys) $(cat " + mark("n1") + ") >>" + log;
    // A session may put keys back in its last moment.
    setting.endSessions = "echo end" + state + "; echo " + BEN + " >" + keys("n1");
    setting.wipe = "echo wipe" + state;
    SshNodes nodes = nodes(setting);
    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA)));

    await(nodes.reclaim(machine.machine(), "alloc_1"));

    assertEquals(List.of("end alloc_1", "wipe alloc_1"), Files.readAllLines(log));
    assertFalse(Files.exists(keys("n1")));
    assertFalse(Files.exists(mark("n1")));
  }

  @Test
  void aLateReclaimOfAnEarlierAllocationTouchesNothingOfTheNextOnes() throws Exception {
    LocalMachine machine = machine("n1");
    Setting setting = new Setting();
    Path log = root.resolve("log");
    setting.endSessions = "echo end >>" + log;
    setting.wipe = "echo wipe $BOURSE_ALLOCATION >>" + log;
    SshNodes nodes = nodes(setting);
    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA)));
    await(nodes.reclaim(machine.machine(), "alloc_1"));
    await(nodes.provision(machine.machine(), "alloc_2", List.of(BEN)));

    NodeFailure late = fails("another allocation", nodes.reclaim(machine.machine(), "alloc_1"));

    assertTrue(late.isHeldByAnother());
    assertFalse(late.isPassing());
    assertEquals(List.of("end", "wipe alloc_1"), Files.readAllLines(log));
    assertEquals(BEN + "\n", Files.readString(keys("n1")));
    assertEquals("alloc_2\n", Files.readString(mark("n1")));
    assertFalse(Files.exists(lock("n1")));
  }

  @Test
  void aReclaimCutShortKeepsTheMarkAndCanBeDoneAgainAndAgain() throws Exception {
    LocalMachine machine = machine("n1");
    Setting setting = new Setting();
    setting.wipe = "test -e " + root.resolve("may-wipe");
    SshNodes nodes = nodes(setting);
    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA)));

    fails("wipe", nodes.reclaim(machine.machine(), "alloc_1"));
    assertFalse(Files.exists(keys("n1")));
    assertEquals("alloc_1\n", Files.readString(mark("n1")));

    Files.createFile(root.resolve("may-wipe"));
    await(nodes.reclaim(machine.machine(), "alloc_1"));
    await(nodes.reclaim(machine.machine(), "alloc_1"));
    assertEquals(List.of(new Holding("n1", null)), await(nodes.held(List.of(machine.machine()))));
  }

  @Test
  void aKeysDirectoryThatATenantMadeALinkIsNotFollowed() throws Exception {
    LocalMachine machine = machine("n1");
    SshNodes nodes = nodes(new Setting());
    Path precious = Files.createDirectories(root.resolve("precious"));
    Files.writeString(precious.resolve("authorized_keys"), BEN);
    Path keysDir = keys("n1").getParent();

    Files.createSymbolicLink(keysDir, precious);
    await(nodes.reclaim(machine.machine(), "alloc_1"));
    assertEquals(BEN, Files.readString(precious.resolve("authorized_keys")));

    Files.deleteIfExists(keysDir);
    Files.createSymbolicLink(keysDir, precious);
    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA)));
    assertEquals(BEN, Files.readString(precious.resolve("authorized_keys")));
    assertEquals(ADA + "\n", Files.readString(keys("n1")));
  }

  @Test
  void aKeysFileThatATenantMadeADirectoryIsReplaced() throws Exception {
    LocalMachine machine = machine("n1");
    SshNodes nodes = nodes(new Setting());
    Files.createDirectories(keys("n1").resolve("deeper"));

    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA)));

    assertEquals(ADA + "\n", Files.readString(keys("n1")));
  }

  @Test
  void anotherHostKeyFailsAtOnceAndBothFingerprintsAreNamed() throws Exception {
    KeyPair shown = LocalMachine.newKey("Ed25519");
    KeyPair pinned = LocalMachine.newKey("Ed25519");
    LocalMachine machine = machine("n1", shown);
    SshNodes nodes = nodes(new Setting());

    NodeFailure failure =
        fails("is pinned", nodes.provision(machine.pinned(pinned), "alloc_1", List.of(ADA)));

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
      await(nodes.provision(machine.pinned(pinned), "alloc_1", List.of(ADA)));
    }
  }

  @Test
  void aRefusedLoginIsNotRetried() throws Exception {
    LocalMachine machine = machine("n1");
    admin = LocalMachine.newKey("Ed25519");
    try (var out = Files.newOutputStream(root.resolve("admin"))) {
      OpenSSHKeyPairResourceWriter.INSTANCE.writePrivateKey(admin, "other", null, out);
    }

    NodeFailure failure =
        fails("no login", nodes(new Setting()).reclaim(machine.machine(), "alloc_1"));

    assertFalse(failure.isPassing());
    assertEquals(1, machine.connections.get());
  }

  @Test
  void aLostConnectionIsRetriedUntilItHolds() throws Exception {
    LocalMachine machine = machine("n1");
    machine.toDrop.set(2);

    await(nodes(new Setting()).provision(machine.machine(), "alloc_1", List.of(ADA)));

    assertEquals(3, machine.connections.get());
  }

  @Test
  void attemptsAreBounded() throws Exception {
    LocalMachine machine = machine("n1");
    machine.toDrop.set(100);

    // The drop is noticed while connecting or while logging in, whichever comes first.
    NodeFailure failure =
        fails("n1: no ", nodes(new Setting()).provision(machine.machine(), "a", List.of(ADA)));

    assertTrue(failure.isPassing());
    assertEquals(3, machine.connections.get());
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
  void aRunThatIsStillUnderWayKeepsOthersOffTheMachine() throws Exception {
    LocalMachine machine = machine("n1");
    Path boot = Path.of("/proc/sys/kernel/random/boot_id");
    String since = Files.exists(boot) ? Files.readString(boot).strip() : "";
    Files.createDirectories(lock("n1").resolveSibling(""));
    Files.writeString(lock("n1"), ProcessHandle.current().pid() + " " + since + "\n");

    NodeFailure failure =
        fails(
            "another run",
            nodes(new Setting()).provision(machine.machine(), "alloc_1", List.of(ADA)));

    assertTrue(failure.isPassing());
    assertEquals(3, machine.connections.get());
    assertFalse(Files.exists(keys("n1")));
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
  void heldNamesMarksAndLeavesOutMachinesThatCannotBeAsked() throws Exception {
    LocalMachine one = machine("n1");
    LocalMachine two = machine("n2");
    LocalMachine down = machine("n3");
    down.close();
    LocalMachine broken = machine("n4");
    Files.createDirectories(mark("n4").getParent());
    Files.writeString(mark("n4"), "not an id\n");
    SshNodes nodes = nodes(new Setting());
    await(nodes.provision(one.machine(), "alloc_1", List.of(ADA)));

    List<Holding> held =
        await(nodes.held(List.of(one.machine(), two.machine(), down.machine(), broken.machine())));

    assertEquals(Set.of(new Holding("n1", "alloc_1"), new Holding("n2", null)), Set.copyOf(held));
    fails("none of", nodes.held(List.of(down.machine())));
    assertEquals(List.of(), await(nodes.held(List.of())));
  }

  @Test
  void callsForOneMachineTakeTurnsAndAFullQueueRefuses() throws Exception {
    LocalMachine machine = machine("n1");
    Setting setting = new Setting();
    setting.concurrent = 1;
    setting.waiting = 2;
    setting.wipe = "while [ ! -e " + root.resolve("go") + " ]; do sleep 0.05; done";
    SshNodes nodes = nodes(setting);

    Future<Void> reclaim = nodes.reclaim(machine.machine(), "alloc_1");
    Future<Void> provision = nodes.provision(machine.machine(), "alloc_1", List.of(ADA));
    Future<Void> again = nodes.provision(machine.machine(), "alloc_1", List.of(BEN));
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
    assertTrue(same.get(30, TimeUnit.SECONDS));
  }

  @Test
  void closingFailsWhatIsUnderWayAndWhatComesAfter() throws Exception {
    LocalMachine machine = machine("n1");
    Setting setting = new Setting();
    setting.wipe = "while [ ! -e " + root.resolve("stop") + " ]; do sleep 0.05; done";
    SshNodes nodes = nodes(setting);
    Future<Void> reclaim = nodes.reclaim(machine.machine(), "alloc_1");

    await(nodes.close());

    fails("closed", reclaim);
    fails("closed", nodes.reclaim(machine.machine(), "alloc_1"));
    fails("closed", nodes.held(List.of(machine.machine())));
    Files.createFile(root.resolve("stop"));
  }

  private static final class Setting {
    String admin = "root";
    String prepare = "";
    String endSessions = "true";
    String wipe = "true";
    long connectMillis = 5_000;
    long commandMillis = 30_000;
    int concurrent = 4;
    int waiting = 64;
  }

  private SshNodes nodes(Setting s) {
    SshNodes nodes =
        new SshNodes(
            vertx,
            new SshConfig(
                s.admin,
                root.resolve("admin"),
                "tenant",
                keys("{node}").toString(),
                mark("{node}").toString(),
                s.prepare,
                s.endSessions,
                s.wipe,
                s.connectMillis,
                s.commandMillis,
                3,
                10,
                s.concurrent,
                s.waiting));
    opened.add(0, () -> await(nodes.close()));
    return nodes;
  }

  private LocalMachine machine(String nodeId, KeyPair... hostKeys) throws Exception {
    Files.createDirectories(root.resolve("home").resolve(nodeId));
    KeyPair[] keys =
        hostKeys.length > 0 ? hostKeys : new KeyPair[] {LocalMachine.newKey("Ed25519")};
    LocalMachine machine = new LocalMachine(nodeId, root, admin.getPublic(), keys);
    opened.add(machine);
    return machine;
  }

  private Path keys(String nodeId) {
    return root.resolve("home/" + nodeId + "/.ssh/authorized_keys");
  }

  private Path mark(String nodeId) {
    return root.resolve("state/" + nodeId + "/allocation");
  }

  private Path lock(String nodeId) {
    return root.resolve("state/" + nodeId + "/allocation.lock");
  }

  private static Set<String> names(Path dir) throws Exception {
    try (var files = Files.list(dir)) {
      return Set.copyOf(files.map(file -> file.getFileName().toString()).toList());
    }
  }

  private static String fingerprint(KeyPair key) {
    return KeyUtils.getFingerPrint(BuiltinDigests.sha256, key.getPublic());
  }

  private static NodeFailure fails(String why, Future<?> future) {
    ExecutionException e = assertThrows(ExecutionException.class, () -> await(future));
    NodeFailure failure = assertInstanceOf(NodeFailure.class, e.getCause());
    assertTrue(failure.toString().contains(why), failure.toString());
    return failure;
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }
}
