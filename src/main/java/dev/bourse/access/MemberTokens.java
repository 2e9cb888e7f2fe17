package dev.bourse.access;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.bourse.core.ApiException;
import io.vertx.core.Future;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.auth.User;
import io.vertx.ext.auth.authentication.TokenCredentials;
import io.vertx.ext.auth.jwt.JWTAuth;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.Base64;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Members' access tokens: JWTs of the profile of RFC 9068, signed with ES256 only. Verified
 * signatures are cached; the member's standing and the grant are checked on each call.
 */
public final class MemberTokens {
  /** The header's type. Tokens of another type with the same keys are not access tokens. */
  private static final String TYPE = "at+jwt";

  /**
   * The allowed header fields. A token cannot contain its own key ({@code jwk}, {@code x5c}) or a
   * link to one ({@code jku}, {@code x5u}).
   */
  private static final Set<String> HEADER = Set.of("alg", "kid", "typ");

  /**
   * Longer texts are not tokens of this service, whose tokens have some 900 characters with every
   * claim.
   */
  private static final int MAX_LENGTH = 4_096;

  /** Cached signatures; a verification takes a tenth of a millisecond, an entry 2 KB. */
  private static final long MAX_REMEMBERED = 10_000;

  private static final int ID_BYTES = 16;

  private record Claims(
      String kid,
      String issuer,
      String audience,
      String orgId,
      String username,
      Set<Scope> scopes,
      String clientId,
      String grantId,
      long issuedAtSecond,
      long expiresAtMillis) {}

  private final SigningKeys keys;
  private final Members members;
  private final Tokens organizations;
  private final Revocations revocations;
  private final Supplier<String> baseUrl;
  private final Clock clock;
  private final RandomGenerator random;
  private final Cache<String, Claims> remembered =
      // Runs the cache's maintenance on this thread, because waking another thread costs more.
      Caffeine.newBuilder().maximumSize(MAX_REMEMBERED).executor(Runnable::run).build();

  /**
   * @param organizations knows every organization
   * @param baseUrl returns the service's public address; called for each token
   * @param random generates the tokens' ids
   */
  public MemberTokens(
      SigningKeys keys,
      Members members,
      Tokens organizations,
      Revocations revocations,
      Supplier<String> baseUrl,
      Clock clock,
      RandomGenerator random) {
    this.keys = keys;
    this.members = members;
    this.organizations = organizations;
    this.revocations = revocations;
    this.baseUrl = baseUrl;
    this.clock = clock;
    this.random = random;
  }

  /** Issues a token for a member. */
  public String issue(MemberToken token) {
    long now = clock.millis() / 1_000;
    byte[] id = new byte[ID_BYTES];
    random.nextBytes(id);
    JsonObject claims =
        new JsonObject()
            .put("iss", baseUrl.get())
            .put("sub", token.username())
            .put("org", token.orgId())
            .put("aud", token.audience())
            .put("client_id", token.clientId())
            .put("scope", Scope.text(token.scopes()))
            .put("jti", Base64.getUrlEncoder().withoutPadding().encodeToString(id))
            .put("iat", now)
            .put("exp", now + token.validMillis() / 1_000);
    if (!token.grantId().isEmpty()) {
      claims.put("gid", token.grantId());
    }
    return keys.sign(claims, TYPE);
  }

  /** Returns the audience of tokens for the HTTP interface. */
  public String restAudience() {
    return baseUrl.get();
  }

  /** Returns the audience of tokens for the MCP endpoint, which the HTTP interface accepts too. */
  public String mcpAudience() {
    return baseUrl.get() + "/mcp";
  }

  /** Returns the audience of publishing credentials, which the other interfaces refuse. */
  public String publishingAudience() {
    return baseUrl.get() + "/api/checkpoints";
  }

  /**
   * Returns true if a text has the form of a publishing credential. The signature is not verified,
   * so the answer must not let anybody in.
   */
  boolean claimsToPublish(String token) {
    String[] parts = token.length() > MAX_LENGTH ? new String[0] : token.split("\\.", -1);
    try {
      return parts.length == 3
          && publishingAudience()
              .equals(
                  new JsonObject(
                          new String(
                              Base64.getUrlDecoder().decode(parts[1]), StandardCharsets.UTF_8))
                      .getValue("aud"));
    } catch (IllegalArgumentException | DecodeException malformed) {
      return false;
    }
  }

  /**
   * Returns the member of a token.
   *
   * @throws ApiException {@code unauthorized} if it is forged, for another purpose, expired or
   *     revoked, or if the member is no longer active
   */
  public Principal authenticate(String token) {
    Claims claims = read(token);
    Principal.CredentialKind kind = kind(claims.audience());
    if (clock.millis() >= claims.expiresAtMillis()) {
      throw BearerAuthenticator.unauthorized("the token has expired");
    }
    String memberId = requireInForce(claims);
    Organization org =
        organizations.findOrganization(claims.orgId()).orElseThrow(MemberTokens::revoked);
    return new Principal(
        org,
        "member:" + claims.username(),
        "",
        claims.scopes(),
        null,
        claims.expiresAtMillis(),
        claims.username(),
        memberId,
        kind,
        TokenLimits.NONE,
        claims.grantId().isEmpty() ? null : claims.grantId());
  }

  private Principal.CredentialKind kind(String audience) {
    if (audience.equals(restAudience())) {
      return Principal.CredentialKind.MEMBER_TOKEN;
    }
    if (audience.equals(mcpAudience())) {
      return Principal.CredentialKind.MCP_TOKEN;
    }
    if (audience.equals(publishingAudience())) {
      return Principal.CredentialKind.PUBLISHING_TOKEN;
    }
    throw BearerAuthenticator.unauthorized("the token is for another resource");
  }

  /**
   * Checks a token again, ignoring expiry.
   *
   * @throws ApiException {@code unauthorized} if it is revoked, or the member is no longer active
   */
  void requireInForce(String token) {
    requireInForce(read(token));
  }

  /** Returns the member's id. */
  private String requireInForce(Claims claims) {
    Optional<String> memberId = members.findId(claims.orgId(), claims.username());
    if (memberId.isEmpty()
        || revocations.isRevoked(
            claims.grantId(), claims.orgId(), claims.username(), claims.issuedAtSecond())) {
      throw revoked();
    }
    return memberId.get();
  }

  private static ApiException revoked() {
    return BearerAuthenticator.unauthorized("the token is unknown or revoked");
  }

  private Claims read(String token) {
    if (token.length() > MAX_LENGTH) {
      throw BearerAuthenticator.unauthorized("the token is malformed");
    }
    Claims claims = remembered.get(token, this::verify);
    if (claims == null
        || keys.find(claims.kid()) == null
        || !claims.issuer().equals(baseUrl.get())) {
      throw BearerAuthenticator.unauthorized("the token is not one of this service");
    }
    return claims;
  }

  /**
   * Returns the grant of a token, valid or not, that this service issued to an application; empty
   * for any other token.
   */
  public Optional<String> findGrant(String token, String clientId) {
    Claims claims = token.length() > MAX_LENGTH ? null : remembered.get(token, this::verify);
    return claims == null || claims.grantId().isEmpty() || !claims.clientId().equals(clientId)
        ? Optional.empty()
        : Optional.of(claims.grantId());
  }

  private @Nullable Claims verify(String token) {
    String kid = kid(token);
    JWTAuth verifier = kid == null ? null : keys.find(kid);
    if (kid == null || verifier == null) {
      return null;
    }
    Future<User> verified = verifier.authenticate(new TokenCredentials(token));
    if (!verified.succeeded()) {
      return null;
    }
    try {
      return claims(kid, verified.result().attributes().getJsonObject("accessToken"));
    } catch (ClassCastException ofAnotherType) {
      return null;
    }
  }

  /** Returns the key id of a token; null if its header is not allowed. */
  private static @Nullable String kid(String token) {
    try {
      String encoded = token.substring(0, Math.max(0, token.indexOf('.')));
      JsonObject header =
          new JsonObject(
              new String(Base64.getUrlDecoder().decode(encoded), StandardCharsets.UTF_8));
      return header.fieldNames().equals(HEADER)
              && SigningKeys.ALGORITHM.equals(header.getValue("alg"))
              && TYPE.equals(header.getValue("typ"))
              && header.getValue("kid") instanceof String kid
          ? kid
          : null;
    } catch (IllegalArgumentException | DecodeException notAHeader) {
      return null;
    }
  }

  private static @Nullable Claims claims(String kid, JsonObject claims) {
    String issuer = claims.getString("iss");
    String audience = claims.getString("aud");
    String orgId = claims.getString("org");
    String username = claims.getString("sub");
    String scope = claims.getString("scope");
    Long issuedAt = claims.getLong("iat");
    Long expiresAt = claims.getLong("exp");
    if (issuer == null
        || audience == null
        || orgId == null
        || username == null
        || scope == null
        || issuedAt == null
        || expiresAt == null) {
      return null;
    }
    return new Claims(
        kid,
        issuer,
        audience,
        orgId,
        username,
        Scope.parse(scope),
        claims.getString("client_id", ""),
        claims.getString("gid", ""),
        issuedAt,
        expiresAt * 1_000);
  }
}
