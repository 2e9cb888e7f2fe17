package dev.bourse.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.Sample;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.FakeClock;
import dev.bourse.store.Statement;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The JWTs that authenticate a member, and those that are rejected. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class MemberTokensTest extends StoreFixture {
  private static final long MINUTE = 60_000;
  private static final String REST = "https://bourse.example";
  private static final String MCP = REST + "/mcp";

  private Tokens organizations;
  private Members members;
  private SigningKeys keys;
  private SigningKey key;
  private Revocations revocations;
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
    keys = new SigningKeys(vertx, database, folder, AccessConfig.defaults(), clock);
    await(keys.start());
    key = only(folder);
    revocations = new Revocations(database, clock);
    tokens =
        new MemberTokens(
            keys, members, organizations, revocations, () -> REST, clock, new Random(1));
  }

  private SigningKey only(Path data) throws Exception {
    return await(new SigningKeyFolder(vertx, data).read()).get(0).key();
  }

  private static MemberToken token(String audience, Set<Scope> scopes, String grantId) {
    return new MemberToken("acme", "alice", audience, scopes, "app", grantId, 10 * MINUTE);
  }

  private String issued() {
    return tokens.issue(token(REST, EnumSet.allOf(Scope.class), "g1"));
  }

  private void refused(String token) {
    Sample.refused(ErrorCode.UNAUTHORIZED, () -> tokens.authenticate(token));
  }

  private String signed(JsonObject claims) {
    return key.sign(header(), claims);
  }

  /** A token signed with HS256, with a public key as the secret. */
  private String signed(JsonObject header, String secret) throws GeneralSecurityException {
    String signed = part(header) + '.' + part(claims());
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
    byte[] signature = mac.doFinal(signed.getBytes(StandardCharsets.UTF_8));
    return signed + '.' + Base64.getUrlEncoder().withoutPadding().encodeToString(signature);
  }

  private JsonObject header() {
    return new JsonObject().put("alg", "ES256").put("kid", key.kid()).put("typ", "at+jwt");
  }

  private JsonObject claims() {
    long now = clock.millis() / 1_000;
    return new JsonObject()
        .put("iss", REST)
        .put("sub", "alice")
        .put("org", "acme")
        .put("aud", REST)
        .put("client_id", "app")
        .put("scope", "capacity:read")
        .put("iat", now)
        .put("exp", now + 60);
  }

  private static JsonObject decoded(String token, int part) {
    byte[] json = Base64.getUrlDecoder().decode(token.split("\\.", -1)[part]);
    return new JsonObject(new String(json, StandardCharsets.UTF_8));
  }

  @Test
  void aMembersTokenIsThatMemberForTheirOrganization() {
    Principal alice = tokens.authenticate(issued());

    assertEquals("member:alice", alice.actor());
    assertEquals("alice", alice.member());
    assertEquals("acme", alice.org().orgId());
    assertEquals(Principal.MEMBER_SCHEME, alice.scheme());
    assertEquals("acme/alice", alice.budgetKey());
    assertEquals("alice", tokens.authenticate(signed(claims())).member());
  }

  @Test
  void aTokenSaysWhatTheProfileOfAccessTokensDemands() {
    String first = tokens.issue(token(MCP, Set.of(Scope.BID_WRITE, Scope.BID_READ), "g1"));
    String second = tokens.issue(token(MCP, Set.of(), "g1"));

    assertEquals(header(), decoded(first, 0));
    JsonObject claims = decoded(first, 1);
    assertEquals(REST, claims.getString("iss"));
    assertEquals(MCP, claims.getString("aud"));
    assertEquals("app", claims.getString("client_id"));
    assertEquals("bid:read bid:write", claims.getString("scope"));
    assertEquals("g1", claims.getString("gid"));
    assertEquals(600, claims.getLong("exp") - claims.getLong("iat"));
    assertNotEquals(claims.getString("jti"), decoded(second, 1).getString("jti"));
  }

  @Test
  void aTokenMayWhatItsScopesSayAndNoMore() {
    Principal reading =
        tokens.authenticate(tokens.issue(token(REST, Set.of(Scope.CAPACITY_READ), "")));
    assertEquals(Set.of(Scope.CAPACITY_READ), reading.scopes());
    assertEquals(Set.of(), tokens.authenticate(tokens.issue(token(REST, Set.of(), ""))).scopes());
  }

  @Test
  void aTokenExpiresAtItsTime() {
    String token = issued();
    tokens.authenticate(token);
    clock.advance(10 * MINUTE - 1_000);
    tokens.authenticate(token);
    clock.advance(1_000);

    refused(token);
    refused(signed(without("exp")));
  }

  private JsonObject without(String claim) {
    JsonObject claims = claims();
    claims.remove(claim);
    return claims;
  }

  @Test
  void noTokenIsIssuedForLongerThanItsKeyOrItsRevocationIsKept() {
    for (long millis : new long[] {0, 999, SigningKeys.LONGEST_TOKEN_MILLIS + 1}) {
      assertThrows(
          IllegalArgumentException.class,
          () -> new MemberToken("acme", "alice", REST, Set.of(), "app", "", millis));
    }
    assertThrows(
        IllegalArgumentException.class,
        () ->
            new MemberToken(
                "acme",
                "alice",
                REST,
                Set.of(),
                "app",
                "g",
                Revocations.LONGEST_GRANTED_MILLIS + 1));
  }

  @Test
  void aSuspendedAndARemovedMemberIsRefusedAtOnce() throws Exception {
    String token = issued();
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
  void aTokenOfAnotherAudienceIsRefused() {
    String mcp = tokens.issue(token(MCP, Set.of(), ""));
    String rest = tokens.issue(token(REST, Set.of(), ""));

    assertTrue(tokens.authenticate(mcp).satisfies(Principal.MEMBER_SCHEME));
    assertTrue(tokens.authenticate(mcp).satisfies(Principal.MCP_SCHEME));
    assertTrue(tokens.authenticate(rest).satisfies(Principal.MEMBER_SCHEME));
    assertFalse(tokens.authenticate(rest).satisfies(Principal.MCP_SCHEME));
    for (String other : List.of("elsewhere", REST + "/", REST + "/mcp/", "http://bourse.example")) {
      refused(signed(claims().put("aud", other)));
    }
    refused(signed(without("aud")));
    refused(signed(claims().put("aud", new JsonArray().add(REST))));
  }

  @Test
  void aTokenOfAnotherKeyAnotherIssuerOrForSomebodyUnknownIsRefused() {
    refused(SigningKey.generate().sign(header(), claims()));
    refused(signed(claims().put("iss", "https://elsewhere.example")));
    refused(signed(claims().put("sub", "mallory")));
    refused(signed(claims().put("org", "globex")));
    for (String claim : List.of("iss", "sub", "org", "scope", "iat")) {
      refused(signed(without(claim)));
    }
    refused(signed(claims().put("sub", 7)));
  }

  @Test
  void algNoneAndAPublicKeyUsedAsASecretAreRefused() throws GeneralSecurityException {
    refused(unsigned("none", ""));
    refused(unsigned("None", ""));
    refused(unsigned("ES256", ""));
    refused(unsigned("none", "AAAA"));
    for (String secret : List.of(key.publicPem(), key.publicJwk().encode())) {
      refused(signed(header().put("alg", "HS256"), secret));
      // And one whose header names the required algorithm.
      refused(signed(header(), secret));
    }
  }

  private String unsigned(String algorithm, String signature) {
    return part(header().put("alg", algorithm)) + '.' + part(claims()) + '.' + signature;
  }

  private static String part(JsonObject json) {
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(json.encode().getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void kidInjectionAHeaderThatBringsAKeyAlongOrNamesAPlaceToFetchOneIsRefused() {
    SigningKey mallory = SigningKey.generate();
    for (JsonObject header :
        List.of(
            header().put("jwk", mallory.publicJwk()),
            header().put("jku", "https://mallory.example/jwks.json"),
            header().put("x5u", "https://mallory.example/chain.pem"),
            header().put("x5c", new JsonArray().add("MIIB")),
            header().put("crit", new JsonArray().add("exp")),
            header().put("kid", mallory.kid()),
            header().put("kid", "../signing-keys/" + key.kid()),
            header().put("kid", "/dev/null"),
            header().put("kid", "https://mallory.example/jwks.json"),
            header().put("kid", "' OR '1'='1"),
            header().put("kid", ""),
            header().put("kid", 7),
            header().putNull("kid"),
            header().put("typ", "JWT"))) {
      refused(mallory.sign(header, claims()));
      refused(key.sign(header, claims()));
    }
    refused(key.sign(new JsonObject().put("alg", "ES256").put("typ", "at+jwt"), claims()));
  }

  @Test
  void textThatIsNoTokenIsRefused() {
    String token = issued();
    refused("eyJ");
    refused("eyJ.eyJ.eyJ");
    refused(token.substring(0, token.length() - 4));
    refused(token + "AAAA");
    refused(token.replace('.', '-'));
    refused("eyJ" + "A".repeat(100_000));
  }

  @Test
  void aTokenOfARevokedGrantIsRefusedAtOnceAndOthersAreNot() throws Exception {
    String other = tokens.issue(token(REST, Set.of(), "g2"));
    String token = issued();
    tokens.authenticate(token);
    await(revocations.revokeGrant("g1", clock.millis(), List.of()));

    refused(token);
    tokens.authenticate(other);
  }

  @Test
  void whoSignsOutEverywhereHasNoTokenLeftAndGetsNewOnes() throws Exception {
    String token = tokens.issue(token(REST, Set.of(), ""));
    await(revocations.revokeMember("acme", "alice", List.of()));
    refused(token);
    clock.advance(1_000);

    tokens.authenticate(issued());
    refused(token);
  }

  @Test
  void whoSignsOutEverywhereHasNoTokenLeftThatAClockAheadIssued() throws Exception {
    await(
        database.commit(
            List.of(
                Statement.of(
                    "INSERT INTO oauth_grant (grant_id, org_id, username, client_id, client_name,"
                        + " scopes, resource, refreshable, created_at, idle_until, expires_at)"
                        + " VALUES ('g1', 'acme', 'alice', 'app', 'App', '', '', ?, 0, 1, 1)",
                    true))));
    FakeClock ahead = new FakeClock(clock.millis() + 5_000);
    String token =
        new MemberTokens(
                keys, members, organizations, revocations, () -> REST, ahead, new Random(3))
            .issue(token(REST, Set.of(), "g1"));
    tokens.authenticate(token);
    await(revocations.revokeMember("acme", "alice", List.of()));
    refused(token);
  }

  @Test
  void whatIsRevokedStaysSoAfterARestartUntilTheTokensHaveExpired() throws Exception {
    String token = issued();
    await(revocations.revokeGrant("g1", clock.millis(), List.of()));
    await(revocations.revokeMember("acme", "bob", List.of()));
    Revocations restarted = new Revocations(database, clock);
    await(restarted.load());
    MemberTokens after =
        new MemberTokens(keys, members, organizations, restarted, () -> REST, clock, new Random(2));
    Sample.refused(ErrorCode.UNAUTHORIZED, () -> after.authenticate(token));
    await(restarted.sweep(clock.millis()));
    assertEquals(List.of("g1"), texts("SELECT grant_id FROM revoked_grant"));

    clock.advance(2 * Revocations.LONGEST_GRANTED_MILLIS);
    await(restarted.sweep(clock.millis()));
    assertEquals(List.of(), texts("SELECT grant_id FROM revoked_grant"));
    assertEquals(List.of("bob"), texts("SELECT username FROM member_cutoff"));
    clock.advance(SigningKeys.LONGEST_TOKEN_MILLIS);
    await(restarted.sweep(clock.millis()));
    assertEquals(List.of(), texts("SELECT username FROM member_cutoff"));
  }

  @Test
  void aRevokedCredentialIsForgottenInEveryProcessWhenItsTokenHasExpired() throws Exception {
    Revocations other = new Revocations(database, clock);
    await(revocations.revokeGrant("pub_1", clock.millis() + 10 * MINUTE, List.of()));
    await(other.refresh(List.of("pub_1", "g1")));
    for (Revocations each : List.of(revocations, other)) {
      await(each.sweep(clock.millis()));
      assertTrue(each.isRevoked("pub_1"));
    }
    clock.advance(30 * MINUTE);
    for (Revocations each : List.of(revocations, other)) {
      await(each.sweep(clock.millis()));
      assertFalse(each.isRevoked("pub_1"));
    }
    assertTrue(other.isRevoked("g1"));
    assertEquals(List.of(), texts("SELECT grant_id FROM revoked_grant"));
  }

  @Test
  void aPublishingCredentialHasTheFormOfAnAgentsToken() {
    BearerAuthenticator bearer =
        new BearerAuthenticator(
            organizations,
            new Operators(new AccessStore(database), clock),
            tokens,
            new NodeCredentials());
    String job = tokens.issue(token(tokens.publishingAudience(), Set.of(), "pub_1"));
    assertTrue(bearer.isAgents("Bearer " + job));
    // The form decides, so the answer does not tell whether the signature is right.
    assertTrue(bearer.isAgents("Bearer " + job.substring(0, job.length() - 4)));
    assertFalse(bearer.isAgents("Bearer " + issued()));
    assertFalse(bearer.isAgents("Bearer " + tokens.issue(token(MCP, Set.of(), "g1"))));
    assertFalse(bearer.isAgents("Bearer eyJ.#.x"));
  }

  @Test
  void aGrantWhoseRevocationCouldNotBeStoredIsNotSaidToBeRevoked() {
    failNextCommits(1);
    fails(
        dev.bourse.store.StoreUnavailableException.class,
        revocations.revokeGrant("g1", clock.millis(), List.of()));
    tokens.authenticate(issued());
  }

  @Test
  void noFileOfTheKeyIsLeftWhereEarlierVersionsKeptIt() throws Exception {
    Path data = Files.createDirectory(folder.resolve("earlier"));
    Path old = data.resolve("signing-key.pem");
    Files.writeString(old, key.privatePem() + key.publicPem());

    assertEquals(key, only(data));
    assertEquals(false, Files.exists(old));
  }
}
