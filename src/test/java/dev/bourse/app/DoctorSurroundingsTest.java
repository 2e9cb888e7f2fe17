package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.icegreen.greenmail.util.GreenMail;
import dev.bourse.core.Ports;
import dev.bourse.nodes.LoopbackMachine;
import dev.bourse.org.ScimServer;
import dev.bourse.testing.CommandRun;
import dev.bourse.testing.IdentityProvider;
import dev.bourse.testing.MailServer;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.S3Server;
import dev.bourse.testing.SharedPostgres;
import dev.bourse.testing.Slow;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The doctor's checks of the servers and the disk of a service. */
@OneEngine("it looks at the stores of both engines itself")
class DoctorSurroundingsTest {
  /** More than a busy machine needs for servers that answer. */
  private static final String PATIENT = "120";

  private final Path data;

  DoctorSurroundingsTest(@TempDir Path folder) {
    data = folder.resolve("data");
  }

  @BeforeEach
  void migrate() {
    CommandRun.of("migrate", "--data", data.toString()).succeeded();
  }

  private CommandRun run(String timeout, String... settings) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "doctor", "--quick", "--json", "--timeout", timeout, "--data", data.toString()));
    for (String setting : settings) {
      arguments.addAll(List.of("--set", setting));
    }
    return CommandRun.of(arguments.toArray(String[]::new));
  }

  private static JsonObject check(CommandRun run, String name) {
    return new JsonObject(run.out())
        .getJsonArray("checks").stream()
            .map(JsonObject.class::cast)
            .filter(check -> check.getString("name").equals(name))
            .findFirst()
            .orElseThrow(() -> new AssertionError(run.out() + run.err()));
  }

  private static JsonObject is(String finding, CommandRun run, String name) {
    JsonObject check = check(run, name);
    assertEquals(finding, check.getString("finding"), run.out());
    return check;
  }

  private static boolean saw(JsonObject check, String what) {
    return check.getJsonArray("seen").stream().anyMatch(line -> ((String) line).contains(what));
  }

  /** Settings that name a server of each kind at one port. */
  private static String[] allAt(int port) {
    return new String[] {
      "store.url=postgres://bourse:store-secret@127.0.0.1:" + port + "/bourse",
      "checkpoints.store=" + S3Server.store("bucket", port),
      "checkpoints.s3-credentials-file=" + S3Server.s3proxy().credentials(),
      "mail.smtp.host=127.0.0.1",
      "mail.smtp.port=" + port,
      "mail.smtp.user=bourse",
      "mail.smtp.password=mail-secret",
      "directory.kind=scim",
      "directory.scim.url=http://127.0.0.1:" + port,
      "directory.scim.token=scim-secret",
      "signin.oidc.issuer=http://127.0.0.1:" + port,
      "signin.oidc.client-id=bourse",
      "signin.oidc.client-secret=oidc-secret"
    };
  }

  private static void allAreAtFault(CommandRun run) {
    for (String name :
        List.of("database", "object store", "mail", "directory", "identity provider")) {
      is("fault", run, name);
    }
    assertTrue(saw(check(run, "disk"), "a durable write takes"), run.out());
    is("skipped", run, "secret key");
    is("skipped", run, "signing keys");
    assertEquals(2, run.code(), run.out());
    assertFalse((run.out() + run.err()).contains("-secret"), run.out() + run.err());
  }

  @Test
  void serversThatAreNotThereAreFaultsAndTheRestIsLookedAt() {
    allAreAtFault(run(PATIENT, allAt(Ports.free())));
  }

  @Test
  @Slow("waits as long as a silent server costs; fewer seconds would fail a busy machine")
  void serversThatSayNothingHoldUpNothingElse() throws IOException {
    try (ServerSocket silent = new ServerSocket(0, 100, InetAddress.getLoopbackAddress())) {
      long begin = System.nanoTime();
      CommandRun run = run("3", allAt(silent.getLocalPort()));
      // At most two rounds of checks, and a reserve for a busy machine.
      assertTrue(Duration.ofNanos(System.nanoTime() - begin).toSeconds() < 60, run.out());
      allAreAtFault(run);
    }
  }

  @Test
  void aJsonAnswerHasTheSameFieldsForEachCheck() {
    CommandRun run = run(PATIENT);
    JsonObject answer = new JsonObject(run.succeeded());
    assertEquals(Set.of("finding", "exit_code", "checks"), answer.fieldNames());
    assertEquals(0, answer.getInteger("exit_code"));
    for (Object check : answer.getJsonArray("checks")) {
      JsonObject one = (JsonObject) check;
      assertEquals(Set.of("name", "finding", "seen", "advice"), one.fieldNames());
      assertTrue(
          Set.of("ok", "warning", "fault", "skipped").contains(one.getString("finding")),
          one.encode());
      assertFalse(one.getJsonArray("seen").isEmpty(), one.encode());
    }
    is("skipped", run, "mail");
    is("skipped", run, "store");
  }

  @Test
  void faultySettingsAreToldToProgramsToo() {
    CommandRun run = run(PATIENT, "port=many");
    assertEquals(2, run.code());
    assertTrue(saw(is("fault", run, "configuration"), "port: 'many'"), run.out());
    assertTrue(run.refused().contains("port: 'many'"), run.err());
  }

  @Test
  void aTimeOutOutOfBoundsIsRefused() {
    CommandRun run = run("0");
    assertEquals(2, run.code());
    assertTrue(run.err().contains("--timeout: 0 is not within 1 to 600"), run.err());
  }

  @Test
  void theDiskIsWrittenToAndNothingOfItIsLeft() throws IOException {
    CommandRun run = run(PATIENT);
    assertTrue(saw(check(run, "disk"), "a durable write takes"), run.out());
    try (Stream<Path> files = Files.list(data)) {
      // The engine's own files may be beside the store's.
      List<String> others =
          files.map(Path::toString).filter(file -> !file.contains("bourse.db")).toList();
      assertEquals(List.of(), others);
    }
  }

  @Test
  void aDataFolderThatIsOpenToOthersIsTold() throws IOException {
    Files.setPosixFilePermissions(data, PosixFilePermissions.fromString("rwxr-xr-x"));
    assertTrue(saw(is("warning", run(PATIENT), "data folder"), "chmod 700"));
  }

  @Test
  void aPostgresServerTellsItsVersionSettingsAndTime() throws Exception {
    String url = SharedPostgres.server().newDatabase();
    String database = url.substring(url.lastIndexOf('/') + 1);
    CommandRun.of("migrate", "--set", "store.url=" + url).succeeded();
    SharedPostgres.server().execute("ALTER DATABASE " + database + " SET synchronous_commit = off");
    JsonObject unsafe = is("warning", run(PATIENT, "store.url=" + url), "database");
    assertTrue(saw(unsafe, "synchronous_commit is off"), unsafe.encode());
    SharedPostgres.server().execute("ALTER DATABASE " + database + " SET synchronous_commit = on");
    CommandRun run = run(PATIENT, "store.url=" + url);
    JsonObject safe = check(run, "database");
    assertFalse(saw(safe, "synchronous_commit"), safe.encode());
    for (String seen :
        List.of(
            " is PostgreSQL ",
            "connections are free",
            "a round trip takes ",
            "its clock agrees with ours to a second",
            "the schema is current")) {
      assertTrue(saw(safe, seen), safe.encode());
    }
    assertTrue(saw(is("warning", run, "secret key"), "no secret.key is given"), run.out());
  }

  @Test
  void anObjectStoreIsTriedAndLeftAsItWas() {
    S3Server server = S3Server.s3proxy();
    String bucket = server.newBucket();
    CommandRun run = run(PATIENT, server.settings(bucket));
    JsonObject found = is("ok", run, "object store");
    assertTrue(saw(found, "can list, write, read and delete"), found.encode());
    assertTrue(saw(found, "its clock "), found.encode());
    assertEquals(List.of(), server.objects(bucket));
    CommandRun missing = run(PATIENT, server.settings("bucket-of-nobody"));
    assertTrue(saw(is("fault", missing, "object store"), "bucket-of-nobody"), missing.out());
  }

  @Test
  void aMailServerGreetsAndIsSentNothing() {
    GreenMail server = MailServer.smtp(0);
    server.start();
    try {
      String host = "mail.smtp.host=127.0.0.1";
      String port = "mail.smtp.port=" + server.getSmtp().getPort();
      CommandRun run = run(PATIENT, host, port, "mail.smtp.tls=none");
      assertTrue(saw(is("ok", run, "mail"), " greets: "), run.out());
      CommandRun wanted = run(PATIENT, host, port);
      assertTrue(saw(is("fault", wanted, "mail"), "does not offer STARTTLS"), wanted.out());
      assertEquals(0, server.getReceivedMessages().length);
    } finally {
      server.stop();
    }
  }

  @Test
  void aDirectoryIsAskedAsForARoster() {
    try (ScimServer server = new ScimServer()) {
      String[] settings = {
        "directory.kind=scim", "directory.scim.url=" + server.url(), "directory.timeout=30s"
      };
      CommandRun run = run(PATIENT, settings);
      is("ok", run, "directory");
      assertTrue(server.filters.element().startsWith("userName eq "), run.out());
      server.behave(request -> request.response().setStatusCode(401).end());
      CommandRun refused = run(PATIENT, settings);
      assertTrue(saw(is("fault", refused, "directory"), "401"), refused.out());
    }
  }

  @Test
  void anIdentityProviderHasToBeWhoItsSettingNames() {
    try (IdentityProvider provider = new IdentityProvider()) {
      CommandRun run = run(PATIENT, provider.settings());
      assertTrue(saw(is("ok", run, "identity provider"), "and 1 signing key"), run.out());
      String other = provider.issuer().replace("127.0.0.1", "localhost");
      CommandRun wrong =
          run(PATIENT, "signin.oidc.issuer=" + other, "signin.oidc.client-id=bourse");
      assertTrue(saw(is("fault", wrong, "identity provider"), "its issuer is"), wrong.out());
    }
  }

  @Test
  void aSecretKeyTellsItsAgeAndNotItself() throws IOException {
    Path file = data.resolve("secret");
    String key = "5f".repeat(32);
    Files.writeString(file, key);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    Files.setLastModifiedTime(file, FileTime.from(Instant.now().minus(Duration.ofDays(40))));
    CommandRun run = run(PATIENT, "secret.key-file=" + file);
    assertTrue(saw(is("ok", run, "secret key"), "written 40 days ago"), run.out());
    assertFalse(run.out().contains(key), run.out());
    Files.writeString(file, key + "\n" + "ab".repeat(32));
    is("warning", run(PATIENT, "secret.key-file=" + file), "secret key");
  }

  @Test
  void aKeyOfMachinesHasToBeOne() throws IOException {
    Path file = Files.writeString(data.resolve("identity"), "no key\n");
    CommandRun run = run(PATIENT, "nodes.ssh.identity-file=" + file);
    assertTrue(saw(is("fault", run, "machines"), file.toString()), run.out());
  }

  @Test
  void tenantsThatShareTheirIdsAreWarnedOf() throws Exception {
    try (LoopbackMachine machine = new LoopbackMachine("n1", data)) {
      String key = "nodes.ssh.identity-file=" + machine.adminKey();
      is("ok", run(PATIENT, key), "machines");
      is("warning", run(PATIENT, key, "nodes.ssh.own-ids=false"), "machines");
    }
  }

  @Test
  void poolsWhoseTenantsCouldBecomeRootAreWarnedOfWithoutACommandThatReimages() throws Exception {
    try (LoopbackMachine machine = new LoopbackMachine("n1", data)) {
      String key = "nodes.ssh.identity-file=" + machine.adminKey();
      is("ok", run(PATIENT, key), "root tenants");
      try (Connection store = DriverManager.getConnection("jdbc:sqlite:" + data + "/bourse.db");
          java.sql.Statement insert = store.createStatement()) {
        insert.executeUpdate(
            """
            INSERT INTO pool (name, site, provider, gpu_vendor, gpus_per_node, reserve_cents,
            cap_cents, detector_armed, swaps_enabled, ssh_user, ssh_port, env, storage, created_at,
            tenants) VALUES ('north', 's', 'ssh', 'NVIDIA', 8, 1, 9, 1, 1, 'tenant', 22, '{}', '{}',
            1, 'ROOT'), ('south', 's', 'simulated', 'NVIDIA', 8, 1, 9, 1, 1, 'tenant', 22, '{}',
            '{}', 1, 'ROOT')\
            """);
      }
      JsonObject warned = is("warning", run(PATIENT, key), "root tenants");
      assertTrue(saw(warned, "1 pool(s) could become root: north"), warned.encode());
      is("ok", run(PATIENT, key, "nodes.ssh.reimage-command=/opt/reimage"), "root tenants");
    }
  }

  @Test
  void aProxyThatIsNotNamedIsWarnedOf() {
    String url = "base-url=https://bourse.example";
    is("warning", run(PATIENT, url), "proxies");
    is("ok", run(PATIENT, url, "proxies=10.0.0.1"), "proxies");
  }

  @Test
  void moreConnectionsThanFilesAreWarnedOf() {
    is("warning", run(PATIENT, "limits.connections=1000000"), "open files");
  }

  @Test
  void aServiceThatRunsIsLookedAtAndItsRowsAreLeftOut() {
    try (RunningBourse bourse = RunningBourse.demo("store.url=sqlite")) {
      List<String> store = List.of("--data", bourse.data().toString());
      CommandRun quick = CommandRun.on(store, "doctor", "--quick", "--json");
      assertEquals(0, quick.code(), quick.out() + quick.err());
      assertTrue(saw(is("ok", quick, "signing keys"), "the newest was created today"), quick.out());
      CommandRun whole = CommandRun.on(store, "doctor", "--json");
      assertTrue(whole.refused().contains("is already open in this process"), whole.err());
      assertTrue(saw(is("skipped", whole, "store"), "or give --quick"), whole.out());
      assertTrue(saw(check(whole, "disk"), "a durable write takes"), whole.out());
      bourse.stop();
      CommandRun.on(store, "doctor").succeeded();
    }
  }
}
