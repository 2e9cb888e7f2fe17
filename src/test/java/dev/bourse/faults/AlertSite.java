package dev.bourse.faults;

import dev.bourse.core.Ports;
import dev.bourse.faults.FaultyProxy.Fault;
import dev.bourse.nodes.LoopbackMachine;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One process on the embedded store, with a clock that can be set and a machine behind a network,
 * and the faults that alerts tell of there.
 */
final class AlertSite {
  private static final String NODE = "north-1";
  private static final String CLUSTER = "north-train";

  /** One of the demo that nobody else declares for. */
  private static final String IDLE = "acme-batch";

  /** As of {@link AlertReplicas}; a clock is confirmed after a third of what the rule waits. */
  private static final List<String> SETTINGS =
      List.of(
          "store.url=sqlite",
          "market.tick=500ms",
          "store.probe-interval=500ms",
          "store.away-after=6s",
          "time.confirm-after=5s",
          "billing.check-interval=1s",
          "billing.settle=1ms",
          "nodes.probe-interval=3s",
          "nodes.ssh.retry-delay=100ms",
          "nodes.ssh.connect-timeout=2s",
          // They are this machine, and nobody's but this run's.
          "nodes.ssh.end-sessions-command=true");

  /** More hours than usage may be behind. */
  private static final long HOURS_AHEAD = 6;

  private static final int DISK_MIB = 64;

  /** At a time, between two looks at the alerts. */
  private static final int WRITES = 50;

  private static final int FILE_BYTES = 100_000;

  private final FaultWorld world;
  private final Mount disk;
  private final boolean isMounted;
  private final ServiceProcess only;
  private final LibfaketimeClock clock;
  private final FaultyProxy network;
  private final Path machines;
  private final int port = Ports.free();
  private String item = "";
  private final Random random;
  private int steps;

  AlertSite(Run run, String name)
      throws IOException, InterruptedException, GeneralSecurityException {
    world = new FaultWorld(run, name);
    random = new Random(run.seed());
    disk = Mount.inMemory(world.folder().resolve("disk"), DISK_MIB);
    isMounted = Mount.impossible(world.folder()).isEmpty() && disk.mount();
    machines = Files.createDirectories(world.folder().resolve("machines"));
    LoopbackMachine machine = new LoopbackMachine(NODE, machines);
    Files.createDirectories(scratch());
    network = new FaultyProxy(machine.port(), run.seed());
    List<String> settings = new ArrayList<>(SETTINGS);
    settings.add("management.port=" + port);
    settings.add("world=" + writeWorld(machine.hostKey()));
    settings.add("nodes.ssh.identity-file=" + machine.adminKey());
    // So that nothing of anybody's on this computer is the tenant's.
    settings.add("nodes.ssh.tenant-user=bourse-nobody-here");
    settings.add("nodes.ssh.own-ids=false");
    settings.add("nodes.ssh.authorized-keys-path=" + machines + "/{node}/keys/authorized_keys");
    settings.add("nodes.ssh.mark-path=" + machines + "/{node}/state/allocation");
    settings.add("nodes.ssh.wipe-command=find " + machines + "/{node}/scratch -mindepth 1 -delete");
    only = world.add("only", disk.folder(), settings);
    clock = new LibfaketimeClock(world.folder(), only);
    // Published files are taken while some hundred MiB are free: they have a disk of their own.
    Path files = Files.createDirectories(world.folder().resolve("files"));
    Files.createSymbolicLink(
        Files.createDirectories(only.data()).resolve("checkpoints"), files.toAbsolutePath());
  }

  private Path scratch() {
    return machines.resolve(NODE).resolve("scratch");
  }

  private Path writeWorld(String hostKey) throws IOException {
    return Files.writeString(
        world.folder().resolve("world.yaml"),
        """
        pools:
          - name: north-h100
            site: north
            provider: ssh
            gpu_vendor: NVIDIA
            gpu_model: H100
            gpus_per_node: 8
            reserve_price_per_gpu_hour: 1.00
            max_price_cap_per_gpu_hour: 10.00
            ssh_user: tenant
            ssh_port: 22
            nodes:
              - {id: %s, public_ip: 127.0.0.1, ssh_port: %d, host_key: %s}
        """
            .formatted(NODE, network.port(), hostKey));
  }

  /** Starts it, has a cluster hold the machine, and publishes a file. */
  void start() throws IOException, InterruptedException {
    world.startProcesses();
    operate(
        "POST",
        "/api/operator/clusters",
        new JsonObject().put("name", CLUSTER).put("org", "acme").put("pool", "north-h100"));
    JsonObject key = new JsonObject().put("name", "laptop").put("public_key", Keys.next(random));
    world.ask("acme", "POST", "/api/vm/orgs/acme/ssh-keys", key);
    declare(8);
    publish();
    FaultWorld.until(
        NODE + " is prepared",
        60,
        () -> capacity(CLUSTER).encode().contains("\"state\":\"active\""));
  }

  /** The management port of the process. */
  List<Integer> ports() {
    return List.of(port);
  }

  /** What cannot be tried on this machine, and why. */
  List<String> leftOut() {
    return isMounted ? List.of() : List.of("a full disk: this machine lets nobody mount one");
  }

  /** Faults of a machine and of a published file, and restarts. */
  List<AlertTrial> machineTrials() {
    return List.of(
        AlertTrial.of(
            "a machine cut off",
            Set.of("BourseNodesUnreachable"),
            Set.of(),
            () -> network.set(Fault.RESET),
            () -> network.set(Fault.NONE)),
        AlertTrial.of(
            "a machine whose scratch disk is gone, which so cannot be cleaned",
            Set.of("BourseNodesQuarantined"),
            Set.of(),
            () -> {
              Files.move(scratch(), machines.resolve("gone"));
              declare(0);
            },
            () -> {
              Files.move(machines.resolve("gone"), scratch());
              operate("POST", "/api/operator/nodes/" + NODE + "/retry", null);
            }),
        AlertTrial.of(
            "a byte of a published file changed on the disk",
            Set.of("BourseFilesDamaged"),
            Set.of(),
            this::changeFile,
            this::changeFile),
        new AlertTrial(
            "a process killed and started over and over",
            Set.of("BourseRestarts"),
            AlertReplicas.AT_STARTS,
            AlertTrial.Step.NONE,
            this::restart,
            AlertTrial.Step.NONE));
  }

  /** Faults of the clock and of the store. */
  List<AlertTrial> storeTrials() {
    List<AlertTrial> trials = new ArrayList<>();
    trials.add(
        new AlertTrial(
            "a clock set over and over, hours ahead",
            Set.of("BourseClockUnconfirmed", "BourseUsageBehind"),
            Set.of(),
            AlertTrial.Step.NONE,
            this::setClock,
            AlertTrial.Step.NONE));
    trials.add(
        AlertTrial.of(
            "usage refused by the database, and a clock set some hours ahead once",
            Set.of("BourseUsageUnposted"),
            Set.of("BourseUsageBehind"),
            () -> {
              execute(
                  "CREATE TRIGGER refuse BEFORE INSERT ON usage_line"
                      + " BEGIN SELECT RAISE(ABORT, 'refused'); END");
              clock.set(TimeUnit.HOURS.toSeconds(HOURS_AHEAD + 2));
            },
            () -> execute("DROP TRIGGER refuse")));
    if (isMounted) {
      trials.add(
          new AlertTrial(
              "a full disk",
              Set.of("BourseStoreAway", "BourseCommitsFail"),
              Set.of("BourseErrors"),
              () -> FullDisk.fill(filler(), 1),
              this::writeMuch,
              () -> Files.delete(filler())));
    }
    return trials;
  }

  /** Until the store's files have no room left in them either; refused from then on. */
  private void writeMuch() throws IOException {
    int version = capacity(IDLE).getInteger("version");
    for (int i = 0; i < WRITES; i++) {
      Http.Answer answer =
          Http.send(
              String.valueOf(only.baseUrl()),
              "PUT",
              "/api/vm/capacity",
              world.token("acme"),
              declaration(IDLE, 0, 3 + i % 2, version));
      version = answer.body().getInteger("version", version);
    }
  }

  private Path filler() {
    return disk.folder().resolve("filler");
  }

  private void operate(String method, String path, @Nullable JsonObject body) {
    Http.ok(String.valueOf(only.baseUrl()), method, path, world.operatorToken(), body);
  }

  private JsonObject capacity(String cluster) {
    return world.ask("acme", "GET", "/api/vm/capacity?cluster=" + cluster);
  }

  private void declare(int gpus) {
    int version = capacity(CLUSTER).getInteger("version");
    world.ask("acme", "PUT", "/api/vm/capacity", declaration(CLUSTER, gpus, 3, version));
  }

  private static JsonObject declaration(String cluster, int gpus, int price, int version) {
    return new JsonObject()
        .put("cluster", cluster)
        .put("max_gpus", gpus)
        .put("max_price_per_gpu_hour", price)
        .put("expected_version", version);
  }

  private void publish() throws IOException {
    String token = world.memberToken("acme", "alice");
    String base = String.valueOf(only.baseUrl());
    byte[] bytes = new byte[FILE_BYTES];
    random.nextBytes(bytes);
    Path file = Files.write(world.folder().resolve("file"), bytes);
    item =
        Http.ok(
                base,
                "POST",
                "/api/checkpoints",
                token,
                new JsonObject()
                    .put("title", "weights")
                    .put("filename", "weights.bin")
                    .put("content_type", "application/octet-stream")
                    .put("bytes", FILE_BYTES)
                    .put("visibility", "org")
                    .put("upload", "direct"))
            .getString("id");
    Http.Answer sent = Http.sendFile(base, "/api/checkpoints/" + item + "/content", token, file);
    if (!sent.isOk()) {
      throw new ViolatedException("the file was not taken: " + sent);
    }
  }

  /** Changes a byte, or changes it back, and has the file checked. */
  private void changeFile() throws IOException {
    Path stored;
    try (Stream<Path> files = Files.walk(world.folder().resolve("files"))) {
      stored =
          files
              .filter(file -> Files.isRegularFile(file) && file.toFile().length() == FILE_BYTES)
              .findFirst()
              .orElseThrow();
    }
    byte[] bytes = Files.readAllBytes(stored);
    bytes[FILE_BYTES / 2] ^= 1;
    Files.write(stored, bytes);
    operate("POST", "/api/operator/checkpoints/" + item + "/check", null);
  }

  /**
   * Restarts the process once; the trial repeats it until the alert fires. Prometheus may miss
   * restarts, and a slow start takes half the rule's window, so a fixed number may be too few.
   */
  private void restart() throws InterruptedException {
    only.kill();
    only.start();
    // Until Prometheus has seen that it was started.
    LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(2 * AlertRules.SCRAPE_SECONDS));
  }

  /** Sets the clock to and fro; each time it is not to be trusted for a while. */
  private void setClock() throws IOException {
    steps++;
    clock.set(TimeUnit.HOURS.toSeconds(HOURS_AHEAD) + TimeUnit.MINUTES.toSeconds(steps % 2 * 10L));
    LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(2));
  }

  /** Somebody else's session in the store's file. */
  private void execute(String sql) throws SQLException {
    try (Connection other =
            DriverManager.getConnection("jdbc:sqlite:" + only.data().resolve("bourse.db"));
        Statement statement = other.createStatement()) {
      statement.execute("PRAGMA busy_timeout = 10000");
      statement.execute(sql);
    }
  }
}
