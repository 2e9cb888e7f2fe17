package dev.bourse.client.checkpoint;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.Times;
import dev.bourse.testing.AnswerLosingProxy;
import dev.bourse.testing.ChildJvm;
import dev.bourse.testing.FilesFixture;
import dev.bourse.testing.MemberShell;
import dev.bourse.testing.MemberShell.Outcome;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.Slow;
import dev.bourse.testing.StallingProxy;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Publishing and fetching files on a command line. */
@OneEngine("a command speaks HTTP; UploadApiTest and SetApiTest are of each")
class CheckpointCommandTest {
  /** Too long for one request: a whole part of 64 MiB and some more. */
  private static final int LONG = 72 << 20;

  private static final long STRETCH = 64L << 20;

  private static StallingProxy gate;
  private static RunningBourse bourse;

  private final Path folder;

  CheckpointCommandTest(@TempDir Path folder) {
    this.folder = folder;
  }

  @BeforeAll
  static void start() {
    gate = new StallingProxy();
    bourse = RunningBourse.demo(gate.settings());
  }

  @AfterAll
  static void stop() {
    bourse.close();
    gate.close();
  }

  private static String token(String org, String member) {
    try {
      return new JsonObject(Files.readString(bourse.data().resolve("demo.json")))
          .getJsonObject("orgs")
          .getJsonObject(org)
          .getJsonObject("members")
          .getJsonObject(member)
          .getString("member_token");
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private MemberShell alice() {
    return new MemberShell(folder)
        .with("BOURSE_URL", bourse.service().baseUrl())
        .with("BOURSE_TOKEN", token("acme", "alice"));
  }

  private Path file(String name, byte[] bytes) throws IOException {
    return Files.write(folder.resolve(name), bytes);
  }

  /** The id at the start of a push's output. */
  private static String id(Outcome pushed) {
    return pushed.ended(0).out().split(" ", 2)[0];
  }

  private static String[] push(Path file, String... options) {
    return Stream.concat(Stream.of("checkpoint", "push", file.toString()), Stream.of(options))
        .toArray(String[]::new);
  }

  private JsonObject stored(String id) {
    return bourse.asMember("acme", "alice").get(FilesFixture.item(id)).ok();
  }

  @Test
  void aSmallFileGoesDirectlyAndComesBack() throws IOException {
    byte[] bytes = "# Notes\nA small model.\n".getBytes(StandardCharsets.UTF_8);
    Path card = file("card.md", bytes);
    Outcome pushed = alice().run(push(card, "--description", "about it"));
    JsonObject item = stored(id(pushed));
    assertEquals(
        item.getString("id")
            + "  card.md  revision 1, ready  sha256 "
            + FilesFixture.sha256(bytes)
            + "\n",
        pushed.out());
    assertEquals("text/markdown", item.getString("content_type"));
    assertEquals("card.md", item.getString("title"));
    assertEquals("about it", item.getString("description"));
    Path back = folder.resolve("back.md");
    alice().run("checkpoint", "pull", id(pushed), "-o", back.toString()).ended(0);
    assertArrayEquals(bytes, Files.readAllBytes(back));
  }

  @Test
  void bytesThatTheOrganizationHasAreNotSentAgain() throws IOException {
    Path data = file("twice.bin", FilesFixture.bytes(3_000, 5));
    String id = id(alice().run(push(data, "--title", "Twice", "--description", "kept")));
    Outcome again = alice().run(push(data)).ended(0).says("nothing is sent");
    assertEquals(id, id(again));
    assertEquals(1, stored(id).getInteger("revision"));
    alice().run(push(data, "--title", "Twice more")).ended(0);
    assertEquals(2, stored(id).getInteger("revision"));
    assertEquals("Twice more", stored(id).getString("title"));
    assertEquals("kept", stored(id).getString("description"));
  }

  @Test
  void theOptionsSayWhatIsPublished() throws IOException {
    Path data = file("theirs.bin", FilesFixture.bytes(1_000, 2));
    String id = id(alice().run(push(data, "--title", "One", "--content-type", "text/x-own")));
    assertEquals("text/x-own", stored(id).getString("content_type"));
    alice().run(push(data, "--replace", "false")).ended(1).says("has this file name");
    Files.write(data, FilesFixture.bytes(1_000, 4));
    assertEquals(id, id(alice().run(push(data, "--replace", "true"))));
    assertEquals(2, stored(id).getInteger("revision"));
    assertEquals("One", stored(id).getString("title"), "nothing else was said of it");
    Path other = file("other.bin", FilesFixture.bytes(2_000, 3));
    assertEquals(id, id(alice().run(push(other, "--replace", id))));
    assertEquals("other.bin", stored(id).getString("filename"));
    alice().run(push(data, "--public")).ended(1).says("the public feed is not open");
    String both = other.toString();
    alice().run(push(data, both, "--title", "Two")).ended(2).says("--title and --replace ID");
    assertEquals(2, alice().run(push(data, both)).ended(0).out().lines().count());
  }

  @Test
  void aDeletionNamesTheItemAndAsks() throws IOException {
    String id = id(alice().run(push(file("run.md", new byte[] {'r'}), "--title", "Run 7")));
    String[] delete = {"checkpoint", "delete", id};
    alice()
        .run(delete)
        .ended(2)
        .says("Deletes Run 7 (run.md, 1 bytes) with all its revisions for good")
        .says("Add --yes to do it without asking");
    alice().typing("n").run(delete).ended(1).says("nothing was done");
    assertEquals("ready", stored(id).getString("status"));
    alice().typing("y").run(delete).ended(0);
    alice().run(delete).ended(1).says("gone: ");
  }

  @Test
  void aRemovalNamesWhatTheMemberLeavesAndAsks() {
    alice()
        .run("members", "remove", "bob")
        .ended(2)
        .says("Removes member bob for good and signs them out. Revokes API tokens: ")
        .says("Withdraws invitations: none.");
    alice().run("members", "removal", "bob").ended(0);
  }

  @Test
  void anEmptyFolderAndAPathThatLeadsNowhereAreRefused() throws IOException {
    alice().run(push(folder)).ended(2).says("has no file to publish");
    alice().run(push(folder.resolve("none"))).ended(2).says("cannot read");
  }

  @Test
  void anEmptyFileIsPublished() throws IOException {
    String id = id(alice().run(push(file("empty", new byte[0]))));
    assertEquals(0, stored(id).getLong("bytes"));
    assertEquals("ready", stored(id).getString("status"));
  }

  @Test
  void aCredentialInAFileIsRefusedAsTheServiceWordsIt() throws IOException {
    Path secret =
        file(
            "notes.txt",
            ("token: " + bourse.secret("acme", "bare") + "\n").getBytes(StandardCharsets.UTF_8));
    alice().run(push(secret)).ended(1).says("secret-detected");
  }

  @Test
  void aTokenComesFromAFileOrTheEnvironmentAndAnOrganizationsOnlyReads() throws IOException {
    Path file = file("token", (token("acme", "alice") + "\n").getBytes(StandardCharsets.UTF_8));
    MemberShell shell = new MemberShell(folder).with("BOURSE_URL", bourse.service().baseUrl());
    shell.run("checkpoint", "list").ended(2).says("bourse login");
    shell.run("checkpoint", "list", "--token-file", file.toString()).ended(0);
    Path reader = file("reader", bourse.secret("acme", "bare").getBytes(StandardCharsets.UTF_8));
    String[] asReader = {"--token-file", reader.toString()};
    shell.run("checkpoint", "list", asReader[0], asReader[1]).ended(0);
    shell.run(push(file("x.bin", new byte[] {1}), asReader)).ended(1).says("forbidden");
    shell.with("BOURSE_TOKEN", "nonsense");
    Outcome refused = shell.run("checkpoint", "list").ended(1).says("BOURSE_TOKEN");
    assertFalse((refused.out() + refused.err()).contains("nonsense"), refused.err());
  }

  @Test
  void aPublishingCredentialPushesFilesAndFolders() throws IOException {
    String credential =
        bourse
            .inSession("acme", "alice")
            .post(
                "/api/console/credentials",
                new JsonObject()
                    .put("name", "training")
                    .put("expires_at", Times.rfc3339(System.currentTimeMillis() + 3_600_000))
                    .put("max_bytes", 1 << 20))
            .json()
            .getString("token");
    MemberShell job = alice().with("BOURSE_TOKEN", credential);
    String first = id(job.run(push(file("epoch.bin", FilesFixture.bytes(1_000, 1)))));
    String second = id(job.run(push(file("epoch.bin", FilesFixture.bytes(1_000, 2)))));
    assertEquals(first, second);
    assertEquals(2, stored(first).getInteger("revision"));
    Path run = Files.createDirectory(folder.resolve("run"));
    Files.write(run.resolve("a.bin"), FilesFixture.bytes(1_000, 3));
    assertEquals("ready", stored(id(job.run(push(run)))).getString("status"));
  }

  @Test
  void aListShowsTheNewestFirstAndAllOfItAsJson() throws IOException {
    for (int i = 0; i < 3; i++) {
      id(alice().run(push(file("listed-" + i + ".bin", new byte[] {(byte) i}))));
    }
    Outcome table = alice().run("checkpoint", "list", "-q", "listed-", "--limit", "2").ended(0);
    List<String> lines = table.out().lines().toList();
    assertTrue(lines.get(0).startsWith("ID "), table.out());
    assertEquals(3, lines.size());
    assertTrue(lines.get(1).contains("listed-2.bin"), table.out());
    table.says("more follow");
    JsonArray items =
        new JsonObject(alice().run("checkpoint", "list", "-q", "listed-", "--output", "json").out())
            .getJsonArray("checkpoints");
    assertEquals(3, items.size());
    assertEquals("none\n", alice().run("checkpoint", "list", "-q", "no such").err());
    alice().run("checkpoint", "list", "--limit", "0").ended(2);
  }

  // Takes seconds: a file longer than a part, tens of MiB, is hashed, sent and read back.
  @Test
  void aLongFileGoesInPiecesAndALostConnectionIsTriedAgain() throws Exception {
    Path model = file("lost.bin", FilesFixture.bytes(LONG, 4));
    gate.letPass(20 << 20);
    CompletableFuture<Outcome> push =
        CompletableFuture.supplyAsync(() -> alice().inRealTime().run(push(model)));
    RunningBourse.until("bytes are under way", gate::isShut);
    gate.cut();
    gate.letPass(Long.MAX_VALUE);
    Outcome pushed = push.get(60, TimeUnit.SECONDS);
    assertEquals(
        FilesFixture.sha256(Files.readAllBytes(model)), stored(id(pushed)).getString("sha256"));
    pushed.says("trying again in");
    assertFalse(pushed.err().contains("\u001b"), pushed.err());
    assertEquals(List.of(), alice().uploads());
  }

  // Takes seconds: a file long enough for an upload session is hashed, sent and read back.
  @Test
  void aCommitWhoseAnswerIsLostIsFoundToBeDone() throws Exception {
    byte[] bytes = FilesFixture.bytes(33 << 20, 15);
    Path model = file("answered.bin", bytes);
    try (AnswerLosingProxy proxy =
        new AnswerLosingProxy(bourse.service().baseUrl(), "POST", "/commit")) {
      MemberShell shell = alice().with("BOURSE_URL", proxy.url());
      // Before the retry, the service has executed the request and ended the session.
      shell.atWait(
          () ->
              RunningBourse.until(
                  "it is published",
                  () ->
                      stored(shell.uploads().get(0).getString("id"))
                          .getString("status")
                          .equals("ready")));
      Outcome pushed = shell.run(push(model)).says("trying again in");
      assertEquals(1, proxy.lost());
      JsonObject item = stored(id(pushed));
      assertEquals(FilesFixture.sha256(bytes), item.getString("sha256"));
      assertEquals(1, item.getInteger("revision"));
      assertEquals(List.of(), shell.uploads());
    }
  }

  /** Alice's environment in a separate process. */
  private Map<String, String> asAlice() {
    return Map.of(
        "XDG_CONFIG_HOME", folder.toString(),
        "BOURSE_URL", bourse.service().baseUrl(),
        "BOURSE_TOKEN", token("acme", "alice"),
        "TERM", "xterm");
  }

  /** Pushes in a separate process that is killed after this many bytes passed. */
  private String killed(Path model, long letThrough) throws Exception {
    Path said = folder.resolve("said");
    ProcessBuilder child =
        new ProcessBuilder(ChildJvm.command(List.of("checkpoint", "push", model.toString())));
    child.environment().putAll(asAlice());
    child.redirectErrorStream(true).redirectOutput(said.toFile());
    gate.letPass(letThrough);
    Process process = child.start();
    try {
      RunningBourse.until(
          "bytes are under way",
          () -> {
            assertTrue(process.isAlive(), () -> "it ended");
            return gate.isShut();
          });
    } finally {
      process.destroyForcibly();
      assertTrue(process.waitFor(60, TimeUnit.SECONDS));
      gate.cut();
      gate.letPass(Long.MAX_VALUE);
    }
    return Files.readString(said);
  }

  /** Takes seconds: the file is longer than a part of 64 MiB. */
  @Test
  void aPushThatWasKilledGoesOnWhereItStood() throws Exception {
    byte[] bytes = FilesFixture.bytes(LONG, 5);
    Path model = file("killed.bin", bytes);
    String said = killed(model, STRETCH + (4 << 20));
    assertFalse(said.contains("\u001b"), said);
    JsonObject state = alice().uploads().get(0);
    assertEquals(STRETCH, state.getLong("hashed_bytes"));
    Outcome pushed = alice().inRealTime().run(push(model));
    String going = pushed.err().lines().findFirst().orElse("");
    assertTrue(going.matches("killed\\.bin: resuming at 6[4-8]\\.\\d of 72\\.0 MiB"), pushed.err());
    assertEquals(state.getString("id"), id(pushed));
    assertEquals(FilesFixture.sha256(bytes), stored(id(pushed)).getString("sha256"));
    assertEquals(List.of(), alice().uploads());
  }

  @Test
  @Slow("the file is longer than a stretch of 64 MiB")
  void aFileThatChangedSinceIsSentFromItsStart() throws Exception {
    byte[] bytes = FilesFixture.bytes(LONG, 6);
    Path model = file("changed.bin", bytes);
    FileTime written = Files.getLastModifiedTime(model);
    killed(model, STRETCH + (4 << 20));
    bytes[10]++;
    file("changed.bin", bytes);
    // Neither its size nor its time reveals the change.
    Files.setLastModifiedTime(model, written);
    Outcome pushed = alice().inRealTime().run(push(model)).says("starting again");
    assertEquals(FilesFixture.sha256(bytes), stored(id(pushed)).getString("sha256"));
  }

  private String published(String name, byte[] bytes) {
    return FilesFixture.publish(bourse.asMember("acme", "alice"), name, bytes, "org")
        .getString("id");
  }

  /** The temporary file of a pull. */
  private Path part(String name, byte[] bytes) {
    return folder.resolve(name + "." + FilesFixture.sha256(bytes).substring(0, 16) + ".part");
  }

  @Test
  void aPullGoesOnWhereItStood() throws IOException {
    byte[] bytes = FilesFixture.bytes(3_000_000, 7);
    String id = published("resumed.bin", bytes);
    Path target = folder.resolve("resumed.bin");
    Path part = part("resumed.bin", bytes);
    Files.write(part, Arrays.copyOf(bytes, 1_500_000));
    Outcome pulled = alice().run("checkpoint", "pull", id, "-o", target.toString()).ended(0);
    pulled.says("resuming at 1.4 of 2.9 MiB");
    assertArrayEquals(bytes, Files.readAllBytes(target));
    assertFalse(Files.exists(part));
  }

  @Test
  void bytesOfAnotherFileAreNotGoneOnFrom() throws IOException {
    byte[] bytes = FilesFixture.bytes(100_000, 8);
    String id = published("other-part.bin", bytes);
    Path target = folder.resolve("other-part.bin");
    Files.write(part("other-part.bin", bytes), new byte[50_000]);
    alice().run("checkpoint", "pull", id, "-o", target.toString()).ended(0).says("starting again");
    assertArrayEquals(bytes, Files.readAllBytes(target));
  }

  @Test
  void somebodysOwnFileThatIsCalledAPartStaysAsItIs() throws IOException {
    byte[] bytes = FilesFixture.bytes(1_000, 14);
    String id = published("beside.bin", bytes);
    byte[] own = {1, 2, 3};
    Path beside = file("beside.bin.part", own);
    Path target = folder.resolve("beside.bin");
    alice().run("checkpoint", "pull", id, "-o", target.toString()).ended(0);
    assertArrayEquals(bytes, Files.readAllBytes(target));
    assertArrayEquals(own, Files.readAllBytes(beside));
  }

  @Test
  void anItemOfAnotherOrganizationIsFetchedFromThePublicFeed() throws IOException {
    byte[] bytes = FilesFixture.bytes(5_000, 12);
    Path data = file("open.bin", bytes);
    MemberShell carol = alice().with("BOURSE_TOKEN", token("openlab", "carol"));
    Outcome pushed = carol.run(push(data, "--public")).ended(0).says("revision 1, review");
    Path target = folder.resolve("fetched.bin");
    String[] pull = {"checkpoint", "pull", id(pushed), "-o", target.toString()};
    alice().run(pull).ended(1).says("not-found");
    FilesFixture.approve(bourse, id(pushed)).ok();
    alice().run(pull).ended(0);
    assertArrayEquals(bytes, Files.readAllBytes(target));
  }

  @Test
  void aLinkInTheWayOfThePartIsNotFollowed() throws IOException {
    byte[] bytes = FilesFixture.bytes(100, 13);
    String id = published("linked.bin", bytes);
    Path elsewhere = file("elsewhere", new byte[] {1});
    Files.createSymbolicLink(part("linked.bin", bytes), elsewhere);
    String target = folder.resolve("linked.bin").toString();
    alice().run("checkpoint", "pull", id, "-o", target).ended(2).says("cannot write");
    assertEquals(1, Files.size(elsewhere));
  }

  @Test
  void whatIsNotWhatWasPublishedIsNotKept() throws IOException {
    byte[] bytes = FilesFixture.bytes(123_457, 9);
    String id = published("damaged.bin", bytes);
    byte[] damaged = bytes.clone();
    damaged[1_000]++;
    Files.write(bourse.blob(id), damaged);
    Path target = folder.resolve("damaged.bin");
    alice()
        .run("checkpoint", "pull", id, "-o", target.toString())
        .ended(4)
        .says("the bytes differ from the published ones");
    assertFalse(Files.exists(target));
    assertFalse(Files.exists(part("damaged.bin", bytes)));
  }

  @Test
  void aFileIsFetchedWhoseNameIsAsLongAsNamesMayBe() throws IOException {
    byte[] bytes = FilesFixture.bytes(1_000, 17);
    String id = published("long.bin", bytes);
    Path target = folder.resolve("n".repeat(255));
    alice().run("checkpoint", "pull", id, "-o", target.toString()).ended(0);
    assertArrayEquals(bytes, Files.readAllBytes(target));
  }

  @Test
  void aDiskThatIsFullIsToldOfAtOnce() throws Exception {
    byte[] bytes = FilesFixture.bytes(3_000_000, 16);
    String id = published("full.bin", bytes);
    Path target = folder.resolve("full.bin");
    // A file may not pass 1,000 KiB.
    List<String> limited =
        new ArrayList<>(List.of("bash", "-c", "ulimit -f 1000 && exec \"$@\"", "limited"));
    limited.addAll(ChildJvm.command(List.of("checkpoint", "pull", id, "-o", target.toString())));
    Path said = folder.resolve("said");
    ProcessBuilder child = new ProcessBuilder(limited);
    child.environment().putAll(asAlice());
    Process process = child.redirectErrorStream(true).redirectOutput(said.toFile()).start();
    assertTrue(process.waitFor(60, TimeUnit.SECONDS));
    String text = Files.readString(said);
    assertEquals(2, process.exitValue(), text);
    assertTrue(text.contains("cannot write " + part("full.bin", bytes)), text);
    assertFalse(text.contains("trying again"), text);
  }

  @Test
  void aFileThatIsThereStaysUnlessForced() throws IOException {
    byte[] bytes = FilesFixture.bytes(1_000, 10);
    String id = published("there.bin", bytes);
    Path target = file("there.bin", new byte[] {1});
    alice().run("checkpoint", "pull", id, "-o", target.toString()).ended(1).says("--force");
    assertEquals(1, Files.size(target));
    alice().run("checkpoint", "pull", id, "-o", target.toString(), "--force").ended(0);
    assertArrayEquals(bytes, Files.readAllBytes(target));
  }

  @Test
  void aNameThatWouldHideTheFileIsNotTakenOver() {
    String id = published(".profile", FilesFixture.bytes(10, 11));
    alice().run("checkpoint", "pull", id).ended(2).says("choose one with -o");
  }

  @Test
  void anItemThatIsNotThereIsRefused() {
    alice().run("checkpoint", "pull", "ckp_none").ended(1).says("not-found");
  }
}
