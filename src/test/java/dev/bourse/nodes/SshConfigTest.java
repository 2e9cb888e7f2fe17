package dev.bourse.nodes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The accepted settings of real machines. */
@Tag("fast")
class SshConfigTest {
  private static final SshConfig DEFAULTS = SshConfig.defaults(Path.of("id"));

  @Test
  void theDefaultsAreAcceptable() {
    assertEquals("/home/tenant/.ssh/authorized_keys", filledKeysPath(DEFAULTS));
  }

  @Test
  void placeholdersAreFilledAndOtherBracesLeft() {
    assertEquals("n-1 tenant ${x} {other}", DEFAULTS.filled("{node} {user} ${x} {other}", "n-1"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "relative/keys/file",
        "/one",
        "/one/two",
        "/a/../b/keys",
        "/a/b/c d",
        "/a/b/$(id)",
        "/a/b/'c'",
        "/a/b/{other}",
        "/a/b/c/..",
        "/a/b/",
        ""
      })
  void pathsAreAbsoluteDeepAndPlain(String path) {
    assertThrows(IllegalArgumentException.class, () -> with("root", "tenant", path, "wipe", 3));
  }

  @ParameterizedTest
  @CsvSource({"root,root", "ops,ops", "ops,root", "'a b',tenant", "root,'x;id'", "root,''"})
  void theTenantIsAPlainLoginAndNeitherRootNorTheAdmin(String admin, String tenant) {
    assertThrows(IllegalArgumentException.class, () -> with(admin, tenant, "/a/b/keys", "wipe", 3));
  }

  @Test
  void numbersAreBounded() {
    assertThrows(
        IllegalArgumentException.class, () -> with("root", "tenant", "/a/b/keys", "wipe", 0));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "1000-2000", "65535-70000", "70000-65536", "65536-268435456", "-1", "7e6-8e6"})
  void idsAreNeitherOfAMachinesAccountsNorSubordinate(String range) {
    assertThrows(IllegalArgumentException.class, () -> IdRange.parse(range));
  }

  @Test
  void aRangeOfIdsIsReadAsItIsWritten() {
    assertEquals(new IdRange(65_536, 268_435_455), IdRange.parse(" 65536-268435455"));
    assertEquals(DEFAULTS.idRange(), IdRange.parse(DEFAULTS.idRange().toString()));
  }

  @Test
  void nodeIdsAreWhatAPathAndACommandCanCarry() {
    for (String good : new String[] {"n", "node-1", "a.b-c.example", "0"}) {
      assertTrue(SshConfig.isNodeId(good), good);
    }
    for (String bad : new String[] {"", "..", ".a", "a.", "-a", "A", "a b", "a/b", "a;b", "a\n"}) {
      assertFalse(SshConfig.isNodeId(bad), bad);
    }
    assertFalse(SshConfig.isNodeId("a".repeat(64)));
  }

  private static String filledKeysPath(SshConfig config) {
    return config.filled(config.authorizedKeysPath(), "n");
  }

  private static SshConfig with(
      String admin, String tenant, String keysPath, String wipe, int attempts) {
    return new SshConfig(
        admin,
        DEFAULTS.identityFile(),
        tenant,
        true,
        DEFAULTS.idRange(),
        keysPath,
        DEFAULTS.markPath(),
        DEFAULTS.runPath(),
        "",
        "true",
        wipe,
        "",
        3_600_000,
        true,
        "",
        1_000,
        1_000,
        attempts,
        1,
        1,
        1);
  }
}
