package dev.bourse.nodes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.Slow;
import io.vertx.core.Future;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A run on a machine outlives the connection and the process that started it: later calls wait for
 * its end and get its result, and the machine ends it when its time is up.
 */
@SuppressWarnings("NullAway.Init")
class SshRunsTest extends SshNodesFixture {
  private final Setting setting = new Setting();
  private LocalMachine machine;
  private Path log;
  private Path go;

  @BeforeEach
  void raiseAMachine() throws Exception {
    machine = machine("n1");
    log = root.resolve("log");
    go = root.resolve("go");
  }

  @Test
  void aRunWhoseCallerIsGoneIsAdoptedByTheNextOneAndNotRunAgain() throws Exception {
    setting.prepare = counted("prepare") + untilGo();
    abandonAProvision();

    Future<Void> adopted =
        nodes(setting).provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT);
    eventually("a second visit", () -> machine.connections.get() >= 2);
    assertFalse(adopted.isComplete());
    Files.createFile(go);
    await(adopted);

    assertEquals(List.of("prepare alloc_1"), Files.readAllLines(log));
    assertEquals(ADA + "\n", Files.readString(keys("n1")));
    assertEquals(Set.of("allocation", "allocation.run"), names(mark("n1").resolveSibling("")));
  }

  @Test
  void aWipeWhoseCallerIsGoneIsAdoptedToo() throws Exception {
    setting.wipe = counted("wipe") + untilGo();
    SshNodes first = nodes(setting);
    await(first.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));
    Future<?> abandoned = first.reclaim(machine.machine(), "alloc_1");
    eventually("the wipe to begin", () -> Files.exists(log));
    await(first.close());
    fails("closed", abandoned);

    Future<?> adopted = nodes(setting).reclaim(machine.machine(), "alloc_1");
    eventually("another visit", () -> machine.connections.get() >= 3);
    Files.createFile(go);
    await(adopted);

    assertEquals(List.of("wipe alloc_1"), Files.readAllLines(log));
    assertFalse(Files.exists(mark("n1")));
  }

  @Test
  void howAnAdoptedRunFailedIsLearnedAndTheNextCallTriesAgain() throws Exception {
    setting.prepare = counted("prepare") + untilGo() + " && test $(wc -l <" + log + ") -gt 1";
    abandonAProvision();
    SshNodes next = nodes(setting);

    Future<Void> adopted = next.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT);
    eventually("a second visit", () -> machine.connections.get() >= 2);
    Files.createFile(go);
    fails("prepare command failed", adopted);
    assertEquals(List.of("prepare alloc_1"), Files.readAllLines(log));

    await(next.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));
    assertEquals(ADA + "\n", Files.readString(keys("n1")));
  }

  @Test
  void howARunEndedWhileNobodyWatchedIsLearnedByTheFirstWhoAsksForTheSame() throws Exception {
    setting.prepare = counted("prepare") + untilGo();
    abandonAProvision();
    Files.createFile(go);
    eventually("the run to end", () -> !Files.exists(lock("n1")));
    SshNodes next = nodes(setting);

    await(next.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));
    assertEquals(List.of("prepare alloc_1"), Files.readAllLines(log));

    await(next.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));
    assertEquals(2, Files.readAllLines(log).size(), "a different call is always carried out");
  }

  @Test
  void anOutcomeThatTheMachineDoesNotBearOutIsNotBelieved() throws Exception {
    setting.prepare = counted("prepare") + untilGo();
    abandonAProvision();
    Files.createFile(go);
    eventually("the run to end", () -> !Files.exists(lock("n1")));
    Files.delete(mark("n1"));

    await(nodes(setting).provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));

    assertEquals(2, Files.readAllLines(log).size());
    assertEquals("alloc_1\n", Files.readString(mark("n1")));
  }

  @Test
  void anotherKindOfWorkWaitsForTheEndOfTheOneThatIsUnderWay() throws Exception {
    setting.prepare = counted("prepare") + untilGo();
    setting.wipe = counted("wipe");
    abandonAProvision();

    Future<?> reclaim = nodes(setting).reclaim(machine.machine(), "alloc_1");
    eventually("a second visit", () -> machine.connections.get() >= 2);
    Files.createFile(go);
    await(reclaim);

    assertEquals(List.of("prepare alloc_1", "wipe alloc_1"), Files.readAllLines(log));
    assertFalse(Files.exists(keys("n1")));
    assertFalse(Files.exists(mark("n1")));
  }

  @Test
  void aRunThatOutlivesAVisitIsLookedInOnWithoutCountingAsAFailedAttempt() throws Exception {
    setting.wipe = counted("wipe") + untilGo();
    SshNodes nodes = impatientNodes(setting);

    Future<?> reclaim = nodes.reclaim(machine.machine(), "alloc_1");
    eventually("more visits than attempts", () -> machine.connections.get() > 4);
    assertFalse(reclaim.isComplete());
    Files.createFile(go);
    await(reclaim);

    assertEquals(List.of("wipe alloc_1"), Files.readAllLines(log));
  }

  @Test
  void aConnectionLostInTheMiddleLosesNothing() throws Exception {
    setting.prepare = counted("prepare") + untilGo();
    SshNodes nodes = nodes(setting);

    Future<Void> provision = nodes.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT);
    eventually("the prepare command to begin", () -> Files.exists(log));
    machine.dropAll();
    eventually("another connection", () -> machine.connections.get() >= 2);
    Files.createFile(go);
    await(provision);

    assertEquals(List.of("prepare alloc_1"), Files.readAllLines(log));
  }

  @Test
  @Slow("the machine's shell counts the command's time and the grace before it kills")
  void aCommandPastItsTimeIsEndedOnTheMachineWithItsChildrenWhateverTheyHeed() throws Exception {
    // Long enough for a busy machine to start it.
    setting.commandMillis = 10_000;
    Path heedful = root.resolve("heedful");
    Path stubborn = root.resolve("stubborn");
    setting.wipe =
        "test -e "
            + go
            + " && exit 0; sh -c 'trap \"\" TERM; echo $$ >"
            + stubborn
            + "; exec sleep 600' & sleep 600 & echo $! >"
            + heedful
            + "; wait";
    SshNodes nodes = nodes(setting);

    fails("did not end within 10000 ms", nodes.reclaim(machine.machine(), "alloc_1"));

    for (Path pid : List.of(heedful, stubborn)) {
      eventually(pid.getFileName() + " to be ended", () -> !isRunning(pid));
    }
    assertFalse(Files.exists(lock("n1")));
    Files.createFile(go);
    setting.commandMillis = 30_000;
    await(nodes(setting).reclaim(machine.machine(), "alloc_1"));
  }

  @Test
  @Slow("the machine's shell counts the command's time, which a busy machine must be able to keep")
  void aRunThatLostItsKeeperIsEndedWhenItsTimeIsUp() throws Exception {
    // Long enough for a busy machine to start it and for the test to find its supervisor.
    setting.commandMillis = 10_000;
    setting.wipe = "test -e " + go + " || { touch " + go + "; sleep 600; }";
    SshNodes nodes = nodes(setting);
    Future<Cleaning> reclaim = nodes.reclaim(machine.machine(), "alloc_1");
    eventually("the wipe to begin", () -> Files.exists(go) && Files.exists(lock("n1")));
    long keeper = Long.parseLong(Files.readString(lock("n1")).split(" ", -1)[0]);
    ProcessHandle.of(keeper).orElseThrow().destroyForcibly();

    await(reclaim.recover(e -> nodes.reclaim(machine.machine(), "alloc_1")));

    assertFalse(Files.exists(lock("n1")));
  }

  @Test
  void aRunOfAnOlderReleaseIsWaitedFor() throws Exception {
    Path boot = Path.of("/proc/sys/kernel/random/boot_id");
    String since = Files.exists(boot) ? Files.readString(boot).strip() : "";
    Process older = new ProcessBuilder("sleep", "600").start();
    Files.createDirectories(
        lock("n1").resolveSibling(""),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    Files.writeString(lock("n1"), older.pid() + " " + since + "\n");

    Future<Void> provision =
        impatientNodes(setting).provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT);
    eventually("more visits than attempts", () -> machine.connections.get() > 4);
    assertFalse(Files.exists(keys("n1")));
    older.destroyForcibly().waitFor();
    await(provision);

    assertEquals(ADA + "\n", Files.readString(keys("n1")));
  }

  @Test
  void aMachineThatKeepsItsNotesWhereOthersMayLookIsNotUsed() throws Exception {
    Path folder = mark("n1").resolveSibling("");
    Files.createDirectories(folder);
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    SshNodes nodes = nodes(setting);

    fails(
        "open to others: chmod 700",
        nodes.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));
    assertFalse(Files.exists(keys("n1")));

    // The tenant's processes are killed nevertheless and have lost access.
    await(nodes.reclaim(machine.machine(), "alloc_1"));
    assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(folder)));
    await(nodes.provision(machine.machine(), "alloc_2", List.of(ADA), EIGHT));
  }

  @Test
  void whatACommandLeavesRunningIsNotAtWorkAnyMore() throws Exception {
    Path pid = root.resolve("daemon");
    setting.prepare = "sleep 600 & echo $! >" + pid;
    SshNodes nodes = nodes(setting);

    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));
    await(nodes.reclaim(machine.machine(), "alloc_1"));

    ProcessHandle.of(Long.parseLong(Files.readString(pid).strip()))
        .ifPresent(ProcessHandle::destroyForcibly);
  }

  @Test
  void aFullDiskKeepsNoKeysAndNoSessions() throws Exception {
    Path ended = root.resolve("ended");
    setting.endSessions = "test ! -e " + keys("n1") + " && : >" + ended;
    setting.wipe = "test -e " + go;
    SshNodes nodes = nodes(setting);
    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));
    machine.isFull.set(true);

    fails("wipe command failed", nodes.reclaim(machine.machine(), "alloc_1"));
    assertFalse(Files.exists(keys("n1")));
    assertTrue(Files.exists(ended));
    assertEquals("alloc_1\n", Files.readString(mark("n1")));

    Files.createFile(go);
    await(nodes.reclaim(machine.machine(), "alloc_1"));
    assertFalse(Files.exists(mark("n1")));
  }

  /** Starts a provision on the machine whose caller is gone. */
  private void abandonAProvision() throws Exception {
    SshNodes first = nodes(setting);
    Future<Void> abandoned = first.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT);
    eventually("the prepare command to begin", () -> Files.exists(log));
    await(first.close());
    fails("closed", abandoned);
  }

  private String counted(String what) {
    return "echo " + what + " $BOURSE_ALLOCATION >>" + log + "; ";
  }

  private String untilGo() {
    return "until test -e " + go + "; do sleep 0.05; done";
  }

  /** True if the process that a file names is alive, not a zombie. */
  private static boolean isRunning(Path pidFile) throws Exception {
    Path stat = Path.of("/proc", Files.readString(pidFile).strip(), "stat");
    try {
      return !Files.readString(stat).contains(") Z ");
    } catch (IOException gone) {
      return false;
    }
  }
}
