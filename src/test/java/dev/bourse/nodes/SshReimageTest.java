package dev.bourse.nodes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.Future;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.sshd.common.config.keys.PublicKeyEntry;
import org.junit.jupiter.api.Test;

/** The operator's command for a new image, and the machine after it. */
class SshReimageTest extends SshNodesFixture {
  private final AtomicBoolean isWanted = new AtomicBoolean(true);

  private Future<String> reimage(Setting setting, Machine machine, long millis) {
    return nodes(setting)
        .reimage(machine, new ReimageOrder("h100", "alloc_1", "alloc_1.0", millis, isWanted::get));
  }

  private static Setting command(String command) {
    Setting setting = new Setting();
    setting.reimage = command;
    return setting;
  }

  private static String line(KeyPair key) {
    return PublicKeyEntry.toString(key.getPublic());
  }

  @Test
  void theOldTenantsCopyOfTheHostKeyDoesNotSatisfyTheNewPin() throws Exception {
    KeyPair copied = LocalMachine.newKey("Ed25519");
    KeyPair fresh = LocalMachine.newKey("Ed25519");
    // The tenant left a back door, whose server answers with the copied host key.
    LocalMachine tenants = machine("n1", copied);
    Files.createDirectories(mark("n1").getParent());
    Machine before = tenants.machine();
    SshNodes nodes = nodes(command("echo imaging >&2; echo '" + line(fresh) + " root@n1'"));

    String key =
        await(nodes.reimage(before, new ReimageOrder("h100", "a", "a.0", 30_000, isWanted::get)));

    assertEquals(line(fresh), key);
    Machine after = before.reimaged(key);
    fails("is pinned", nodes.examine(after, EIGHT));
    fails("is pinned", nodes.provision(after, "alloc_2", List.of(ADA), EIGHT));

    LocalMachine installed = machine("n1", fresh);
    Machine there = new Machine("n1", "127.0.0.1", installed.machine().sshPort(), key);
    assertEquals(new Holding("n1", null), await(nodes.examine(there, EIGHT)).holding());
    fails("is pinned", nodes.probe(installed.pinned(copied)));
  }

  @Test
  void theCommandIsToldWhatToImageAndNothingOfTheService() throws Exception {
    KeyPair fresh = LocalMachine.newKey("Ed25519");
    Path received = root.resolve("received");
    LocalMachine machine = machine("n1");
    await(
        reimage(
            command("env >" + received + "; cat >>" + received + "; echo '" + line(fresh) + "'"),
            machine.machine(),
            30_000));

    List<String> variables =
        Files.readAllLines(received).stream()
            .filter(l -> l.startsWith("BOURSE_"))
            .sorted()
            .toList();
    assertEquals(
        List.of(
            "BOURSE_ADDRESS=127.0.0.1",
            "BOURSE_ALLOCATION=alloc_1",
            "BOURSE_NODE=n1",
            "BOURSE_POOL=h100",
            "BOURSE_REIMAGE=alloc_1.0",
            "BOURSE_SSH_PORT=" + machine.machine().sshPort()),
        variables);
    assertEquals(0, machine.connections.get());
  }

  @Test
  void whatIsNotOneNewKeyIsRefused() throws Exception {
    Machine machine = machine("n1").machine();
    String fresh = line(LocalMachine.newKey("Ed25519"));
    String other = line(LocalMachine.newKey("Ed25519"));
    Map<String, String> refusals =
        Map.of(
            "exit 3",
            "status 3",
            "echo the server is unknown >&2; exit 1",
            "status 1: the server is unknown",
            ":",
            "last line is not a host key",
            "echo '" + fresh + "'; echo done",
            "last line is not a host key",
            "echo ssh-ed25519 AAAA",
            "cannot be read",
            "echo '" + fresh + "'; echo '" + other + "'",
            "printed 2 host keys",
            "echo '" + machine.hostKey() + " again'",
            "had before");
    for (Map.Entry<String, String> refusal : refusals.entrySet()) {
      NodeFailureException failure =
          fails(refusal.getValue(), reimage(command(refusal.getKey()), machine, 30_000));
      assertFalse(failure.isPassing() || failure.isUnfit(), refusal.getKey());
    }
  }

  @Test
  void ofALongOutputTheEndIsKept() throws Exception {
    String fresh = line(LocalMachine.newKey("Ed25519"));
    assertEquals(
        fresh,
        await(
            reimage(
                command("yes imaging | head -n 100000; echo '" + fresh + "'"),
                machine("n1").machine(),
                30_000)));
  }

  @Test
  void withoutACommandAMachineIsNotFit() throws Exception {
    Machine machine = machine("n1").machine();
    assertFalse(nodes(new Setting()).canReimage());
    assertTrue(
        fails("reimage-command is not set", reimage(new Setting(), machine, 30_000)).isUnfit());
  }

  @Test
  void aCommandThatHangsIsEndedWithItsChildren() throws Exception {
    Path child = root.resolve("child");
    Machine machine = machine("n1").machine();
    String hang = "sh -c 'echo $$ >" + child + "; exec sleep 1000'; echo never";

    NodeFailureException failure =
        fails("did not end in time", reimage(command(hang), machine, 4_000));

    assertTrue(failure.isUnfit());
    assertEnded(child);
  }

  @Test
  void aCommandThatNobodyWaitsForIsEnded() throws Exception {
    Path child = root.resolve("child");
    Machine machine = machine("n1").machine();
    Future<String> hanging =
        reimage(command("echo $$ >" + child + "; exec sleep 1000"), machine, 30_000);
    eventually("a child", () -> Files.exists(child) && Files.size(child) > 0);
    isWanted.set(false);

    assertTrue(fails("another process has taken over", hanging).isBusy());
    assertEnded(child);
  }

  private static void assertEnded(Path child) throws Exception {
    long pid = Long.parseLong(Files.readString(child).strip());
    eventually(
        "the end of " + pid, () -> ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isEmpty());
  }
}
