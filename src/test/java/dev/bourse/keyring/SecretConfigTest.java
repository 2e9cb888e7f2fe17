package dev.bourse.keyring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.Settings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The settings of secret keys, and messages about invalid ones. */
class SecretConfigTest {
  private static final String ONE = HexFormat.of().formatHex(KeyringTest.key(1));
  private static final String TWO = Base64.getEncoder().encodeToString(KeyringTest.key(2));
  private static final List<String> IDS =
      List.of(Keyring.idOf(KeyringTest.key(1)), Keyring.idOf(KeyringTest.key(2)));

  private final Path folder;

  SecretConfigTest(@TempDir Path folder) {
    this.folder = folder;
  }

  private List<String> ids(Map<String, String> given, Map<String, String> environment) {
    Settings settings = new Settings(given, environment);
    SecretConfig config = SecretConfig.from(settings, folder);
    assertEquals(List.of(), settings.faults());
    return List.copyOf(config.keyring().ids());
  }

  private String fault(Map<String, String> given) {
    Settings settings = new Settings(given, Map.of());
    SecretConfig.from(settings, folder);
    assertEquals(1, settings.faults().size(), settings.faults().toString());
    return settings.faults().get(0);
  }

  @Test
  void withoutASettingThereIsNoKey() {
    assertTrue(ids(Map.of(), Map.of()).isEmpty());
  }

  @Test
  void keysAreReadInTheirOrderFromTheSettingTheEnvironmentOrAFile() throws Exception {
    Path file = Files.writeString(folder.resolve("key"), ONE + "\n" + TWO + "\n");
    assertEquals(IDS, ids(Map.of("secret.key", ONE + ", " + TWO), Map.of()));
    assertEquals(IDS, ids(Map.of(), Map.of("BOURSE_SECRET_KEY", ONE + "," + TWO)));
    assertEquals(IDS, ids(Map.of("secret.key-file", file.toString()), Map.of()));
  }

  @Test
  void withoutASettingTheFileInTheDataFolderIsRead() throws Exception {
    Files.writeString(folder.resolve(SecretConfig.FILE), ONE + "\n");
    assertEquals(IDS.subList(0, 1), ids(Map.of(), Map.of()));
    assertEquals(IDS.subList(1, 2), ids(Map.of("secret.key", TWO), Map.of()));
  }

  @Test
  void whatIsNoKeyIsRefusedAndNotShown() {
    for (String faulty : List.of(ONE.substring(1), ONE + "0", "pass phrase", TWO + TWO)) {
      String message = fault(Map.of("secret.key", faulty));
      assertTrue(message.contains("openssl rand -hex 32"), message);
      assertFalse(message.contains(faulty.substring(0, 8)), message);
    }
    assertTrue(fault(Map.of("secret.key", ONE + "," + ONE)).contains("each key once"));
    assertEquals(
        "secret.key: 'key 2 of 2, not shown' is not acceptable; expected 32 random bytes as 64"
            + " hexadecimal digits or in base64, such as `openssl rand -hex 32` prints",
        fault(Map.of("secret.key", ONE + " 0123")));
  }

  @Test
  void aFileThatIsNotThereOrEmptyOrBesideAKeyIsRefused() throws Exception {
    String empty = Files.writeString(folder.resolve("empty"), "\n").toString();
    String one = Files.writeString(folder.resolve("one"), ONE).toString();
    assertTrue(fault(Map.of("secret.key-file", folder + "/none")).contains("NoSuchFile"));
    assertTrue(fault(Map.of("secret.key-file", empty)).contains("this one is empty"));
    assertTrue(fault(Map.of("secret.key-file", one, "secret.key", TWO)).contains("one of the two"));
  }

  @Test
  void onlyAKeyThatIsNotGivenCanBeGivenUp() {
    assertTrue(
        fault(Map.of("secret.key", ONE, "secret.give-up", IDS.get(0)))
            .contains("this key is configured"));
    assertTrue(fault(Map.of("secret.give-up", "all")).contains("ids of secret keys"));
    Settings settings =
        new Settings(Map.of("secret.key", ONE, "secret.give-up", IDS.get(1)), Map.of());
    assertEquals(List.of(IDS.get(1)), List.copyOf(SecretConfig.from(settings, folder).giveUp()));
    assertEquals(List.of(), settings.faults());
  }
}
