package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.Ports;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ChildBourse;
import dev.bourse.testing.CommandRun;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SharedPostgres;
import dev.bourse.testing.Slow;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processes that share a database and one secret key, each with an empty data folder. */
@OneEngine("only PostgreSQL is shared by several processes")
class SharedSecretsProcessTest {
  private static final String SECRET =
      "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
  private static final String NEXT_SECRET =
      "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100";

  private final Path folder;

  SharedSecretsProcessTest(@TempDir Path folder) {
    this.folder = folder;
  }

  private List<String> settings(String url, int port, String keys) {
    return List.of(
        "port=" + port,
        "event-loops=1",
        // The issuer in members' tokens.
        "base-url=http://bourse.example",
        "store.url=" + url,
        "secret.key=" + keys);
  }

  private static JsonObject keysFile(Path data) throws Exception {
    return new JsonObject(Files.readString(data.resolve("demo.json")));
  }

  private static String memberToken(Path data) throws Exception {
    return keysFile(data)
        .getJsonObject("orgs")
        .getJsonObject("acme")
        .getJsonObject("members")
        .getJsonObject("alice")
        .getString("member_token");
  }

  private static void assertTakes(int port, String token) {
    new ApiClient("http://localhost:" + port, token).get("/api/checkpoints").ok();
  }

  private static JsonArray keys(int port) {
    return new ApiClient("http://localhost:" + port, null)
        .get("/oauth/jwks.json")
        .ok()
        .getJsonArray("keys");
  }

  @Test
  @Slow("three JVMs start one after another, with two secret keys")
  void nothingHasToBeCopiedAndNothingIsLostWithADataFolder() throws Exception {
    String url = SharedPostgres.server().newStore();
    Path one = folder.resolve("one");
    Path two = folder.resolve("two");
    Path log = folder.resolve("log");
    int port = Ports.free();
    int other = Ports.free();
    String token;
    try (ChildBourse first = ChildBourse.logging(one, settings(url, port, SECRET), log)) {
      try (ChildBourse ignored = new ChildBourse(two, settings(url, other, SECRET))) {
        assertTakes(other, memberToken(one));
        assertTakes(port, memberToken(two));
        assertEquals(1, keys(port).size());
        assertEquals(keys(port), keys(other));
      }
      assertFalse(Files.exists(one.resolve("signing-keys")));
      assertFalse(Files.exists(two.resolve("signing-keys")));
      token = memberToken(one);
      first.kill();
    }
    assertSameTokensAreTold(one, two);

    Set<String> before = encryptingKeys(url);
    assertEquals(1, before.size());
    Path empty = folder.resolve("empty");
    try (ChildBourse ignored =
        new ChildBourse(empty, settings(url, other, NEXT_SECRET + "," + SECRET))) {
      assertTakes(other, token);
      assertNotEquals(token, memberToken(empty));
      assertEquals(1, keys(other).size());
      assertSameTokensAreTold(one, empty);
      untilAnotherKeyEncrypts(url, before);
    }

    String said = Files.readString(log);
    assertFalse(said.contains(SECRET), "the secret key is in the log");
    assertFalse(said.contains("PRIVATE KEY"), "a private key is in the log");
    assertNothingIsExported(url, keysFile(one));
    importSaysWhichKeyIsWanted();
    refusesAnotherKey(url);
  }

  /**
   * The id of the encrypting key does not show whether rows were re-encrypted, so the rows are
   * checked.
   */
  private static void untilAnotherKeyEncrypts(String url, Set<String> before) {
    RunningBourse.until(
        "all secrets are encrypted again",
        () -> {
          Set<String> now = encryptingKeys(url);
          return now.size() == 1 && !now.equals(before);
        });
  }

  private static Set<String> encryptingKeys(String url) {
    Set<String> ids = new HashSet<>();
    try (Connection store = SharedPostgres.server().connect(url);
        ResultSet keys =
            store.createStatement().executeQuery("SELECT DISTINCT key_id FROM encrypted_secret")) {
      while (keys.next()) {
        ids.add(keys.getString(1));
      }
      return ids;
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  private static void assertSameTokensAreTold(Path one, Path other) throws Exception {
    JsonObject first = keysFile(one);
    JsonObject second = keysFile(other);
    assertEquals(first.getString("operator_token"), second.getString("operator_token"));
    for (String org : first.getJsonObject("orgs").fieldNames()) {
      assertEquals(
          first.getJsonObject("orgs").getJsonObject(org).getJsonObject("tokens"),
          second.getJsonObject("orgs").getJsonObject(org).getJsonObject("tokens"),
          org);
    }
  }

  private void assertNothingIsExported(String url, JsonObject keysFile) throws Exception {
    Path file = folder.resolve("export.gz");
    CommandRun.of("export", file.toString(), "--set", "store.url=" + url).succeeded();
    String rows;
    try (InputStream in = new GZIPInputStream(Files.newInputStream(file))) {
      rows = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
    assertTrue(rows.contains("signing-key/"), "the encrypted keys are exported");
    assertFalse(rows.contains("PRIVATE KEY"));
    assertFalse(rows.contains(SECRET));
    assertFalse(rows.contains(keysFile.getString("operator_token")));
  }

  private void importSaysWhichKeyIsWanted() {
    CommandRun imported =
        CommandRun.of(
            "import",
            folder.resolve("export.gz").toString(),
            "--data",
            folder.resolve("imported").toString(),
            "--set",
            "secret.key=" + SECRET);
    imported.succeeded();
    assertTrue(imported.err().contains("serve does not start yet: "), imported.err());
    assertTrue(imported.err().contains("secret.give-up="), imported.err());
  }

  /** The rows were re-encrypted with the first key. */
  private void refusesAnotherKey(String url) throws Exception {
    List<String> doctor = new ArrayList<>(List.of("doctor", "--set", "store.url=" + url));
    CommandRun.of(with(doctor, NEXT_SECRET)).succeeded();
    CommandRun wrong = CommandRun.of(with(doctor, SECRET));
    assertEquals(3, wrong.code(), wrong.out() + wrong.err());
    assertTrue(wrong.out().contains("secret.give-up="), wrong.out());
  }

  private static String[] with(List<String> command, String key) {
    List<String> all = new ArrayList<>(command);
    all.addAll(List.of("--set", "secret.key=" + key));
    return all.toArray(String[]::new);
  }
}
