package dev.bourse.access;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.StoreFixture;
import dev.bourse.keyring.Keyring;
import dev.bourse.keyring.SharedSecrets;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The keys that sign and verify, and the storage of each half. */
class SigningKeysTest extends StoreFixture {
  private static final long DAY = Duration.ofDays(1).toMillis();
  private static final long MINUTE = 60_000;

  /** Keys of a process with a data folder of this name. */
  private SigningKeys process(String name) throws Exception {
    Path data = Files.createDirectories(folder.resolve(name));
    SigningKeys keys = new SigningKeys(vertx, database, data, AccessConfig.defaults(), clock);
    await(keys.start());
    return keys;
  }

  /** Keys of a process with secret keys made of these numbers; the first one encrypts. */
  private SigningKeys sharing(String name, int... seeds) throws Exception {
    Path data = Files.createDirectories(folder.resolve(name));
    SigningKeys keys =
        new SigningKeys(vertx, database, data, secrets(seeds), AccessConfig.defaults(), clock);
    await(keys.start());
    return keys;
  }

  private SharedSecrets secrets(int... seeds) {
    List<byte[]> given = new ArrayList<>();
    for (int seed : seeds) {
      byte[] key = new byte[32];
      Arrays.fill(key, (byte) seed);
      given.add(key);
    }
    return new SharedSecrets(database, Keyring.of(given), clock);
  }

  private static String signingKid(SigningKeys keys) {
    String token = keys.sign(new JsonObject().put("sub", "alice"), "at+jwt");
    byte[] header = Base64.getUrlDecoder().decode(token.split("\\.", -1)[0]);
    return new JsonObject(new String(header, StandardCharsets.UTF_8)).getString("kid");
  }

  private static Set<String> published(SigningKeys keys) {
    return keys.jwks().getJsonArray("keys").stream()
        .map(jwk -> ((JsonObject) jwk).getString("kid"))
        .collect(Collectors.toSet());
  }

  private List<Path> files(String name) throws Exception {
    try (Stream<Path> files = Files.list(folder.resolve(name).resolve("signing-keys"))) {
      return files.toList();
    }
  }

  @Test
  void theFirstStartMakesAKeyThatOnlyItsOwnerCanRead() throws Exception {
    SigningKeys keys = process("one");
    List<Path> files = files("one");

    assertEquals(1, files.size());
    assertEquals(
        "rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(files.get(0))));
    assertEquals(
        "rwx------",
        PosixFilePermissions.toString(
            Files.getPosixFilePermissions(files.get(0).resolveSibling("."))));
    assertEquals(signingKid(keys), signingKid(process("one")));
    assertEquals(1, files("one").size());
  }

  @Test
  void thePrivateHalfIsNeitherStoredNorPublishedNorShown() throws Exception {
    SigningKeys keys = process("one");
    JsonObject jwk = keys.jwks().getJsonArray("keys").getJsonObject(0);

    assertEquals(Set.of("kty", "crv", "x", "y", "kid", "use", "alg"), jwk.fieldNames());
    assertEquals(List.of(jwk.encode()), texts("SELECT public_jwk FROM signing_key"));
    assertFalse(SigningKey.generate().toString().contains("BEGIN"));
  }

  @Test
  void aKeyIsNamedByItsThumbprint() {
    SigningKey key =
        new SigningKey(
            "",
            """
            -----BEGIN PUBLIC KEY-----
            MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEMKBCTNIcKUSDii11ySs3526iDZ8A
            iTo7Tu6KPAqv7D7gS2XpJFbZiItSs3m9+9Ue6GnvHw/GW2ZZaVtszggXIw==
            -----END PUBLIC KEY-----
            """);
    // RFC 7517 appendix A.1's key; its thumbprint by RFC 7638.
    assertEquals("MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4", key.publicJwk().getString("x"));
    assertEquals("4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM", key.publicJwk().getString("y"));
    assertEquals("cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s", key.kid());
  }

  @Test
  void whatOneProcessSignsAnotherOnTheSameStoreVerifies() throws Exception {
    SigningKeys one = process("one");
    SigningKeys two = process("two");
    await(one.load());

    assertNotEquals(signingKid(one), signingKid(two));
    assertNotNull(one.find(signingKid(two)));
    assertNotNull(two.find(signingKid(one)));
    assertEquals(published(one), published(two));
  }

  @Test
  void aKeyThatIsDueIsFollowedByOneThatSignsOnceTheOthersHadTimeToReadIt() throws Exception {
    SigningKeys keys = process("one");
    String first = signingKid(keys);
    clock.advance(90 * DAY - 1);
    await(keys.step(clock.millis()));
    assertEquals(1, published(keys).size());
    clock.advance(1);
    await(keys.step(clock.millis()));

    assertEquals(2, published(keys).size());
    assertEquals(first, signingKid(keys));
    clock.advance(MINUTE);
    assertNotEquals(first, signingKid(keys));
  }

  @Test
  void aRetiredKeyVerifiesUntilTheLastTokenItSignedHasExpired() throws Exception {
    SigningKeys keys = process("one");
    String first = signingKid(keys);
    clock.advance(90 * DAY);
    await(keys.step(clock.millis()));
    clock.advance(MINUTE);
    await(keys.step(clock.millis()));
    assertEquals(1, files("one").size());
    assertNotNull(keys.find(first));

    clock.advance(SigningKeys.LONGEST_TOKEN_MILLIS - 1);
    await(keys.step(clock.millis()));
    assertNotNull(keys.find(first));
    clock.advance(1);
    await(keys.step(clock.millis()));
    assertNull(keys.find(first));
    assertEquals(Set.of(signingKid(keys)), published(keys));
  }

  @Test
  void theKeyOfAProcessThatIsGoneExpiresByItself() throws Exception {
    String gone = signingKid(process("gone"));
    SigningKeys keys = process("one");
    assertTrue(published(keys).contains(gone));
    clock.advance(125 * DAY);
    await(keys.step(clock.millis()));

    assertFalse(published(keys).contains(gone));
  }

  @Test
  void aKeyTooOldToSignIsFollowedAtTheStart() throws Exception {
    String first = signingKid(process("one"));
    clock.advance(100 * DAY);
    SigningKeys keys = process("one");
    clock.advance(MINUTE);

    assertNotEquals(first, signingKid(keys));
    assertNotNull(keys.find(first));
  }

  @Test
  void aSecretIsMadeOnceForAStore() throws Exception {
    byte[] one = await(new ServiceSecrets(database, new Random(1)).get("confirm"));
    ServiceSecrets second = new ServiceSecrets(database, new Random(2));
    byte[] two = await(second.get("confirm"));

    assertEquals(32, one.length);
    assertArrayEquals(one, two);
    assertNotEquals(List.of(one), List.of(await(second.get("another"))));
    two[0]++;
    assertArrayEquals(one, await(second.get("confirm")));
  }

  @Test
  void processesWithASecretKeySignWithOneKeyAndKeepNoneOnDisk() throws Exception {
    SigningKeys one = sharing("one", 1);
    SigningKeys two = sharing("two", 1);

    assertEquals(signingKid(one), signingKid(two));
    assertEquals(1, published(two).size());
    assertFalse(Files.exists(folder.resolve("one").resolve("signing-keys")));
    assertEquals(1, texts("SELECT name FROM encrypted_secret").size());
  }

  @Test
  void ofTwoKeysMadeAtTheSameMomentAllAgreeOnOneAndTheOtherIsRetired() throws Exception {
    SigningKeys one = sharing("one", 1);
    SigningKeys two = sharing("two", 1);
    String first = signingKid(one);
    clock.advance(90 * DAY);
    // Neither process has read the other's key.
    await(Future.all(one.step(clock.millis()), two.step(clock.millis())));
    await(Future.all(one.load(), two.load()));
    assertEquals(first, signingKid(two));
    clock.advance(MINUTE);
    String second = signingKid(one);
    assertNotEquals(first, second);
    assertEquals(second, signingKid(two));

    await(two.step(clock.millis()));
    await(one.refresh(List.of(first)));
    assertEquals(second, signingKid(one));
    assertNotNull(one.find(first));
    assertFalse(texts("SELECT name FROM encrypted_secret").contains("signing-key/" + first));
  }

  @Test
  void theFirstStartWithASecretKeyMovesTheFilesIntoTheStore() throws Exception {
    String mine = signingKid(process("one"));
    String theirs = signingKid(process("two"));
    clock.advance(MINUTE);
    SigningKeys one = sharing("one", 1);
    assertEquals(mine, signingKid(one));
    assertEquals(List.of(), files("one"));
    assertNotNull(one.find(theirs));

    // The other process is restarted later, and its folder may be lost after that.
    sharing("two", 1);
    SigningKeys empty = sharing("empty", 1);
    assertEquals(Set.of(mine, theirs), published(empty));
    await(one.load());
    assertEquals(signingKid(one), signingKid(empty));
    assertEquals(2, texts("SELECT name FROM encrypted_secret").size());
  }

  @Test
  void aProcessThatWasNotGivenTheNewSecretKeyGoesOnAndItsTokensVerify() throws Exception {
    SigningKeys old = sharing("old", 1);
    SigningKeys next = sharing("next", 2, 1);
    clock.advance(90 * DAY);
    await(next.step(clock.millis()));
    await(old.load());
    clock.advance(MINUTE);
    await(next.step(clock.millis()));
    await(old.load());
    assertNotNull(next.find(signingKid(old)));
    assertNotNull(old.find(signingKid(next)));

    // Its signing key was retired; its next step makes one that both can read.
    await(old.step(clock.millis()));
    clock.advance(MINUTE);
    await(old.load());
    await(next.load());
    assertEquals(signingKid(old), signingKid(next));
  }

  @Test
  void aPrivateKeyThatNobodyRetiredGoesWithItsPublicHalf() throws Exception {
    String gone = signingKid(sharing("gone", 1));
    clock.advance(125 * DAY);
    SigningKeys keys = sharing("one", 1);
    await(keys.step(clock.millis()));

    assertEquals(
        List.of("signing-key/" + signingKid(keys)), texts("SELECT name FROM encrypted_secret"));
    assertFalse(published(keys).contains(gone));
  }

  @Test
  void thePrivateHalfIsReadableNowhereInTheStore() throws Exception {
    sharing("one", 1);
    assertFalse(texts("SELECT ciphertext FROM encrypted_secret").get(0).contains("BEGIN"));
    assertFalse(texts("SELECT public_jwk FROM signing_key").get(0).contains("\"d\""));
  }

  @Test
  void aStoresSecretIsEncryptedOnceThereIsASecretKeyAndStaysTheSame() throws Exception {
    byte[] plain = await(new ServiceSecrets(database, new Random(1)).get("confirm"));
    byte[] shared = await(new ServiceSecrets(database, secrets(1), new Random(2)).get("confirm"));

    assertArrayEquals(plain, shared);
    assertArrayEquals(
        plain, await(new ServiceSecrets(database, secrets(2, 1), new Random(3)).get("confirm")));
    assertEquals(List.of(), texts("SELECT secret FROM service_secret"));
    assertEquals(List.of("service/confirm"), texts("SELECT name FROM encrypted_secret"));
  }
}
