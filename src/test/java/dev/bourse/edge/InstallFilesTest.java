package dev.bourse.edge;

import static dev.bourse.edge.EdgeFixture.header;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.Digests;
import dev.bourse.install.InstallRoutes;
import dev.bourse.install.ProgramJar;
import dev.bourse.pages.PageTemplates;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files under {@code /install}. */
@SuppressWarnings("NullAway.Init") // JUnit fills in the folder and calls the set-up.
class InstallFilesTest {
  private static final byte[] PROGRAM = BytesFixture.bytes(1_000_003);
  private static final String SHA256 = HexFormat.of().formatHex(Digests.sha256(PROGRAM));

  @TempDir static Path folder;

  private static Path program;
  private static EdgeFixture fixture;

  @BeforeAll
  static void serve() throws IOException {
    program = Files.write(folder.resolve("program.jar"), PROGRAM);
    fixture = new EdgeFixture(EdgeFixture.unlimited());
    InstallRoutes routes =
        new InstallRoutes(
            fixture.vertx,
            ProgramJar.open(program),
            "1.2.3",
            new PageTemplates(InstallRoutes.TEMPLATES),
            () -> "http://127.0.0.1:" + fixture.port());
    fixture.behave(
        call -> call.findText("file").isPresent() ? routes.file(call) : routes.page(call));
  }

  @AfterAll
  static void stop() {
    fixture.close();
  }

  private static HttpResponse<byte[]> read(String method, String file, String... headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:" + fixture.port() + "/install/" + file))
            .method(method, HttpRequest.BodyPublishers.noBody());
    if (headers.length > 0) {
      request.headers(headers);
    }
    try {
      return fixture.client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static String text(HttpResponse<byte[]> answer) {
    assertEquals(200, answer.statusCode());
    return new String(answer.body(), StandardCharsets.UTF_8);
  }

  @Test
  void theJarIsServedWholeInRangesAndByHeadAndCachesAskEachTime() {
    HttpResponse<byte[]> whole = read("GET", "bourse.jar");
    assertEquals(200, whole.statusCode());
    assertArrayEquals(PROGRAM, whole.body());
    assertEquals(List.of("no-cache"), whole.headers().allValues("cache-control"));
    assertEquals('"' + SHA256 + '"', header(whole, "etag"));
    HttpResponse<byte[]> range = read("GET", "bourse.jar", "Range", "bytes=1000000-");
    assertEquals(206, range.statusCode());
    assertArrayEquals(Arrays.copyOfRange(PROGRAM, 1_000_000, PROGRAM.length), range.body());
    assertEquals(416, read("GET", "bourse.jar", "Range", "bytes=2000000-").statusCode());
    HttpResponse<byte[]> head = read("HEAD", "bourse.jar");
    assertEquals("1000003", header(head, "content-length"));
    assertEquals(0, head.body().length);
    assertEquals(304, read("GET", "bourse.jar", "If-None-Match", '"' + SHA256 + '"').statusCode());
  }

  @Test
  void theBytesStayThoseOfThisVersionWhenAnUpgradeReplacesTheFile() throws IOException {
    Path upgrade = Files.write(folder.resolve("upgrade.jar"), new byte[] {1, 2, 3});
    Files.move(upgrade, program, StandardCopyOption.REPLACE_EXISTING);
    assertArrayEquals(PROGRAM, read("GET", "bourse.jar").body());
  }

  @Test
  void theDigestsAreThoseOfTheFiles() {
    byte[] script = read("GET", "install.sh").body();
    assertEquals(
        "%s  bourse.jar\n%s  install.sh\n"
            .formatted(SHA256, HexFormat.of().formatHex(Digests.sha256(script))),
        text(read("GET", "SHA256SUMS")));
  }

  @Test
  void thePageNamesTheVersionTheDigestAndThisServicesAddress() {
    HttpResponse<String> page = fixture.send("GET", "/install", null);
    assertEquals(200, page.statusCode());
    for (String text :
        List.of("1.2.3", SHA256, "http://127.0.0.1:" + fixture.port() + "/install/install.sh")) {
      assertTrue(page.body().contains(text), text);
    }
    assertEquals(
        304,
        fixture.send("GET", "/install", null, "If-None-Match", header(page, "etag")).statusCode());
  }

  @Test
  void anyOtherFileIsNotFound() {
    assertEquals(404, read("GET", "bourse.zip").statusCode());
  }

  @Test
  void aFolderOfClassesIsNotServed() {
    assertEquals(Optional.empty(), ProgramJar.open(folder));
  }

  /** With a Java that tells its version and, as the command, prints its arguments. */
  @Test
  void theScriptInstallsACommandAndRefusesAnOldJavaAndAWrongDownload() throws Exception {
    Path script = Files.write(folder.resolve("install.sh"), read("GET", "install.sh").body());
    Path home = Files.createDirectory(folder.resolve("home"));
    Path java = Files.createDirectories(folder.resolve("jdk/bin")).resolve("java");
    speak(java, "17");
    String said = run(script, home, 0);
    Path command = home.resolve(".local/bin/bourse");
    assertTrue(said.contains("as " + command), said);
    assertTrue(said.contains("bourse login --url http://127.0.0.1:" + fixture.port()), said);
    assertArrayEquals(PROGRAM, Files.readAllBytes(home.resolve(".local/share/bourse/bourse.jar")));
    String ran = run(command, home, 0, "status", "a b");
    assertTrue(
        ran.contains("-jar " + home.resolve(".local/share/bourse/bourse.jar") + " status a b"),
        ran);

    Path wrong =
        Files.writeString(
            folder.resolve("wrong.sh"),
            Files.readString(script).replace(SHA256, SHA256.replace('a', 'b')));
    assertTrue(run(wrong, home, 1).contains("fetch this script again"));
    speak(java, "11");
    assertTrue(run(script, home, 1).contains("Java 11 is too old"));
    try (var files = Files.list(home.resolve(".local/share/bourse"))) {
      assertEquals(1, files.count(), "a failed run leaves nothing behind");
    }
  }

  @Test
  void aLinkInPlaceOfTheCommandIsReplacedAndItsTargetStays() throws Exception {
    Path script = Files.write(folder.resolve("linked.sh"), read("GET", "install.sh").body());
    Path home = Files.createDirectory(folder.resolve("linked"));
    Path other = Files.writeString(home.resolve("other"), "another program");
    Files.createDirectories(home.resolve(".local/bin"));
    Path command = Files.createSymbolicLink(home.resolve(".local/bin/bourse"), other);
    speak(Files.createDirectories(folder.resolve("jdk/bin")).resolve("java"), "25");
    run(script, home, 0);
    assertFalse(Files.isSymbolicLink(command));
    assertEquals("another program", Files.readString(other));
    assertTrue(run(command, home, 0, "status").contains("-XX:+AutoCreateSharedArchive"));
  }

  @Test
  void aScriptOfWhichOnlyAPartArrivesDoesNothing() throws Exception {
    List<String> lines = scriptLines();
    Path home = Files.createDirectory(folder.resolve("cut"));
    speak(Files.createDirectories(folder.resolve("jdk/bin")).resolve("java"), "17");
    for (int length = 1; length < lines.size(); length++) {
      Path part =
          Files.writeString(
              folder.resolve("part.sh"), String.join("\n", lines.subList(0, length)) + "\n");
      tryToRun(part, home);
      assertFalse(Files.exists(home.resolve(".local")), "after " + length + " lines");
    }
    tryToRun(Files.writeString(folder.resolve("part.sh"), String.join("\n", lines) + "\n"), home);
    assertTrue(Files.exists(home.resolve(".local/bin/bourse")), "the whole script installs");
  }

  private static List<String> scriptLines() {
    return new String(read("GET", "install.sh").body(), StandardCharsets.UTF_8).lines().toList();
  }

  /** Runs a script that may fail. */
  private static void tryToRun(Path script, Path home) throws IOException, InterruptedException {
    Process started = start(script, home);
    started.getInputStream().readAllBytes();
    assertTrue(started.waitFor(1, TimeUnit.MINUTES));
  }

  private static void speak(Path java, String release) throws IOException {
    Files.writeString(
        java,
        """
        #!/bin/sh
        if [ "$1" = -version ]; then echo 'openjdk version "%s.0.1" 2026-01-20' >&2; fi
        echo "$@"
        """
            .formatted(release));
    assertTrue(java.toFile().setExecutable(true));
  }

  private static String run(Path program, Path home, int expected, String... arguments)
      throws IOException, InterruptedException {
    Process started = start(program, home, arguments);
    String said = new String(started.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(started.waitFor(1, TimeUnit.MINUTES));
    assertEquals(expected, started.exitValue(), said);
    assertFalse(said.isEmpty());
    return said;
  }

  private static Process start(Path program, Path home, String... arguments) throws IOException {
    List<String> line = new ArrayList<>(List.of("sh", program.toString()));
    line.addAll(List.of(arguments));
    ProcessBuilder process = new ProcessBuilder(line).redirectErrorStream(true);
    process.environment().put("HOME", home.toString());
    process.environment().put("JAVA_HOME", folder.resolve("jdk").toString());
    for (String name : List.of("PREFIX", "XDG_CACHE_HOME", "JAVA_OPTIONS")) {
      process.environment().remove(name);
    }
    return process.start();
  }
}
