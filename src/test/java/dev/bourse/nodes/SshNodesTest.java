package dev.bourse.nodes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.Future;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The SSH provider installs keys, removes them, and leaves nothing else behind. */
@SuppressWarnings("NullAway.Init")
class SshNodesTest extends SshNodesFixture {
  @Test
  void provisionInstallsExactlyTheGivenKeysReadableByTheTenantAlone() throws Exception {
    LocalMachine machine = machine("n1");
    SshNodes nodes = nodes(new Setting());

    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA, BEN), EIGHT));

    assertEquals(ADA + "\n" + BEN + "\n", Files.readString(keys("n1")));
    assertEquals(
        PosixFilePermissions.fromString("rw-------"), Files.getPosixFilePermissions(keys("n1")));
    assertEquals(
        List.of(NO_LOGIN + " .", "-h " + NO_LOGIN + " .authorized_keys.new"), machine.chowned());
    assertEquals("alloc_1\n", Files.readString(mark("n1")));
  }

  @Test
  void anAgentsAccessIsForRootAloneInNoArgumentListAndGoneAfterTheReclaim() throws Exception {
    LocalMachine machine = machine("n1");
    Path access = mark("n1").resolveSibling("allocation.agent-access");
    agent = new AgentAccess("https://bourse.example", "brn_0123456789ab_s3cret");
    Setting setting = new Setting();
    setting.prepare = "tr '\\0' ' ' </proc/$PPID/cmdline >" + root.resolve("arguments");
    SshNodes nodes = nodes(setting);

    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));

    assertEquals(
        """
        url = "https://bourse.example/api/node/metrics"
        header = "Authorization: Bearer brn_0123456789ab_s3cret"
        """,
        Files.readString(access));
    assertEquals(
        PosixFilePermissions.fromString("rw-------"), Files.getPosixFilePermissions(access));
    assertEquals(ADA + "\n", Files.readString(keys("n1")));
    String arguments = Files.readString(root.resolve("arguments"));
    assertTrue(arguments.contains("alloc_1") && !arguments.contains("s3cret"), arguments);
    assertFalse(agent.toString().contains("s3cret"));

    await(nodes.reclaim(machine.machine(), "alloc_1"));

    assertEquals(
        List.of(),
        names(root.resolve("state/n1")).stream().filter(name -> name.contains("agent")).toList());
  }

  @Test
  void provisionAgainReplacesTheKeysAndLeavesNothingElseBehind() throws Exception {
    LocalMachine machine = machine("n1");
    SshNodes nodes = nodes(new Setting());

    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA, BEN), EIGHT));
    Files.writeString(keys("n1").resolveSibling("authorized_keys2"), "ssh-rsa AAAA planted\n");
    await(nodes.provision(machine.machine(), "alloc_1", List.of(BEN), EIGHT));

    assertEquals(BEN + "\n", Files.readString(keys("n1")));
    assertEquals(Set.of("authorized_keys"), names(keys("n1").resolveSibling("")));
    assertEquals(Set.of("allocation", "allocation.run"), names(mark("n1").resolveSibling("")));
  }

  private static final NodeNotice OUTBID = new NodeNotice("outbid", 1_764_378_000_000L, false);

  private String notice() throws Exception {
    return Files.readString(run("n1").resolve("notice.json"));
  }

  @Test
  void aNoticeIsAFileForEverybodyToReadAndTheMachineSaysWhatItWasTold() throws Exception {
    LocalMachine machine = machine("n1");
    SshNodes nodes = nodes(new Setting());
    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));

    await(nodes.deliverNotice(machine.machine(), "alloc_1", OUTBID, 5));

    assertEquals(
        "{\"id\":\"outbid-1764378000000\",\"state\":\"given\",\"reason\":\"outbid\","
            + "\"reclaim_at\":\"2025-11-29T01:00:00.000Z\",\"drill\":false,\"sequence\":5}\n",
        notice());
    assertEquals(
        PosixFilePermissions.fromString("rw-r--r--"),
        Files.getPosixFilePermissions(run("n1").resolve("notice.json")));
    assertEquals(
        PosixFilePermissions.fromString("rwxr-xr-x"), Files.getPosixFilePermissions(run("n1")));
    assertEquals(
        List.of(new Holding("n1", "alloc_1", OUTBID)),
        await(nodes.held(List.of(machine.machine()))));

    await(nodes.reclaim(machine.machine(), "alloc_1"));
    assertFalse(Files.exists(run("n1")));
    assertEquals(List.of(new Holding("n1", null)), await(nodes.held(List.of(machine.machine()))));
  }

  @Test
  void aNoticeThatComesLateOrTwiceChangesNothing() throws Exception {
    LocalMachine machine = machine("n1");
    SshNodes nodes = nodes(new Setting());
    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));
    await(nodes.deliverNotice(machine.machine(), "alloc_1", OUTBID.withdrawn(), 7));
    String withdrawn = notice();

    assertEquals(7, await(nodes.deliverNotice(machine.machine(), "alloc_1", OUTBID, 6)));
    long ignored = await(nodes.deliverNotice(machine.machine(), "alloc_1", OUTBID, 7));
    assertEquals(8, ignored, "no notice was delivered with an equal sequence");
    assertEquals(
        5, await(nodes.deliverNotice(machine.machine(), "alloc_1", OUTBID.withdrawn(), 5)));
    assertEquals(withdrawn, notice());

    assertEquals(8, await(nodes.deliverNotice(machine.machine(), "alloc_1", OUTBID, 8)));
    assertTrue(notice().contains("\"state\":\"given\""), notice());
  }

  @Test
  void aMachineThatFailsInBetweenIsToldAgainAndTheFileIsReplaced() throws Exception {
    LocalMachine machine = machine("n1");
    SshNodes nodes = nodes(new Setting());
    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));
    Files.createSymbolicLink(run("n1").resolve("notice.json"), keys("n1"));
    Files.createDirectory(mark("n1").resolveSibling("allocation.told.new"));

    await(nodes.deliverNotice(machine.machine(), "alloc_1", OUTBID, 5));

    assertTrue(notice().contains("\"state\":\"given\""), notice());
    assertEquals(ADA + "\n", Files.readString(keys("n1")));
    assertEquals(
        List.of(new Holding("n1", "alloc_1")), await(nodes.held(List.of(machine.machine()))));
    Files.delete(mark("n1").resolveSibling("allocation.told.new"));
    await(nodes.deliverNotice(machine.machine(), "alloc_1", OUTBID, 6));
    assertTrue(notice().contains("\"sequence\":6"), notice());
  }

  @Test
  void aNoticeForAnotherAllocationIsRefusedAndNothingIsWritten() throws Exception {
    LocalMachine machine = machine("n1");
    SshNodes nodes = nodes(new Setting());
    await(nodes.provision(machine.machine(), "alloc_2", List.of(ADA), EIGHT));

    NodeFailureException failure =
        fails("another allocation", nodes.deliverNotice(machine.machine(), "alloc_1", OUTBID, 9));

    assertTrue(failure.isHeldByAnother());
    assertFalse(Files.exists(run("n1").resolve("notice.json")));
    await(nodes.reclaim(machine.machine(), "alloc_2"));
    fails("another allocation", nodes.deliverNotice(machine.machine(), "alloc_2", OUTBID, 10));
  }

  /** All connections are in use by other calls, and a notice does not wait for them. */
  @Test
  void aNoticeWaitsForNoReclaimOfOtherMachines() throws Exception {
    Setting setting = new Setting();
    setting.concurrent = 1;
    Path go = root.resolve("go");
    setting.wipe = "until [ -e " + go + " ]; do sleep 0.05; done";
    LocalMachine machine = machine("n1");
    LocalMachine other = machine("n2");
    SshNodes nodes = nodes(setting);
    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));
    Future<?> reclaim = nodes.reclaim(other.machine(), "alloc_2");
    eventually("the wipe to begin", () -> Files.exists(lock("n2")));

    await(nodes.deliverNotice(machine.machine(), "alloc_1", OUTBID, 5));

    assertFalse(reclaim.isComplete());
    Files.createFile(go);
    await(reclaim);
  }

  /** The keys of a gang's node are written last, and its preparation may be slow. */
  @Test
  void aCallWithoutKeysThatComesLateTakesNoneAway() throws Exception {
    LocalMachine machine = machine("n1");
    SshNodes nodes = nodes(new Setting());
    await(nodes.provision(machine.machine(), "alloc_1", List.of(), EIGHT));
    assertEquals("", Files.readString(keys("n1")));
    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));

    await(nodes.provision(machine.machine(), "alloc_1", List.of(), EIGHT));

    assertEquals(ADA + "\n", Files.readString(keys("n1")));
    await(nodes.reclaim(machine.machine(), "alloc_1"));
    await(nodes.provision(machine.machine(), "alloc_2", List.of(), EIGHT));
    assertEquals("", Files.readString(keys("n1")));
  }

  @Test
  void aCallThatComesAfterTheReclaimLetsNobodyInAgain() throws Exception {
    LocalMachine machine = machine("n1");
    SshNodes nodes = nodes(new Setting());
    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));
    await(nodes.reclaim(machine.machine(), "alloc_1"));

    NodeFailureException failure =
        fails("n1", nodes.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));

    assertTrue(failure.isHeldByAnother());
    assertFalse(Files.exists(keys("n1")));
    assertFalse(Files.exists(mark("n1")));
    await(nodes.provision(machine.machine(), "alloc_2", List.of(BEN), EIGHT));
    assertEquals(BEN + "\n", Files.readString(keys("n1")));
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

    await(nodes.provision(machine.machine(), "alloc_1", lines, EIGHT));

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
      fails("key lines", nodes.provision(machine.machine(), "alloc_1", List.of(line), EIGHT));
    }
    fails("allocation id", nodes.provision(machine.machine(), "a b", List.of(ADA), EIGHT));
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

    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));

    assertEquals("it's n1 n1 alloc_1\n", Files.readString(root.resolve("prepared")));
  }

  @Test
  void anAdminWhoIsNotRootWorksThroughSudo() throws Exception {
    LocalMachine machine = machine("n1");
    Setting setting = new Setting();
    setting.admin = "ops";
    setting.prepare = "test -n \"$BOURSE_SUDO\"";

    await(nodes(setting).provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));

    assertEquals(ADA + "\n", Files.readString(keys("n1")));
  }

  @Test
  void aPrepareCommandCanReportThatTheKubernetesClusterRefusesTheNode() throws Exception {
    LocalMachine machine = machine("n1");
    Setting setting = new Setting();
    setting.prepare = "exit 113";

    NodeFailureException failure =
        fails(
            "the Kubernetes cluster refused the node",
            nodes(setting).provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));

    assertTrue(failure.isJoinRefused() && !failure.isPassing() && !failure.isUnfit());
    assertFalse(Files.exists(keys("n1")));
  }

  @Test
  void aFailedPrepareCommandLetsNobodyInAndKeepsTheMark() throws Exception {
    LocalMachine machine = machine("n1");
    Setting setting = new Setting();
    setting.prepare = "exit 3";
    SshNodes nodes = nodes(setting);

    fails("prepare", nodes.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));

    assertFalse(Files.exists(keys("n1")));
    assertEquals(
        List.of(new Holding("n1", "alloc_1")), await(nodes.held(List.of(machine.machine()))));
    assertEquals(1, machine.connections.get() - 1, "a lasting failure is not retried");
  }

  @Test
  void aMachineThatHoldsAnotherAllocationIsLeftAsItIs() throws Exception {
    LocalMachine machine = machine("n1");
    SshNodes nodes = nodes(new Setting());
    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));

    NodeFailureException refused =
        fails(
            "another allocation",
            nodes.provision(machine.machine(), "alloc_2", List.of(BEN), EIGHT));

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
    // A session may write keys again just before it ends.
    setting.endSessions = "echo end" + state + "; echo " + BEN + " >" + keys("n1");
    setting.wipe = "echo wipe" + state;
    SshNodes nodes = nodes(setting);
    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));

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
    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));
    await(nodes.reclaim(machine.machine(), "alloc_1"));
    await(nodes.provision(machine.machine(), "alloc_2", List.of(BEN), EIGHT));

    NodeFailureException late =
        fails("another allocation", nodes.reclaim(machine.machine(), "alloc_1"));

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
    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));

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
    await(nodes.provision(machine.machine(), "alloc_2", List.of(ADA), EIGHT));
    assertEquals(BEN, Files.readString(precious.resolve("authorized_keys")));
    assertEquals(ADA + "\n", Files.readString(keys("n1")));
  }

  @Test
  void aKeysFileThatATenantMadeADirectoryIsReplaced() throws Exception {
    LocalMachine machine = machine("n1");
    SshNodes nodes = nodes(new Setting());
    Files.createDirectories(keys("n1").resolve("deeper"));

    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));

    assertEquals(ADA + "\n", Files.readString(keys("n1")));
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
    await(nodes.provision(one.machine(), "alloc_1", List.of(ADA), EIGHT));

    List<Holding> held =
        await(nodes.held(List.of(one.machine(), two.machine(), down.machine(), broken.machine())));

    assertEquals(Set.of(new Holding("n1", "alloc_1"), new Holding("n2", null)), Set.copyOf(held));
    fails("no machine answered", nodes.held(List.of(down.machine())));
    assertEquals(List.of(), await(nodes.held(List.of())));
  }
}
