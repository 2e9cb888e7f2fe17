package dev.bourse.access;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.StoreFixture;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Which keys sign, which verify, and where each half of them is. */
class SigningKeysTest extends StoreFixture {
  private static final long DAY = Duration.ofDays(1).toMillis();
  private static final long MINUTE = 60_000;

  /** Those of a process with a data folder of this name. */
  private SigningKeys process(String name) throws Exception {
    Path data = Files.createDirectories(folder.resolve(name));
    SigningKeys keys = new SigningKeys(vertx, database, data, AccessConfig.defaults(), clock);
    await(keys.start());
    return keys;
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
}
