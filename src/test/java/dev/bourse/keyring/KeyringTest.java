package dev.bourse.keyring;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A ciphertext can only be decrypted with the same key at the same place. */
class KeyringTest {
  private static final byte[] SECRET = "the secret".getBytes(StandardCharsets.UTF_8);

  private final Keyring one = Keyring.of(List.of(key(1)));
  private final Keyring two = Keyring.of(List.of(key(2)));

  static byte[] key(int seed) {
    byte[] key = new byte[Keyring.KEY_BYTES];
    Arrays.fill(key, (byte) seed);
    return key;
  }

  @Test
  void theSameKeyReadsItInTheSamePlace() throws Exception {
    assertArrayEquals(SECRET, one.decrypt("t/a", one.encrypt("t/a", SECRET)));
  }

  @Test
  void whatIsEncryptedTwiceIsNotTheSame() {
    assertNotEquals(one.encrypt("t/a", SECRET), one.encrypt("t/a", SECRET));
  }

  @Test
  void aCiphertextMovedToAnotherRowIsRefused() {
    Encrypted encrypted = one.encrypt("t/a", SECRET);
    String message =
        String.valueOf(
            assertThrows(DecryptionException.class, () -> one.decrypt("t/b", encrypted))
                .getMessage());
    assertTrue(message.startsWith("t/b is not what was stored there"), message);
  }

  @Test
  void anAlteredOrCutCiphertextIsRefused() {
    Encrypted encrypted = one.encrypt("t/a", SECRET);
    byte[] bytes = Base64.getDecoder().decode(encrypted.ciphertext());
    for (int length = 0; length < bytes.length; length++) {
      refused(encrypted.keyId(), Arrays.copyOf(bytes, length));
      byte[] altered = bytes.clone();
      altered[length] ^= 1;
      refused(encrypted.keyId(), altered);
    }
    assertThrows(
        DecryptionException.class,
        () -> one.decrypt("t/a", new Encrypted(encrypted.keyId(), "not base64!")));
  }

  private void refused(String keyId, byte[] bytes) {
    Encrypted encrypted = new Encrypted(keyId, Base64.getEncoder().encodeToString(bytes));
    assertThrows(DecryptionException.class, () -> one.decrypt("t/a", encrypted));
  }

  @Test
  void aKeyThatIsNotGivenIsNamed() {
    Encrypted encrypted = one.encrypt("t/a", SECRET);
    String message =
        String.valueOf(
            assertThrows(DecryptionException.class, () -> two.decrypt("t/a", encrypted))
                .getMessage());
    assertEquals(
        "t/a is encrypted with secret key " + one.firstId() + ", which is not given", message);
  }

  @Test
  void theFirstKeyEncryptsAndEachDecrypts() throws Exception {
    Keyring both = Keyring.of(List.of(key(2), key(1)));
    assertEquals(two.firstId(), both.encrypt("t/a", SECRET).keyId());
    assertArrayEquals(SECRET, both.decrypt("t/a", one.encrypt("t/a", SECRET)));
    assertEquals(Set.of(one.firstId(), two.firstId()), both.ids());
  }

  @Test
  void anIdTellsNothingOfTheKeyAndIsTheSameEverywhere() {
    // SHA-256 of "bourse secret key id\n" and 32 zero bytes.
    assertEquals("c46daa42", Keyring.idOf(new byte[Keyring.KEY_BYTES]));
    assertEquals("Keyring[" + one.firstId() + "]", one.toString());
  }

  @Test
  void withoutAKeyNothingIsEncrypted() {
    assertTrue(Keyring.empty().isEmpty());
    assertFalse(one.isEmpty());
    assertThrows(IllegalStateException.class, () -> Keyring.empty().encrypt("t/a", SECRET));
    assertThrows(IllegalArgumentException.class, () -> Keyring.of(List.of(new byte[31])));
  }
}
