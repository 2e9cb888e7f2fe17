package dev.bourse.client.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.AdminRun;
import dev.bourse.testing.AnswerLosingProxy;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.MemberShell;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A team's commands: keys, up, status, down. */
@OneEngine("the command line does not depend on the store")
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class CapacityCommandsTest {
  private static RunningBourse bourse;

  private TestMarket market;
  private ClusterClient cluster;

  @TempDir private Path home;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.withMarkets(20, "market.tick=200ms", "capacity.write-cadence=0");
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  @BeforeEach
  void takeMarket() {
    market = bourse.market();
    cluster = market.redA();
  }

  private MemberShell shell() {
    return unhurried().inRealTime();
  }

  /** A shell whose waits take no time and can run code. */
  private MemberShell unhurried() {
    return new MemberShell(home)
        .with("BOURSE_URL", bourse.service().baseUrl())
        .with("BOURSE_TOKEN", bourse.secret(market.red(), "orgwide"))
        .with("BOURSE_CLUSTER", cluster.cluster())
        .with("HOME", home.toString());
  }

  private MemberShell withKey() throws IOException {
    Path key = home.resolve("id.pub");
    Files.writeString(key, RunningBourse.keyLine());
    MemberShell shell = shell();
    shell.run("keys", "add", key.toString()).ended(0).says("SHA256:");
    return shell;
  }

  private JsonObject declared() {
    return cluster.state().getJsonObject("declared");
  }

  @Test
  void anHourOfATeamFromItsKeyToTheEnd() throws IOException {
    MemberShell shell = withKey();
    Instant before = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    shell
        .run("up", "--gpus", "16", "--max-price", "2.50", "--until", "8h", "--yes", "--wait")
        .ended(0)
        .says("0 GPUs declared, 16 from now on (2 nodes) at no more than $2.50 a GPU-hour")
        .says("at most $40.00 an hour until ")
        .says(" in all")
        .says("declared, version 1\n")
        .says("every node is active");
    Instant until = Instant.parse(declared().getString("until"));
    assertTrue(!until.isBefore(before.plus(8, ChronoUnit.HOURS)), until::toString);
    assertEquals(2, cluster.active().size());
    shell
        .run("status")
        .ended(0)
        .says(cluster.cluster() + "-0")
        .says(cluster.cluster() + "-1")
        .says("16");
    assertEquals(cluster.cluster() + "\n", shell.run("status", "-o", "name").ended(0).out());
    shell.run("logs", "-n", "3").ended(0).says("granted " + cluster.active().get(0));
    shell
        .run("down", "--yes")
        .ended(0)
        .says("loses 2 nodes and all data on them: ")
        .says("declared, version 2\n");
    assertEquals(0, declared().getInteger("max_gpus"));
    shell.run("down", "--yes").ended(1).says("declares nothing");
  }

  @Test
  void theStatusShowsClustersOfBothKindsAndTheirCost() throws IOException {
    MemberShell shell = withKey().with("BOURSE_CLUSTER", "");
    String k8s = market.red() + "-k8s";
    shell
        .run("up", "-c", cluster.cluster(), "--gpus", "8", "--max-price", "2", "-y", "--wait")
        .ended(0);
    shell
        .run(
            "k8s",
            "set-bid",
            "--cluster",
            k8s,
            "--limit-price-per-gpu-hour",
            "3",
            "--max-gpus",
            "8",
            "--expected-version",
            "0",
            "--yes")
        .ended(0);
    RunningBourse.until(
        "its node is active",
        () ->
            shell.run("status", "-c", k8s).ended(0).out().contains(market.name() + "-000")
                && shell.run("status", "-c", k8s).out().contains("active"));
    shell
        .run("status")
        .ended(0)
        .says(cluster.cluster())
        .says(k8s)
        .says("all clusters: $24.00 an hour");
    shell
        .typing("n")
        .run(
            "k8s",
            "set-bid",
            "--cluster",
            k8s,
            "--limit-price-per-gpu-hour",
            "3",
            "--max-gpus",
            "0",
            "--expected-version",
            "1")
        .ended(1)
        .says("loses 1 node and all data on it: " + market.name() + "-000");
  }

  /** The stored names of the service. */
  private JsonObject names() throws IOException {
    return new JsonObject(Files.readString(home.resolve("bourse/names.json")))
        .getJsonObject("profiles")
        .getJsonObject(bourse.service().baseUrl());
  }

  @Test
  void namesThatCommandsSawAreKeptForAShellToOffer() throws IOException {
    MemberShell shell = withKey();
    shell.run("whoami").ended(0);
    assertEquals("vm", names().getJsonObject("clusters").getString(cluster.cluster()));
    shell.run("up", "--gpus", "8", "--max-price", "2", "--yes", "--wait").ended(0);
    JsonObject node = names().getJsonArray("nodes").getJsonObject(0);
    assertEquals(cluster.cluster() + "-0", node.getString("name"));
    assertEquals(cluster.active(), List.of(node.getString("address")));
    cluster.declare(0, 2);
    shell.run("status").ended(0);
    assertEquals(0, names().getJsonArray("nodes").size());
  }

  @Test
  void nothingIsDeclaredThatNobodyAgreedTo() throws IOException {
    MemberShell shell = withKey();
    String[] up = {"up", "--gpus", "8", "--max-price", "2"};
    shell.run(up).ended(2).says("nothing was done: there is no terminal to ask on. Add --yes");
    shell.typing("n").run(up).ended(1).says("nothing was done");
    shell.run("up", "--gpus", "8", "--max-price", "2", "--dry-run").ended(0).says("$16.00 an hour");
    JsonObject preview =
        new JsonObject(
            shell.run("up", "--gpus", "8", "--max-price", "2", "--dry-run", "-o", "json").out());
    assertEquals(1, preview.getInteger("nodes_won"));
    assertEquals(0, cluster.version());
    shell.typing("y").run(up).ended(0);
    assertEquals(1, cluster.version());
  }

  @Test
  void whatAnOperationsCommandTakesAwayIsNamedAndAsked() throws IOException {
    MemberShell shell = withKey();
    shell.run("up", "--gpus", "8", "--max-price", "2", "-y", "--wait").ended(0);
    String node = cluster.active().get(0);
    String[] declare = {
      "capacity",
      "declare",
      "--max-gpus",
      "0",
      "--max-price-per-gpu-hour",
      "2",
      "--expected-version",
      "1"
    };
    shell.run(declare).ended(2).says("loses 1 node and all data on it: " + node);
    shell.run("nodes", "swap", "--node", node).ended(2).says("Swaps node " + node);
    String key = shell.run("keys", "list", "-o", "name").ended(0).out().strip();
    shell.run("keys", "revoke", key).ended(2).says("Revokes ssh key ").says("(SHA256:");
    assertEquals(List.of(node), cluster.active());
    assertEquals(1, cluster.version());
    shell().typing("n").run(declare).ended(1).says("nothing was done");
    shell().typing("y").run(declare).ended(0);
    assertEquals(2, cluster.version());
  }

  /** Keeps the pool from granting nodes. */
  private void pause() {
    AdminRun paused =
        AdminRun.on(
            bourse,
            "pools",
            "update",
            market.name(),
            "--pause-reason",
            "test",
            "-y",
            "--paused",
            "true");
    assertEquals(0, paused.exitCode());
  }

  @Test
  void nodesGrantedWhileTheQuestionIsOpenAreAskedAbout() throws IOException {
    MemberShell shell = withKey();
    String[] resume = {"pools", "update", market.name(), "-y", "--paused", "false"};
    pause();
    shell.run("up", "--gpus", "16", "--max-price", "2", "-y").ended(0);
    shell
        .typing("y")
        .asked(
            () -> {
              assertEquals(0, AdminRun.on(bourse, resume).exitCode());
              cluster.untilHeld(2);
            })
        .run("down")
        .ended(0)
        .says("More is lost than when you were asked:")
        .says("loses 2 nodes and all data on them: ");
    assertEquals(0, declared().getInteger("max_gpus"));
  }

  @Test
  void aTokenThatMayOnlyWriteIsAskedWithoutTheLosses() throws IOException {
    withKey().run("up", "--gpus", "8", "--max-price", "2", "-y", "--wait").ended(0);
    String secret =
        AdminRun.on(
                bourse,
                "tokens",
                "mint",
                market.red(),
                "--name",
                "writer",
                "--scopes",
                "capacity:write,bid:write",
                "-o",
                "json")
            .json()
            .getString("token");
    MemberShell writer = shell().with("BOURSE_TOKEN", secret);
    String[] declare = {"capacity", "declare", "--max-gpus", "0", "--max-price-per-gpu-hour", "2"};
    writer.run(declare).ended(2).says("What is lost cannot be shown: ").says("capacity:read");
    assertEquals(1, cluster.version());
    writer.typing("y").run(declare).ended(0);
    assertEquals(2, cluster.version());
    writer
        .with("BOURSE_CLUSTER", market.red() + "-k8s")
        .typing("y")
        .run(
            "k8s",
            "set-bid",
            "--limit-price-per-gpu-hour",
            "2",
            "--max-gpus",
            "0",
            "--expected-version",
            "0")
        .ended(0)
        .says("What is lost cannot be shown: ")
        .says("bid:read");
  }

  @Test
  void aDeclarationWithoutAVersionIsSentWithTheOneThatWasAskedAbout() throws IOException {
    withKey().run("up", "--gpus", "16", "--max-price", "2", "-y").ended(0);
    AtomicInteger questions = new AtomicInteger();
    shell()
        .typing("y")
        .asked(
            () -> {
              if (questions.incrementAndGet() == 1) {
                cluster.declare(3, 2);
              }
            })
        .run("capacity", "declare", "--max-gpus", "8")
        .ended(1)
        .says("another writer changed the cluster first: it is at version 2");
    assertEquals(24, declared().getInteger("max_gpus"));
  }

  @Test
  void anEndThatTakesAllNodesIsTold() throws IOException {
    MemberShell shell = withKey();
    shell.run("up", "--gpus", "8", "--max-price", "2", "-y", "--wait").ended(0);
    shell
        .run("up", "--until", "1m")
        .ended(2)
        .says("the node is given back, with all data on it, at ");
    shell.run("up", "--max-spend", "0.02").ended(2).says("once they have cost $0.02");
    shell
        .run(
            "capacity",
            "declare",
            "--max-gpus",
            "8",
            "--max-price-per-gpu-hour",
            "2",
            "--max-spend-usd",
            "0.02")
        .ended(2)
        .says("once they have cost $0.02");
    assertEquals(1, cluster.version());
  }

  @Test
  void whatIsLeftOutStaysAsItIsDeclared() throws IOException {
    MemberShell shell = withKey();
    shell.run("up", "--gpus", "8").ended(2).says("--max-price: nothing is declared yet");
    shell.run("up", "--max-price", "2").ended(2).says("--gpus: nothing is declared yet");
    shell
        .run(
            "up",
            "--gpus",
            "16",
            "--min-gpus",
            "16",
            "--max-price",
            "2",
            "--max-spend",
            "100",
            "--auto-swap",
            "-y")
        .ended(0);
    shell.run("up", "--max-price", "2.25", "-y").ended(0);
    assertTrue(declared().getBoolean("auto_swap"));
    assertEquals(16, declared().getInteger("max_gpus"));
    assertEquals(16, declared().getInteger("min_gpus"));
    assertEquals(100, declared().getInteger("max_spend_usd"));
    assertEquals(2.25, declared().getDouble("max_price_per_gpu_hour"));
    shell.run("up", "--min-gpus", "none", "--max-spend", "none", "--no-auto-swap", "-y").ended(0);
    assertFalse(declared().getBoolean("auto_swap"));
    assertEquals(null, declared().getValue("min_gpus"));
    assertEquals(null, declared().getValue("max_spend_usd"));
  }

  @Test
  void partsOfGpusAreNotDeclared() {
    for (String typed : List.of("8.5", "99999999999")) {
      shell()
          .run("up", "--gpus", "16", "--max-price", "2", "--min-gpus", typed, "-y")
          .ended(2)
          .says("--min-gpus: '" + typed + "' is neither a number of GPUs nor none");
    }
  }

  @Test
  void aRefusalIsToldWithTheNextThingToTry() {
    MemberShell shell = shell();
    shell
        .run("up", "--gpus", "8", "--max-price", "2", "-y")
        .ended(1)
        .says("no-ssh-keys: ")
        .says("bourse keys add");
    shell.run("up", "--gpus", "8", "--max-price", "99", "-y").ended(1).says("bourse market feed");
    shell
        .run("up", "--gpus", "8", "--max-price", "2", "--until", "soon", "-y")
        .ended(2)
        .says("--until: 'soon' is neither a time");
    shell.run("status", "-c", "nowhere").ended(1).says("not-found: ");
    shell
        .with("BOURSE_URL", "http://127.0.0.1:1")
        .run("status")
        .ended(3)
        .says("cannot reach http://127.0.0.1:1 (the connection was refused)");
  }

  @Test
  void noMessageNamesAClass() {
    MemberShell shell = shell();
    for (MemberShell.Outcome outcome :
        List.of(
            shell.run("keys", "add", home.resolve("none.pub").toString()),
            shell.run("checkpoint", "push", home.resolve("none").toString()),
            shell.run("status", "--token-file", home.resolve("none").toString()),
            shell.run("status", "--profile", "none"),
            shell.run("status", "--url", "gopher://x"))) {
      assertEquals(2, outcome.exitCode(), outcome.err());
      assertFalse(outcome.err().matches("(?s).*(Exception|java\\.).*"), outcome.err());
    }
  }

  @Test
  void anotherWriterIsNotOverwritten() throws IOException {
    MemberShell shell = withKey();
    MemberShell.Outcome late =
        shell
            .typing("y")
            .asked(() -> cluster.declare(1, 3))
            .run("up", "--gpus", "16", "--max-price", "2");
    late.ended(1).says("another writer changed the cluster first: it is at version 1 by token:");
    assertEquals(8, declared().getInteger("max_gpus"));
  }

  @Test
  void aDeclarationWhoseAnswerIsLostIsMadeOnce() throws Exception {
    withKey();
    try (AnswerLosingProxy proxy = new AnswerLosingProxy(bourse.service().baseUrl(), "PUT")) {
      shell()
          .with("BOURSE_URL", proxy.url())
          .run("up", "--gpus", "8", "--max-price", "2", "-y")
          .ended(0)
          .says("declared, version 1\n");
      assertEquals(1, proxy.lost());
    }
    assertEquals(1, cluster.version());
  }

  @Test
  void aWaitEndsWhenLessIsDeclaredMeanwhile() throws IOException {
    withKey();
    // The nodes may otherwise be active before the command first waits for them.
    pause();
    unhurried()
        .atWait(() -> cluster.declare(1, 3))
        .run("up", "--gpus", "16", "--max-price", "2", "-y", "--wait")
        .ended(1)
        .says("the declaration ended or was replaced meanwhile: 8 GPUs are declared now, not 16");
  }

  @Test
  void aWaitAsksOnWhileTheServiceIsAwayUntilItsEnd() throws IOException {
    withKey();
    // The nodes may otherwise be active before the command first waits for them.
    pause();
    try (AnswerLosingProxy proxy = new AnswerLosingProxy(bourse.service().baseUrl(), "none")) {
      MemberShell waiting = unhurried().with("BOURSE_URL", proxy.url()).atWait(() -> end(proxy));
      waiting
          .run("up", "--gpus", "8", "--max-price", "2", "-y", "--wait", "5m")
          .ended(3)
          .says("cannot reach");
      assertTrue(waiting.waits.size() > 10, waiting.waits::toString);
    }
  }

  private static void end(AnswerLosingProxy proxy) {
    try {
      proxy.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void programsChooseFormAndFields() throws IOException {
    MemberShell shell = withKey();
    assertEquals(
        "clusters:\n- cluster: " + cluster.cluster() + "\n  version: 0\n",
        shell.run("status", "-o", "yaml", "--fields", "cluster,version").ended(0).out());
    shell.run("status", "--fields", "colour").ended(2).says("--fields: there is no 'colour'");
    JsonObject quote =
        new JsonObject(
            shell.run("quote", "--gpus", "8", "--max-price", "2", "-o", "json").ended(0).out());
    assertEquals(1, quote.getInteger("nodes_won"));
    assertEquals(market.red() + "\n", shell.run("whoami", "-o", "name").ended(0).out());
    // The organization and the cluster are known and need not be typed.
    assertEquals(1, shell.run("keys", "list", "-o", "name").ended(0).out().lines().count());
    shell.run("capacity", "show", "--fields", "cluster").ended(0).says(cluster.cluster());
  }

  @Test
  void theFeedIsListedWithoutSigningIn() {
    MemberShell nobody = new MemberShell(home).with("BOURSE_URL", bourse.service().baseUrl());
    nobody.run("feed", "list").ended(0).says("none");
    nobody.run("checkpoint", "pull", "ckp_none").ended(1).says("not-found: ");
    nobody.run("status").ended(2).says("you are not signed in");
  }

  @Test
  void nodesAreWrittenForSshWithTheirHostKeys() throws IOException {
    MemberShell shell = withKey();
    shell.run("up", "--gpus", "8", "--max-price", "2", "-y", "--wait").ended(0);
    assertEquals(cluster.cluster() + "-0\n", shell.run("ssh-config", "--install").ended(0).out());
    shell.run("ssh-config", "--install").ended(0);
    String own = Files.readString(home.resolve(".ssh/config"));
    assertEquals(1, own.lines().filter(line -> line.startsWith("Include ")).count(), own);
    String config = Files.readString(home.resolve("bourse/ssh_config"));
    assertTrue(
        config.contains("Host " + cluster.cluster() + "-0\n  HostName " + cluster.active().get(0)),
        config);
    shell
        .run("ssh", "7")
        .ended(2)
        .says("there is no active node '7'; there are " + cluster.cluster() + "-0");
    shell.run("cp", "a", "b").ended(2).says("write NODE:PATH");
  }
}
