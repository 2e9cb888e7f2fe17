package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.app.commands.Main;
import dev.bourse.core.FailureText;
import dev.bourse.core.Settings;
import dev.bourse.testing.ChildJvm;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.S3Server;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An operator's mistake ends a start soon, with one message and without a stack trace. */
@OneEngine("none of it reaches the store, or it is about the embedded one's files")
class StartFailureTest {
  private final Path folder;

  StartFailureTest(@TempDir Path folder) {
    this.folder = folder;
  }

  private static final Map<String, String> USUAL =
      Map.of("port", "0", "management.port", "0", "drain-delay", "0");

  private record Ended(int code, String out, String log) {}

  private Ended serve(List<String> flags, Map<String, String> environment, String... arguments)
      throws Exception {
    List<String> given =
        new ArrayList<>(List.of("serve", "--data", folder.resolve("data").toString()));
    given.addAll(List.of(arguments));
    if (Stream.of(arguments).noneMatch(argument -> argument.startsWith("management.port="))) {
      given.addAll(List.of("--set", "management.port=0"));
    }
    Path out = folder.resolve("out");
    Path log = folder.resolve("log");
    List<String> all = new ArrayList<>(ChildJvm.FLAGS);
    all.addAll(flags);
    ProcessBuilder building =
        new ProcessBuilder(ChildJvm.command(all, given))
            .redirectOutput(out.toFile())
            .redirectError(log.toFile());
    building.environment().putAll(environment);
    Process process = building.start();
    try {
      RunningBourse.until(
          "it starts or ends", () -> !process.isAlive() || read(out).contains("ready http://"));
      if (process.isAlive()) {
        process.destroy();
      }
      assertTrue(process.waitFor(60, TimeUnit.SECONDS));
    } finally {
      process.destroyForcibly();
    }
    return new Ended(process.exitValue(), read(out), logged(log));
  }

  /** Returns the log without the lines of Vert.x about threads that a busy machine delayed. */
  private static String logged(Path log) {
    return read(log)
        .lines()
        .filter(line -> !line.contains("BlockedThreadChecker"))
        .collect(Collectors.joining("\n"));
  }

  /**
   * Starts the service in this process, and returns the message of its failure: the text that
   * {@code serve} logs before it exits with the code for expected failures.
   */
  private String refusal(boolean demo, String... settings) throws Exception {
    Map<String, String> values = new HashMap<>(USUAL);
    for (String setting : settings) {
      String[] pair = setting.split("=", 2);
      values.put(pair[0], pair[1]);
    }
    try {
      start(demo, values);
    } catch (Exception e) {
      assertTrue(Main.isExpected(e), e::toString);
      String said = FailureText.of(e);
      assertFalse(said.contains("Exception"), said);
      return said;
    }
    throw new AssertionError("it starts");
  }

  private void start(boolean demo, Map<String, String> settings) throws Exception {
    Config config =
        Config.from(new Settings(settings, Map.of()), folder.resolve("data"), List.of());
    Vertx vertx = Bourse.newVertx(config);
    Bourse bourse = new Bourse(vertx, config, demo);
    try {
      bourse.start().await(60, TimeUnit.SECONDS);
    } finally {
      bourse.stop().eventually(vertx::close).await(60, TimeUnit.SECONDS);
    }
  }

  private static void assertNames(String said, String... parts) {
    for (String part : parts) {
      assertTrue(said.contains(part), part + " in " + said);
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static void assertRefused(Ended ended, String... parts) {
    assertEquals(Main.EXIT_REFUSED, ended.code(), ended.log());
    for (String part : parts) {
      assertTrue(ended.log().contains(part), part + " in " + ended.log());
    }
    assertFalse(ended.log().contains("\tat "), ended.log());
    assertFalse(ended.log().contains("Exception"), ended.log());
  }

  @Test
  void aTakenManagementPortIsNamedWithItsSetting() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = String.valueOf(taken.getLocalPort());
      assertNames(refusal(true, "management.port=" + port), "port " + port, "management.port");
    }
  }

  @Test
  void aTakenApiPortIsNamedWithItsSetting() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = String.valueOf(taken.getLocalPort());
      assertRefused(
          serve(List.of(), Map.of(), "--demo", "--port", port),
          "cannot start: port " + port,
          "(host, port)");
    }
  }

  @Test
  void aWorldThatHoldsMoreThanItHasIsNamed() throws Exception {
    String world = Files.readString(Path.of("src/main/resources/world/demo.yaml"));
    assertTrue(world.contains("held_nodes: 2"), world);
    Path file =
        Files.writeString(
            folder.resolve("world.yaml"), world.replace("held_nodes: 2", "held_nodes: 99"));
    assertNames(
        refusal(false, "world=" + file),
        "pool demo-h100: its clusters hold more nodes than it has");
  }

  @Test
  void aWorldFileThatIsNotThereIsNamed() throws Exception {
    assertNames(
        refusal(false, "world=/nowhere/world.yaml"),
        "/nowhere/world.yaml: there is no such file or folder");
  }

  @Test
  void aFileThatIsNoStoreIsNamed() throws Exception {
    Files.createDirectories(folder.resolve("data"));
    Files.writeString(folder.resolve("data").resolve("bourse.db"), "this is no store\n".repeat(99));
    assertNames(refusal(false), "the store");
  }

  @Test
  void aDataFolderThatIsAFileIsNamed() throws Exception {
    Files.writeString(folder.resolve("data"), "");
    assertNames(refusal(false), "is not a folder");
  }

  @Test
  void noFolderForTemporaryFilesIsNeeded() throws Exception {
    Ended ended =
        serve(
            List.of("-Djava.io.tmpdir=/nowhere/at-all"),
            Map.of(),
            "--port",
            "0",
            "--set",
            "drain-delay=0");
    assertTrue(ended.out().contains("ready http://"), ended.log());
    assertFalse(ended.log().matches("(?s).*\\bWARN\\b.*"), ended.log());
  }

  @Test
  void aSecretKeyThatIsMissingIsNamed() throws Exception {
    String key = "5".repeat(64);
    Map<String, String> settings = new HashMap<>(USUAL);
    settings.put("secret.key", key);
    start(true, settings);
    String wanted = "encrypted with secret key aa78830e, which is not given";
    assertNames(refusal(true), wanted, "secret.give-up=");
    String another = refusal(true, "secret.key=" + "6".repeat(64));
    assertNames(another, wanted);
    assertFalse(another.contains("6666"), another);
    String faulty = refusal(true, "secret.key=" + key + "55");
    assertNames(faulty, "secret.key: 'key 1 of 1, not shown' is not acceptable");
    assertFalse(faulty.contains("5555"), faulty);
  }

  private String refusalOn(String store, String secret) throws Exception {
    Path credentials =
        Files.writeString(
            folder.resolve("credentials"),
            "[default]\naws_access_key_id=%s\naws_secret_access_key=%s\n"
                .formatted(S3Server.ACCESS_KEY, secret));
    return refusal(
        true, "checkpoints.store=" + store, "checkpoints.s3-credentials-file=" + credentials);
  }

  @Test
  void aBucketThatIsNotThereIsNamed() throws Exception {
    assertNames(
        refusalOn(S3Server.s3proxy().store("no-such-bucket"), S3Server.SECRET_KEY),
        "s3://no-such-bucket/bourse/: there is no bucket 'no-such-bucket' at http");
  }
}
