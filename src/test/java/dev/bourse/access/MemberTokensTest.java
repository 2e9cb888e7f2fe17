package dev.bourse.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.Sample;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.Statement;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.auth.JWTOptions;
import io.vertx.ext.auth.PubSecKeyOptions;
import io.vertx.ext.auth.jwt.JWTAuth;
import io.vertx.ext.auth.jwt.JWTAuthOptions;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** By which JWT a member acts, and by which not. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class MemberTokensTest extends StoreFixture {
  private static final long HOUR = 3_600_000;

  @TempDir Path keys;

  private Tokens organizations;
  private Members members;
  private SigningKey key;
  private MemberTokens tokens;

  @BeforeEach
  void addAlice() throws Exception {
    await(
        database.commit(
            List.of(
                Statement.of(
                    "INSERT INTO member (org_id, username, email, name, created_at)"
                        + " VALUES ('acme', 'alice', 'alice@acme.example', 'Alice', 0)"))));
    organizations = new Tokens(new AccessStore(database), clock);
    await(organizations.load());
    members = new Members(new AccessStore(database));
    await(members.load());
    key = SigningKey.at(keys.resolve("key.pem"));
    tokens = new MemberTokens(vertx, key, members, organizations, clock);
  }

  private void refused(String token) {
    Sample.refused(ErrorCode.UNAUTHORIZED, () -> tokens.authenticate(token));
  }

  /** A token with these claims, signed as told. */
  private String signed(JsonObject claims, String algorithm, String pem) {
    return JWTAuth.create(
            vertx,
            new JWTAuthOptions()
                .addPubSecKey(new PubSecKeyOptions().setAlgorithm(algorithm).setBuffer(pem)))
        .generateToken(claims, new JWTOptions().setAlgorithm(algorithm));
  }

  private JsonObject claims() {
    long now = clock.millis() / 1_000;
    return new JsonObject()
        .put("sub", "alice")
        .put("org", "acme")
        .put("aud", "bourse")
        .put("iat", now)
        .put("exp", now + 60);
  }

  @Test
  void aMembersTokenIsThatMemberForTheirOrganization() {
    Principal alice = tokens.authenticate(tokens.issue("acme", "alice", HOUR));

    assertEquals("member:alice", alice.actor());
    assertEquals("alice", alice.member());
    assertEquals("acme", alice.org().orgId());
    assertEquals(Principal.MEMBER_SCHEME, alice.scheme());
    assertEquals("acme/alice", alice.budgetKey());
    assertEquals(
        "alice", tokens.authenticate(signed(claims(), "ES256", key.privatePem())).member());
  }

  @Test
  void aTokenExpiresAtItsTime() {
    String token = tokens.issue("acme", "alice", HOUR);
    tokens.authenticate(token);
    clock.advance(HOUR - 1_000);
    tokens.authenticate(token);
    clock.advance(1_000);

    refused(token);
    refused(signed(withoutExpiry(), "ES256", key.privatePem()));
  }

  private JsonObject withoutExpiry() {
    JsonObject claims = claims();
    claims.remove("exp");
    return claims;
  }

  @Test
  void aSuspendedAndARemovedMemberIsRefusedAtOnce() throws Exception {
    String token = tokens.issue("acme", "alice", HOUR);
    tokens.authenticate(token);
    await(database.commit(List.of(Statement.of("UPDATE member SET suspended_at = 1"))));
    await(members.load());
    refused(token);
    await(database.commit(List.of(Statement.of("UPDATE member SET suspended_at = NULL"))));
    await(members.load());
    tokens.authenticate(token);
    await(database.commit(List.of(Statement.of("DELETE FROM member"))));
    await(members.load());
    refused(token);
  }

  @Test
  void aTokenOfAnotherKeyAnotherAudienceOrForSomebodyUnknownIsRefused() throws Exception {
    SigningKey other = SigningKey.at(keys.resolve("other.pem"));
    refused(signed(claims(), "ES256", other.privatePem()));
    refused(signed(claims().put("aud", "elsewhere"), "ES256", key.privatePem()));
    refused(signed(claims().put("sub", "mallory"), "ES256", key.privatePem()));
    refused(signed(claims().put("org", "globex"), "ES256", key.privatePem()));
    JsonObject nobody = claims();
    nobody.remove("sub");
    refused(signed(nobody, "ES256", key.privatePem()));
  }

  @Test
  void aTokenThatIsNotSignedOrSignedWithThePublicKeyAsASecretIsRefused() {
    refused(unsigned("none", ""));
    refused(unsigned("ES256", ""));
    refused(signed(claims(), "HS256", key.publicPem()));
    refused(unsigned("none", "AAAA"));
  }

  private String unsigned(String algorithm, String signature) {
    return part(new JsonObject().put("alg", algorithm).put("typ", "JWT"))
        + '.'
        + part(claims())
        + '.'
        + signature;
  }

  private static String part(JsonObject json) {
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(json.encode().getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void textThatIsNoTokenIsRefused() {
    String token = tokens.issue("acme", "alice", HOUR);
    refused("eyJ");
    refused("eyJ.eyJ.eyJ");
    refused(token.substring(0, token.length() - 4));
    refused(token + "AAAA");
    refused(token.replace('.', '-'));
    refused("eyJ" + "A".repeat(100_000));
  }

  @Test
  void theKeyIsMadeOnceAndOnlyItsOwnerCanReadIt() throws Exception {
    Path file = keys.resolve("key.pem");
    assertEquals(key, SigningKey.at(file));
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
    assertTrue(!key.toString().contains("BEGIN"));
  }
}
