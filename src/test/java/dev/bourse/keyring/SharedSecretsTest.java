package dev.bourse.keyring;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.StoreFixture;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreRefusedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Rows of encrypted secrets: reading, key rotation, and messages about missing keys. */
class SharedSecretsTest extends StoreFixture {
  private static final Keyring ONE = Keyring.of(List.of(KeyringTest.key(1)));
  private static final Keyring TWO = Keyring.of(List.of(KeyringTest.key(2)));
  private static final Keyring TWO_THEN_ONE =
      Keyring.of(List.of(KeyringTest.key(2), KeyringTest.key(1)));

  private SharedSecrets with(Keyring keyring) {
    return new SharedSecrets(database, keyring, clock);
  }

  private void store(SharedSecrets secrets, String... namesAndSecrets) throws Exception {
    List<Statement> statements = new ArrayList<>();
    for (int i = 0; i < namesAndSecrets.length; i += 2) {
      statements.add(secrets.storing(namesAndSecrets[i], namesAndSecrets[i + 1].getBytes(UTF_8)));
    }
    await(database.commit(statements));
  }

  private Map<String, String> list(SharedSecrets secrets, String kind) throws Exception {
    Map<String, String> texts = new TreeMap<>();
    await(secrets.list(kind)).forEach((name, secret) -> texts.put(name, new String(secret, UTF_8)));
    return texts;
  }

  @Test
  void whoIsFirstDecidesAndAllReadThat() throws Exception {
    store(with(ONE), "a/x", "first", "ab/x", "other kind", "b/x", "another");
    store(with(ONE), "a/x", "second", "a/y", "more");

    assertEquals(Map.of("a/x", "first", "a/y", "more"), list(with(ONE), "a/"));
  }

  @Test
  void theStoreHasNothingReadable() throws Exception {
    store(with(ONE), "a/x", "first");
    for (String text :
        texts("SELECT name || key_id || ciphertext AS value FROM encrypted_secret")) {
      assertFalse(text.contains("first"), text);
    }
    assertEquals(List.of(ONE.firstId()), texts("SELECT key_id FROM encrypted_secret"));
  }

  private String refusal(Keyring given) {
    return String.valueOf(
        fails(StoreRefusedException.class, with(given).check(Set.of())).getMessage());
  }

  @Test
  void aStartWithAnotherKeyOrNoneSaysWhichIsWanted() throws Exception {
    store(with(ONE), "a/x", "first", "a/y", "second");
    String another = refusal(TWO);
    String none = refusal(Keyring.empty());

    String wanted =
        "2 secrets of the store are encrypted with secret key %s, which is not given"
            .formatted(ONE.firstId());
    assertTrue(another.startsWith(wanted + " (given: " + TWO.firstId() + ")"), another);
    assertTrue(none.startsWith(wanted + " (none is)"), none);
    assertTrue(none.contains("--set secret.give-up=" + ONE.firstId()), none);
    await(with(ONE).check(Set.of()));
    await(with(TWO_THEN_ONE).check(Set.of()));
  }

  @Test
  void whatALostKeyEncryptedCanBeGivenUp() throws Exception {
    store(with(ONE), "a/x", "lost");
    store(with(TWO), "a/y", "kept");
    await(with(TWO).check(Set.of(ONE.firstId())));

    assertEquals(Map.of("a/y", "kept"), list(with(TWO), "a/"));
    assertEquals(1, integers("SELECT COUNT(*) FROM encrypted_secret").get(0));
  }

  @Test
  void aKeyIsReplacedByTwoOfWhichTheFirstEncryptsAnew() throws Exception {
    for (int i = 0; i < 150; i++) {
      store(with(ONE), "a/" + i, "secret " + i);
    }
    Map<String, String> before = list(with(ONE), "a/");
    SharedSecrets both = with(TWO_THEN_ONE);
    while (await(both.reencrypt())) {}

    assertEquals(List.of(TWO.firstId()), texts("SELECT DISTINCT key_id FROM encrypted_secret"));
    assertEquals(before, list(with(TWO), "a/"));
    assertFalse(await(with(TWO).reencrypt()));
  }

  @Test
  void aRowThatWasAlteredIsLeftOutAndLeftAlone() throws Exception {
    store(with(ONE), "a/x", "first", "a/y", "second");
    await(
        database.commit(
            List.of(
                Statement.of(
                    """
                    UPDATE encrypted_secret SET ciphertext =
                    (SELECT ciphertext FROM encrypted_secret WHERE name = 'a/x')
                    WHERE name = 'a/y'\
                    """))));
    assertEquals(Map.of("a/x", "first"), list(with(ONE), "a/"));
    assertFalse(await(with(TWO_THEN_ONE).reencrypt()));
    assertEquals(Map.of("a/x", "first"), list(with(TWO), "a/"));
    assertEquals(2, integers("SELECT COUNT(*) FROM encrypted_secret").get(0));
  }
}
