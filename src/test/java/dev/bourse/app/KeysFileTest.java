package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The file of minted secrets. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class KeysFileTest {
  @TempDir private Path folder;
  private Path path;
  private KeysFile file;

  @BeforeEach
  void name() {
    path = folder.resolve("demo.json");
    file = new KeysFile(path);
  }

  @Test
  void onlyItsOwnerCanReadItWhateverWasThereBefore() throws IOException {
    Files.writeString(path, "{}");
    file.merge(org("t1", "secret-1"));

    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(path)));
  }

  @Test
  void whatItToldStaysAndNewTokensJoinIt() throws IOException {
    file.merge(org("t1", "secret-1"));
    file.noteBaseUrl("http://localhost:1");
    file.merge(org("t2", "secret-2"));
    file.merge(new JsonObject().put("b", new JsonObject().put("tokens", new JsonObject())));

    JsonObject content = new JsonObject(Files.readString(path));
    assertEquals("http://localhost:1", content.getString("base_url"));
    JsonObject tokens = content.getJsonObject("orgs").getJsonObject("a").getJsonObject("tokens");
    assertEquals(new JsonObject().put("t1", "secret-1").put("t2", "secret-2"), tokens);
  }

  @Test
  void whatOthersMadeIsAddedAndTakesNothingsPlace() throws IOException {
    file.merge(org("t1", "put there by an operator"));
    file.complete(org("t1", "secret-1"));
    file.complete(org("t2", "secret-2"));

    JsonObject content = new JsonObject(Files.readString(path));
    JsonObject tokens = content.getJsonObject("orgs").getJsonObject("a").getJsonObject("tokens");
    assertEquals(
        new JsonObject().put("t1", "put there by an operator").put("t2", "secret-2"), tokens);
  }

  @Test
  void theAddressOfThisTimeReplacesTheLastOne() throws IOException {
    file.merge(org("t1", "secret-1"));
    file.noteBaseUrl("http://localhost:1");
    file.noteBaseUrl("http://localhost:2");

    JsonObject content = new JsonObject(Files.readString(path));
    assertEquals("http://localhost:2", content.getString("base_url"));
    assertEquals(1, content.getJsonObject("orgs").size());
  }

  @Test
  void aHalfWrittenFileOfACrashIsReplacedAndTheOldOneWasWhole() throws IOException {
    file.merge(org("t1", "secret-1"));
    Path torn = folder.resolve("demo.json.new");
    Files.writeString(torn, "{\"orgs\":{\"a\":");
    file.merge(org("t2", "secret-2"));

    assertFalse(Files.exists(torn));
    assertEquals(
        2,
        new JsonObject(Files.readString(path))
            .getJsonObject("orgs")
            .getJsonObject("a")
            .getJsonObject("tokens")
            .size());
  }

  private static JsonObject org(String token, String secret) {
    return new JsonObject()
        .put("a", new JsonObject().put("tokens", new JsonObject().put(token, secret)));
  }
}
