package dev.bourse.app.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.app.Config;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The secret key that a demo makes for itself. */
class DemoSecretKeyTest {
  private static final String KEY = "01".repeat(32);

  private final Path data;

  DemoSecretKeyTest(@TempDir Path folder) {
    data = folder.resolve("data");
  }

  private Config read(boolean isDemo, Map<String, String> settings) throws Exception {
    return new ServeCommand(new ServeArguments(null, data, settings, 0, isDemo)).read();
  }

  private Set<String> ids(boolean isDemo) throws Exception {
    return Set.copyOf(read(isDemo, Map.of()).secret().keyring().ids());
  }

  @Test
  void aDemoMakesOneKeyAndKeepsIt() throws Exception {
    Set<String> made = ids(true);
    assertEquals(1, made.size());
    assertEquals(made, ids(true));
    assertEquals(made, ids(false), "commands and later starts of the same folder have it too");
    Path file = data.resolve("demo-secret.key");
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
  }

  @Test
  void aKeyThatIsSetIsUsedAndNoneIsMade() throws Exception {
    assertTrue(
        read(true, Map.of("secret.key", KEY)).secret().file().isEmpty(), "the key of the setting");
    assertFalse(Files.exists(data.resolve("demo-secret.key")));
  }

  @Test
  void noOtherServiceMakesAKey() throws Exception {
    assertTrue(ids(false).isEmpty());
    read(true, Map.of("store.url", "postgres://bourse@localhost:5432/bourse"));
    assertFalse(Files.exists(data.resolve("demo-secret.key")), "each process would make its own");
  }
}
