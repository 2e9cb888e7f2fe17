package dev.bourse.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.Sample;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.TokenSecret;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreUnavailableException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The caller of an Authorization header. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class TokensTest extends StoreFixture {
  private final Random random = new Random(3);
  private final TokenSecret secret = TokenSecret.mint(random);
  private final TokenSecret expiring = TokenSecret.mint(random);
  private final TokenSecret revoked = TokenSecret.mint(random);
  private Tokens tokens;

  @BeforeEach
  void mint() throws Exception {
    await(
        database.commit(
            List.of(
                AccessStore.insert(token(secret, Set.of(Scope.BID_READ), "c1", null)),
                AccessStore.insert(token(expiring, Set.of(), null, Sample.T0 + 1_000)),
                AccessStore.insert(token(revoked, Set.of(), null, null)),
                Statement.of(
                    "UPDATE token SET revoked_at = 1 WHERE token_id = ?", revoked.tokenId()))));
    tokens = new Tokens(new AccessStore(database), clock);
    await(tokens.load());
  }

  @Test
  void aLiveTokenIsItsOrganizationsPrincipal() {
    Principal caller = authenticate("Bearer " + secret.text());

    assertEquals(new Organization("acme", "Acme", "standard"), caller.org());
    assertEquals("token:" + secret.tokenId(), caller.actor());
    assertEquals(Set.of(Scope.BID_READ), caller.scopes());
    assertEquals("c1", caller.cluster());
    assertEquals(caller, authenticate("bearer  " + secret.text() + " "));
  }

  @Test
  void aTokenExpiresAtItsTime() {
    authenticate("Bearer " + expiring.text());
    clock.advance(1_000);

    refused("Bearer " + expiring.text());
  }

  @Test
  void aMissingHeaderAnotherSchemeAndAMalformedTokenAreRefused() {
    refused(null);
    refused("");
    refused("Bearer");
    refused("Basic " + secret.text());
    refused("Bearer brs_nonsense");
    refused("Bearer " + secret.text() + "0");
  }

  @Test
  void anUnknownARevokedAndAWrongSecretAreAnsweredAlike() {
    String unknown = refused("Bearer " + TokenSecret.mint(random).text());
    String wrong =
        refused(
            "Bearer "
                + new TokenSecret(
                        TokenSecret.Kind.ORGANIZATION,
                        secret.tokenId(),
                        TokenSecret.mint(random).secret())
                    .text());

    assertEquals(unknown, wrong);
    assertEquals(unknown, refused("Bearer " + revoked.text()));
    String expired =
        new TokenSecret(
                TokenSecret.Kind.ORGANIZATION,
                expiring.tokenId(),
                TokenSecret.mint(random).secret())
            .text();
    clock.advance(5_000);
    assertEquals(unknown, refused("Bearer " + expired), "expiry is told to its holder alone");
  }

  @Test
  void onlyTheHashOfASecretIsStored() throws Exception {
    String stored = String.join(" ", texts("SELECT secret_sha256 FROM token"));

    assertEquals(-1, stored.indexOf(secret.secret()));
    assertNotEquals(-1, stored.indexOf(HexFormat.of().formatHex(secret.sha256())));
  }

  @Test
  void theTimeOfLastUseIsStoredOnceAndAgainAfterAFailure() throws Exception {
    authenticate("Bearer " + secret.text());
    failNextCommits(1);
    fails(StoreUnavailableException.class, tokens.flush());
    assertEquals(List.of(0L), lastUses());

    await(tokens.flush());
    assertEquals(List.of(1L), lastUses());
    failNextCommits(1);
    await(tokens.flush());
  }

  /** Each use moves the time again, and the tokens outnumber those of one commit. */
  @Test
  void aRoundEndsHoweverManyTokensAreInConstantUse() throws Exception {
    List<TokenSecret> secrets = storeTokens(300);
    secrets.forEach(minted -> authenticate("Bearer " + minted.text()));
    assertTrue(await(tokens.flushSome()), "44 are left");

    clock.advance(1);
    secrets.forEach(minted -> authenticate("Bearer " + minted.text()));

    assertFalse(await(tokens.flushSome()), "the round ends with the 44");
    assertEquals(
        List.of(300L), integers("SELECT COUNT(*) FROM token WHERE last_used_at IS NOT NULL"));
  }

  private List<TokenSecret> storeTokens(int count) throws Exception {
    List<TokenSecret> secrets = new ArrayList<>();
    List<Statement> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      TokenSecret minted = TokenSecret.mint(random);
      secrets.add(minted);
      rows.add(AccessStore.insert(token(minted, Set.of(), null, null)));
    }
    await(database.commit(rows));
    await(tokens.load());
    return secrets;
  }

  @Test
  void timesOfLastUseAreStoredOneCommitAfterTheOther() throws Exception {
    List<TokenSecret> secrets = storeTokens(2_000);
    secrets.forEach(minted -> authenticate("Bearer " + minted.text()));

    await(tokens.flush());

    assertEquals(List.of(2_000L), lastUses());
    assertEquals(1, mostCommitsAtOnce());
  }

  @Test
  void aLaterUseStoredByAnotherProcessStays() throws Exception {
    authenticate("Bearer " + secret.text());
    await(database.commit(List.of(AccessStore.touch(secret.tokenId(), Sample.T0 + 5))));

    await(tokens.flush());

    assertEquals(
        List.of(Sample.T0 + 5),
        integers("SELECT last_used_at FROM token WHERE last_used_at IS NOT NULL"));
  }

  private List<Long> lastUses() throws Exception {
    return integers("SELECT COUNT(*) FROM token WHERE last_used_at = " + Sample.T0);
  }

  @Test
  void whatIsNoMembersTokenIsAnAgentsByItsForm() {
    Operators none = new Operators(new AccessStore(database), clock);
    BearerAuthenticator bearer =
        new BearerAuthenticator(tokens, none, memberTokens(tokens), new NodeCredentials());
    for (String agents : List.of("Bearer brs_x", "bearer  bro_x", "Bearer x", "BEARER ")) {
      assertTrue(bearer.isAgents(agents), agents);
    }
    for (String others : List.of("Bearer eyJhbGciOi.x.y", "Basic eA==", "", "Bearer brn_x")) {
      assertFalse(bearer.isAgents(others), others);
    }
    assertFalse(bearer.isAgents(null));
  }

  private String refused(@Nullable String header) {
    ApiException error = Sample.refused(ErrorCode.UNAUTHORIZED, () -> authenticate(header));
    return error.detail();
  }

  private Principal authenticate(@Nullable String header) {
    Operators none = new Operators(new AccessStore(database), clock);
    return (Principal)
        new BearerAuthenticator(tokens, none, memberTokens(tokens), new NodeCredentials())
            .authenticate(header);
  }

  private static Token token(
      TokenSecret secret, Set<Scope> scopes, @Nullable String cluster, @Nullable Long expires) {
    return new Token(
        secret.tokenId(),
        "acme",
        secret.tokenId(),
        HexFormat.of().formatHex(secret.sha256()),
        scopes,
        cluster,
        "alice",
        Sample.T0,
        expires);
  }
}
