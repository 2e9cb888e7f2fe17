package dev.bourse.client.checkpoint;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.bourse.testing.FilesFixture;
import dev.bourse.testing.MemberShell;
import dev.bourse.testing.MemberShell.Outcome;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.StallingProxy;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Pushing and pulling folders on a command line. */
@OneEngine("a command speaks HTTP; UploadApiTest and SetApiTest are of each")
class SetCommandTest {
  private static final int SHARD = 256 << 10;

  private static StallingProxy gate;
  private static RunningBourse bourse;

  private final Path home;
  private Path model;

  SetCommandTest(@TempDir Path home) {
    this.home = home;
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

  /** Creates a folder with a unique name, so that every test has its own set. */
  @BeforeEach
  void begin() throws IOException {
    model = Files.createDirectory(home.resolve("m-" + FilesFixture.freshName()));
    gate.letPass(Long.MAX_VALUE);
  }

  private static String token(String org, String member) throws IOException {
    return new JsonObject(Files.readString(bourse.data().resolve("demo.json")))
        .getJsonObject("orgs")
        .getJsonObject(org)
        .getJsonObject("members")
        .getJsonObject(member)
        .getString("member_token");
  }

  private MemberShell alice() throws IOException {
    return new MemberShell(home)
        .with("BOURSE_URL", bourse.service().baseUrl())
        .with("BOURSE_TOKEN", token("acme", "alice"));
  }

  private void file(String path, byte[] bytes) throws IOException {
    Path file = model.resolve(path);
    Files.createDirectories(file.getParent());
    Files.write(file, bytes);
  }

  private void shards(int count) throws IOException {
    for (int i = 0; i < count; i++) {
      file("shards/%02d.bin".formatted(i), FilesFixture.bytes(SHARD, i + model.hashCode()));
    }
  }

  private Outcome push(String... options) throws IOException {
    return push(alice(), options);
  }

  private Outcome push(MemberShell member, String... options) {
    return member.run(
        Stream.concat(Stream.of("checkpoint", "push", model.toString()), Stream.of(options))
            .toArray(String[]::new));
  }

  private static String id(Outcome published) {
    return published.ended(0).out().split(" ", 2)[0];
  }

  private Outcome pull(String id, Path into, String... options) throws IOException {
    return alice()
        .run(
            Stream.concat(
                    Stream.of("checkpoint", "pull", id, "-o", into.toString()), Stream.of(options))
                .toArray(String[]::new));
  }

  private JsonObject stored(String id) {
    return bourse.asMember("acme", "alice").get(FilesFixture.item(id)).ok();
  }

  /** Path and content of every file of a folder. */
  private static List<String> content(Path folder) throws IOException {
    List<String> found = new ArrayList<>();
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
        found.add(folder.relativize(file) + " " + FilesFixture.sha256(Files.readAllBytes(file)));
      }
    }
    return found;
  }

  @Test
  void aFolderBecomesOneItemAndComesBackAsItWas() throws IOException {
    shards(3);
    file("config.json", "{}".getBytes(StandardCharsets.UTF_8));
    file("empty.txt", new byte[0]);
    file("a/deep/copy.bin", Files.readAllBytes(model.resolve("shards/00.bin")));
    file(".cache/left.out", new byte[] {1});
    Outcome published = push("--title", "Model", "--description", "three shards");
    published.says("left out").says(".cache");
    String id = id(published);
    JsonObject item = stored(id);
    assertEquals(6, item.getInteger("files"));
    assertEquals(4L * SHARD + 2, item.getLong("total_bytes"));
    assertEquals("application/vnd.bourse.set+json", item.getString("content_type"));
    assertEquals("Model", item.getString("title"));
    assertTrue(published.out().contains("revision 1, ready, 6 files"), published.out());

    Path back = home.resolve("back");
    pull(id, back).ended(0).says("6 files, 6 of them downloaded");
    Files.delete(model.resolve(".cache/left.out"));
    assertEquals(content(model), content(back));
    // Only the missing file is fetched again.
    Files.delete(back.resolve("shards/01.bin"));
    pull(id, back).ended(0).says("6 files, 1 of them downloaded");
    assertEquals(content(model), content(back));
  }

  @Test
  void listsAndItemsShowHowManyFilesThereAre() throws IOException {
    shards(2);
    String id = id(push());
    String name = model.getFileName().toString();
    Outcome listed = alice().run("checkpoint", "list", "-q", name).ended(0);
    assertTrue(listed.out().matches("(?s).*FILES.*" + name + " +2 .*"), listed.out());
    Outcome shown = alice().run("checkpoint", "show", id).ended(0);
    shown.says("shards/00.bin").says("shards/01.bin").says(stored(id).getString("sha256"));
    JsonObject json =
        new JsonObject(alice().run("checkpoint", "show", id, "-o", "json").ended(0).out());
    assertEquals(2, json.getJsonArray("manifest").size());
  }

  @Test
  void ofASetOf64ShardsOnlyTheChangedOneIsSentAgain() throws IOException {
    shards(64);
    String id = id(push());
    file("shards/17.bin", FilesFixture.bytes(SHARD, 4711));
    long before = gate.passed();
    Outcome again = push().ended(0).says("1 of 64 files to send");
    long sent = gate.passed() - before;
    assertTrue(sent <= SHARD + (2 << 20), sent + " bytes were sent");
    assertTrue(sent >= SHARD, sent + " bytes were sent");
    assertEquals(id, id(again));
    assertEquals(2, stored(id).getInteger("revision"));
    Path back = home.resolve("back");
    pull(id, back).ended(0);
    assertEquals(content(model), content(back));
  }

  @Test
  void anInterruptedPublicationGoesOnAndDigestsNothingAgain() throws Exception {
    shards(8);
    gate.letPass(4L * SHARD);
    MemberShell patient = alice().inRealTime();
    CompletableFuture<Outcome> first = CompletableFuture.supplyAsync(() -> push(patient));
    RunningBourse.until("bytes are under way", gate::isShut);
    gate.letPass(Long.MAX_VALUE);
    gate.cut();
    String id = id(first.get(60, TimeUnit.SECONDS));
    assertEquals(8, stored(id).getInteger("files"));
    assertEquals(List.of(), alice().uploads());
    Path back = home.resolve("back");
    pull(id, back).ended(0);
    assertEquals(content(model), content(back));
  }

  /** Answers each request to a path with the next of its answers, and the last one again. */
  private static HttpServer stub(Map<String, List<Map.Entry<Integer, JsonObject>>> answers)
      throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    answers.forEach(
        (path, all) -> {
          AtomicInteger asked = new AtomicInteger();
          server.createContext(
              path,
              exchange -> {
                Map.Entry<Integer, JsonObject> answer =
                    all.get(Math.min(asked.getAndIncrement(), all.size() - 1));
                byte[] body = answer.getValue().encode().getBytes(StandardCharsets.UTF_8);
                exchange.getRequestBody().readAllBytes();
                exchange.getResponseHeaders().set("Content-Type", "application/json");
                exchange.sendResponseHeaders(answer.getKey(), body.length);
                exchange.getResponseBody().write(body);
                exchange.close();
              });
        });
    server.start();
    return server;
  }

  @Test
  void aCommitWhoseAnswerIsLostIsFoundToBeDoneByALaterRead() throws IOException {
    shards(1);
    Map.Entry<Integer, JsonObject> away =
        Map.entry(503, new JsonObject().put("error", "overloaded"));
    JsonObject item =
        new JsonObject()
            .put("id", "ckp_1")
            .put("filename", "m")
            .put("status", "ready")
            .put("revision", 1)
            .put("files", 1)
            .put("sha256", "00");
    HttpServer server =
        stub(
            Map.of(
                "/api/checkpoints",
                List.of(Map.entry(200, new JsonObject().put("checkpoints", new JsonArray()))),
                "/api/checkpoints/sets",
                List.of(Map.entry(201, item.copy().put("status", "pending"))),
                "/api/checkpoints/ckp_1/commit",
                List.of(
                    away,
                    Map.entry(
                        409,
                        new JsonObject().put("error", "conflict").put("reason", "not-pending"))),
                "/api/checkpoints/ckp_1",
                List.of(away, Map.entry(200, item))));
    try {
      MemberShell member =
          alice().with("BOURSE_URL", "http://127.0.0.1:" + server.getAddress().getPort());
      Outcome published = push(member).ended(0);
      assertTrue(published.out().startsWith("ckp_1  m  revision 1, ready, 1 files"));
      assertEquals(2, member.waits.size(), "one for the commit and one for the read");
      assertEquals(List.of(), member.uploads());
    } finally {
      server.stop(0);
    }
  }

  @Test
  void aCredentialInOneFileTakesTheWholeBack() throws IOException {
    shards(2);
    file(
        "notes.txt",
        ("token: " + bourse.secret("acme", "bare") + "\n").getBytes(StandardCharsets.UTF_8));
    push().ended(1).says("secret-detected").says("notes.txt");
    Outcome listed =
        alice().run("checkpoint", "list", "-q", model.getFileName().toString()).ended(0);
    listed.says("none");
    assertEquals(List.of(), alice().uploads());
  }

  @Test
  void filesThatAreThereWithOtherBytesStayUnlessForced() throws IOException {
    shards(2);
    String id = id(push());
    Path back = home.resolve("back");
    pull(id, back).ended(0);
    byte[] own = {1, 2, 3};
    Files.write(back.resolve("shards/00.bin"), own);
    Files.write(back.resolve("mine.txt"), own);
    pull(id, back).ended(1).says("differs from the set's file").says("--force");
    assertArrayEquals(own, Files.readAllBytes(back.resolve("shards/00.bin")));
    pull(id, back, "--force").ended(0).says("1 of them downloaded");
    assertArrayEquals(own, Files.readAllBytes(back.resolve("mine.txt")));
    Files.delete(back.resolve("mine.txt"));
    assertEquals(content(model), content(back));
  }

  @Test
  void filesOfASetThatAreCalledPartsOfOthersKeepTheirBytes() throws IOException {
    for (int i = 0; i < 8; i++) {
      file(i + ".bin", FilesFixture.bytes(SHARD, i));
      file(i + ".bin.part", FilesFixture.bytes(SHARD, 100 + i));
    }
    String id = id(push());
    Path back = home.resolve("back");
    pull(id, back, "--parallel", "16").ended(0);
    assertEquals(content(model), content(back));
  }

  @Test
  void aSetThatHasAFileWhereAnotherWouldLieInPartIsNotPulled() throws IOException {
    byte[] bytes = FilesFixture.bytes(1_000, 1);
    String part = "m.bin." + FilesFixture.sha256(bytes).substring(0, 16) + ".part";
    file("m.bin", bytes);
    file(part, FilesFixture.bytes(1_000, 2));
    String id = id(push());
    Path back = home.resolve("back");
    pull(id, back)
        .ended(1)
        .says("the set has a file " + part)
        .says("the temporary name of its m.bin");
    assertEquals(List.of(), content(back));
  }

  @Test
  void aLinkInTheFolderLeadsNothingOut() throws IOException {
    shards(1);
    String id = id(push());
    Path elsewhere = Files.createDirectory(home.resolve("elsewhere"));
    Path back = Files.createDirectory(home.resolve("back"));
    Files.createSymbolicLink(back.resolve("shards"), elsewhere);
    pull(id, back).ended(2).says("cannot make the folder");
    try (Stream<Path> files = Files.list(elsewhere)) {
      assertEquals(0, files.count());
    }
  }

  @Test
  void aFolderDoesNotReplaceAFile() throws IOException {
    shards(1);
    String id = id(push());
    Path back = Files.write(home.resolve("back"), new byte[] {1});
    pull(id, back, "--force").ended(2).says(back + " is a file, but the item is a folder");
    assertArrayEquals(new byte[] {1}, Files.readAllBytes(back));
  }

  @Test
  void filesAndFoldersAreItemsOfTheirOwn() throws IOException {
    shards(2);
    Path single = Files.write(home.resolve(FilesFixture.freshName()), new byte[] {1});
    List<String> items =
        alice()
            .run("checkpoint", "push", single.toString(), model.toString())
            .ended(0)
            .out()
            .lines()
            .toList();
    assertEquals(2, items.size(), items.toString());
    assertTrue(items.get(0).contains(single.getFileName() + "  revision 1, ready  "));
    assertTrue(items.get(1).contains(model.getFileName() + "  revision 1, ready, 2 files"));
  }

  @Test
  void aFolderHasNoMediaType() throws IOException {
    shards(1);
    push("--content-type", "text/plain").ended(2).says("--content-type takes files");
  }

  @Test
  void theWidthIsWithinBounds() throws IOException {
    shards(1);
    push("--parallel", "0").ended(2).says("--parallel: 0 is not between 1 and 16");
    push("--parallel", "17").ended(2);
  }
}
