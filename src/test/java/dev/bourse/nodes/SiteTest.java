package dev.bourse.nodes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.traces.Traces;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.Yaml;

/**
 * The ssh provider against real OpenSSH: {@code scripts/site-up DIR 3}, then {@code mvn test
 * -Dtest=SiteTest -Dbourse.site=DIR}. Needs root, so it is left out where no site is named.
 */
@EnabledIfSystemProperty(named = "bourse.site", matches = ".+")
@SuppressWarnings("NullAway.Init")
class SiteTest {
  private final Vertx vertx = Vertx.vertx();
  private final List<Machine> machines = new ArrayList<>();
  private String tenant = "";
  private SshNodes nodes;
  private JsonObject ssh;

  @TempDir Path keys;

  @BeforeEach
  void readTheInventory() throws Exception {
    Path file = Path.of(System.getProperty("bourse.site"), "inventory.yaml");
    Map<String, Object> map = new Yaml().load(Files.readString(file));
    JsonObject inventory = new JsonObject(map);
    ssh = inventory.getJsonObject("ssh");
    JsonArray rows = inventory.getJsonArray("nodes");
    for (int i = 0; i < rows.size(); i++) {
      JsonObject row = rows.getJsonObject(i);
      machines.add(
          new Machine(
              row.getString("id"),
              row.getString("public_ip"),
              row.getInteger("ssh_port"),
              row.getString("host_key")));
    }
    tenant = ssh.getString("tenant_user");
    nodes = nodes(ssh.getString("prepare_command"), ssh.getString("wipe_command"), 60_000);
    run("ssh-keygen -q -t ed25519 -C ada -f " + keys.resolve("ada") + " -N", "");
    run("ssh-keygen -q -t ecdsa -C eve -f " + keys.resolve("eve") + " -N", "");
  }

  private SshNodes nodes(String prepare, String wipe, long commandMillis) {
    return new SshNodes(
        vertx,
        new SshConfig(
            ssh.getString("admin_user"),
            Path.of(ssh.getString("identity_file")),
            tenant,
            ssh.getString("authorized_keys_path"),
            ssh.getString("mark_path"),
            prepare,
            ssh.getString("end_sessions_command"),
            wipe,
            10_000,
            commandMillis,
            3,
            100,
            16,
            64),
        Traces.OFF);
  }

  @AfterEach
  void close() throws Exception {
    for (Holding holding : await(nodes.held(machines))) {
      String mark = holding.allocationId();
      for (Machine machine : machines) {
        if (machine.nodeId().equals(holding.nodeId())) {
          await(nodes.reclaim(machine, mark == null ? "alloc_1" : mark));
        }
      }
    }
    await(nodes.close());
    await(vertx.close());
  }

  @Test
  void aGrantLetsItsKeyInAndAReclaimDropsTheLiveSessionAndLetsNobodyIn() throws Exception {
    Machine machine = machines.get(0);
    Machine other = machines.get(1);
    List<String> ada = List.of(Files.readString(keys.resolve("ada.pub")).strip());
    await(nodes.provision(machine, "alloc_1", ada));
    await(nodes.provision(machine, "alloc_1", ada));
    await(nodes.provision(other, "alloc_2", ada));

    assertEquals(tenant, login(machine, "ada", "id -un"));
    assertNotEquals(tenant, login(machine, "eve", "id -un"));
    assertEquals(
        List.of(new Holding("node-1", "alloc_1"), new Holding("node-2", "alloc_2")),
        await(nodes.held(List.of(machine, other))).stream()
            .sorted((a, b) -> a.nodeId().compareTo(b.nodeId()))
            .toList());

    Process live = ssh(machine, "ada", "echo in; sleep 600");
    Process elsewhere = ssh(other, "ada", "echo in; sleep 600");
    assertEquals('i', live.getInputStream().read());
    assertEquals('i', elsewhere.getInputStream().read());
    long start = System.nanoTime();
    await(nodes.reclaim(machine, "alloc_1"));
    long millis = (System.nanoTime() - start) / 1_000_000;
    assertTrue(live.waitFor(60, TimeUnit.SECONDS), "the live session survived the reclaim");
    System.out.println("reclaim took " + millis + " ms");

    assertTrue(elsewhere.isAlive(), "another machine's session was ended too");
    assertNotEquals(tenant, login(machine, "ada", "id -un"));
    assertEquals(List.of(new Holding("node-1", null)), await(nodes.held(List.of(machine))));
    Path data = Path.of(System.getProperty("bourse.site"), "node-1", "data");
    assertFalse(Files.exists(data), "not wiped");
    await(nodes.reclaim(machine, "alloc_1"));
    elsewhere.destroyForcibly().waitFor();
  }

  @Test
  void aRunWhoseCallerIsGoneIsAdoptedByTheNextOne() throws Exception {
    Machine machine = machines.get(0);
    Path log = keys.resolve("log");
    Path go = keys.resolve("go");
    String prepare = "echo run >>" + log + "; until test -e " + go + "; do sleep 0.05; done";
    List<String> ada = List.of(Files.readString(keys.resolve("ada.pub")).strip());
    SshNodes first = nodes(prepare, "true", 60_000);
    Future<Void> abandoned = first.provision(machine, "alloc_1", ada);
    SshNodesFixture.eventually("the prepare command to begin", () -> Files.exists(log));
    await(first.close());
    assertTrue(abandoned.failed());

    SshNodes second = nodes(prepare, "true", 60_000);
    Future<Void> adopted = second.provision(machine, "alloc_1", ada);
    assertFalse(adopted.isComplete());
    Files.createFile(go);
    await(adopted);
    await(second.close());

    assertEquals(1, Files.readAllLines(log).size());
    assertEquals(tenant, login(machine, "ada", "id -un"));
  }

  @Test
  void aWipePastItsTimeIsEndedWithItsChildrenAndCanBeDoneAgain() throws Exception {
    Machine machine = machines.get(0);
    Path pid = keys.resolve("pid");
    String wipe = "test -e " + pid + " || { sleep 600 & echo $! >" + pid + "; wait; }";
    SshNodes hasty = nodes("", wipe, 1_000);

    SshNodesFixture.fails("did not end within", hasty.reclaim(machine, "alloc_1"));
    long child = Long.parseLong(Files.readString(pid).strip());
    SshNodesFixture.eventually(
        "the wipe's child to be ended",
        () -> !Files.exists(Path.of("/proc/" + child)) || isZombie(child));
    await(hasty.reclaim(machine, "alloc_1"));
    await(hasty.close());
  }

  @Test
  void aFullDiskDropsTheLiveSessionAndLetsNobodyInAllTheSame() throws Exception {
    Machine machine = machines.get(0);
    Path home = Path.of(System.getProperty("bourse.site"), "node-1");
    List<String> ada = List.of(Files.readString(keys.resolve("ada.pub")).strip());
    List<Path> disks = List.of(home.resolve("state"), home.resolve("keys"));
    for (Path disk : disks) {
      Files.createDirectories(disk);
      run("mount -t tmpfs -o size=64k,mode=711 tmpfs", disk.toString());
    }
    try {
      await(nodes.provision(machine, "alloc_1", ada));
      Process live = ssh(machine, "ada", "echo in; sleep 600");
      assertEquals('i', live.getInputStream().read());
      for (Path disk : disks) {
        fill(disk.resolve("filler"));
      }

      await(nodes.reclaim(machine, "alloc_1"));

      assertTrue(live.waitFor(60, TimeUnit.SECONDS), "the live session survived the reclaim");
      assertNotEquals(tenant, login(machine, "ada", "id -un"));
      assertEquals(List.of(new Holding("node-1", null)), await(nodes.held(List.of(machine))));
    } finally {
      for (Path disk : disks) {
        run("umount -l", disk.toString());
      }
    }
  }

  /** Until there is no room for another byte. */
  private static void fill(Path file) throws IOException {
    try (OutputStream out = Files.newOutputStream(file)) {
      for (int i = 0; i < 1 << 20; i++) {
        out.write(0);
      }
      throw new AssertionError(file + " takes all there is");
    } catch (IOException full) {
      assertTrue(String.valueOf(full.getMessage()).contains("No space left"), full.toString());
    }
  }

  private static boolean isZombie(long pid) throws IOException {
    return Files.readString(Path.of("/proc/" + pid + "/stat")).contains(") Z ");
  }

  private String login(Machine machine, String key, String command) throws Exception {
    Process process = ssh(machine, key, command);
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(process.waitFor(60, TimeUnit.SECONDS));
    return output.strip();
  }

  private Process ssh(Machine machine, String key, String command) throws IOException {
    Path known = keys.resolve("known-" + machine.nodeId());
    Files.writeString(
        known,
        "[" + machine.publicIp() + "]:" + machine.sshPort() + " " + machine.hostKey() + "\n");
    List<String> words =
        new ArrayList<>(List.of("ssh", "-F", "none", "-i", keys.resolve(key).toString(), "-p"));
    words.addAll(List.of(Integer.toString(machine.sshPort()), "-o", "BatchMode=yes", "-o"));
    words.addAll(List.of("IdentitiesOnly=yes", "-o", "UserKnownHostsFile=" + known));
    words.addAll(List.of(tenant + "@" + machine.publicIp(), command));
    return new ProcessBuilder(words).redirectErrorStream(true).start();
  }

  private static void run(String command, String last) throws Exception {
    List<String> words = new ArrayList<>(List.of(command.split(" ", -1)));
    words.add(last);
    assertEquals(0, new ProcessBuilder(words).inheritIO().start().waitFor());
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }
}
