package dev.bourse.client.account;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.client.transfer.ConfigFolder;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The file of names that commands saw. */
@Tag("fast")
@SuppressWarnings("NullAway.Init") // JUnit sets the folder before each test.
class KnownNamesTest {
  @TempDir private Path home;

  private ConfigFolder folder() {
    return new ConfigFolder(
        new CommandEnvironment(
            Map.of("XDG_CONFIG_HOME", home.toString()),
            false,
            Clock.systemUTC(),
            new Random(1),
            over -> {},
            Optional::empty,
            Optional.empty()));
  }

  private KnownNames names(String profile) {
    return new KnownNames(folder(), new SignInProfile(profile, "http://localhost:8080"));
  }

  private Path file() {
    return home.resolve("bourse/names.json");
  }

  private static JsonObject whoami(String... clusters) {
    JsonArray listed = new JsonArray();
    for (String name : clusters) {
      listed.add(new JsonObject().put("name", name).put("kind", "vm"));
    }
    return new JsonObject().put("clusters", listed);
  }

  private static KnownNames.Node node(String cluster, int slot) {
    return new KnownNames.Node(cluster, cluster + '-' + slot, "198.18.0." + slot);
  }

  @Test
  void onlyThePersonReadsTheFile() throws IOException {
    names("work").learnWhoami(whoami("a"));
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file())));
  }

  @Test
  void aClusterThatIsGoneIsForgottenWithItsNodes() {
    names("work").learnNodes("a", List.of(node("a", 0)));
    names("work").learnNodes("b", List.of(node("b", 0)));
    names("work").learnWhoami(whoami("b", "c"));
    assertEquals(List.of("b", "c"), names("work").clusters(Optional.empty()));
    assertEquals(List.of(node("b", 0)), names("work").nodes(Optional.empty()));
  }

  @Test
  void nodesThatWereGivenBackAreForgotten() {
    names("work").learnNodes("a", List.of(node("a", 0), node("a", 1)));
    names("work").learnNodes("a", List.of(node("a", 1)));
    assertEquals(List.of(node("a", 1)), names("work").nodes(Optional.of("a")));
    assertEquals(List.of(), names("work").nodes(Optional.of("b")));
  }

  @Test
  void eachSignInHasItsOwn() {
    names("work").learnWhoami(whoami("a"));
    names("home").learnWhoami(whoami("b"));
    assertEquals(List.of("a"), names("work").clusters(Optional.empty()));
    assertEquals(List.of("b"), names("home").clusters(Optional.of("vm")));
    assertEquals(List.of(), names("home").clusters(Optional.of("k8s")));
  }

  @Test
  void whatIsKnownIsNotWrittenAgain() throws IOException {
    names("work").learnWhoami(whoami("a"));
    FileTime longAgo = FileTime.from(Instant.EPOCH);
    Files.setLastModifiedTime(file(), longAgo);
    names("work").learnWhoami(whoami("a"));
    assertEquals(longAgo, Files.getLastModifiedTime(file()));
  }

  @Test
  void theFileStaysSmallWhateverIsTold() throws IOException {
    String[] clusters = new String[1_000];
    for (int i = 0; i < clusters.length; i++) {
      clusters[i] = "c".repeat(120) + i;
    }
    for (int i = 0; i < 9; i++) {
      KnownNames names = names("profile" + i);
      names.learnWhoami(whoami(clusters));
      List<KnownNames.Node> nodes = new ArrayList<>();
      for (int slot = 0; slot < 2_000; slot++) {
        nodes.add(node(clusters[0], slot));
      }
      names.learnNodes(clusters[0], nodes);
    }
    assertTrue(Files.size(file()) < 1_600_000, () -> String.valueOf(file().toFile().length()));
    assertEquals(List.of(), names("profile0").clusters(Optional.empty()), "the first goes");
    assertEquals(200, names("profile8").clusters(Optional.empty()).size());
    assertEquals(300, names("profile8").nodes(Optional.empty()).size());
  }

  @Test
  void whatAShellWouldActUponIsNotKept() throws IOException {
    names("work").learnWhoami(whoami("$(id)", "a b", "-c", "", "plain"));
    names("work").learnNodes("`id`", List.of(node("`id`", 0)));
    assertEquals(List.of("plain"), names("work").clusters(Optional.empty()));
    assertFalse(Files.readString(file()).contains("id"));
  }

  @Test
  void aDamagedFileIsReplacedByWhatIsLearntNext() throws IOException {
    names("work").learnWhoami(whoami("a"));
    Files.writeString(file(), "{\"profiles\": [");
    names("work").learnWhoami(whoami("b"));
    assertEquals(List.of("b"), names("work").clusters(Optional.empty()));
  }

  @Test
  void whoCannotWriteLearnsNothingAndGoesOn() throws Exception {
    try (FileChannel other = folder().tryLock("names.json")) {
      assertTrue(other != null, "nobody else is there");
      names("work").learnWhoami(whoami("a"));
    }
    assertEquals(List.of(), names("work").clusters(Optional.empty()));
    Files.createDirectories(file().resolve("in the way"));
    names("work").learnWhoami(whoami("a"));
    assertEquals(List.of(), names("work").clusters(Optional.empty()));
  }
}
