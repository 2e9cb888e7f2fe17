package dev.bourse.access;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.bourse.core.ApiError;
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
 * Tokens by which members act: JWTs of the profile of RFC 9068, signed with ES256 and nothing else.
 * That the signature is right is remembered; whether the member may still act, and the grant still
 * stands, is asked each time.
 */
public final class MemberTokens {
  /** The header's type; a token of another kind by the same keys is none of ours. */
  private static final String TYPE = "at+jwt";

  /**
   * Every header field there may be. A token cannot bring its key along ({@code jwk}, {@code x5c}),
   * nor say where to fetch one ({@code jku}, {@code x5u}).
   */
  private static final Set<String> HEADER = Set.of("alg", "kid", "typ");

  /** Longer ones are not ours: with every claim ours have some 900 characters. */
  private static final int MAX_LENGTH = 4_096;

  /** Signatures remembered; a check takes a tenth of a millisecond, an entry 2 KB. */
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
      // To wake another thread for the upkeep costs more than the upkeep.
      Caffeine.newBuilder().maximumSize(MAX_REMEMBERED).executor(Runnable::run).build();

  /**
   * @param organizations knows every organization
   * @param baseUrl what clients call the service; asked for at each token
   * @param random makes the tokens' ids
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

  /** A token for a member. */
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

  /** The audience of tokens for the HTTP interface. */
  public String restAudience() {
    return baseUrl.get();
  }

  /** The audience of tokens for the MCP endpoint; they do for the HTTP interface as well. */
  public String mcpAudience() {
    return baseUrl.get() + "/mcp";
  }

  /**
   * The member a token stands for.
   *
   * @throws ApiError {@code unauthorized} when it is forged, made for something else, expired or
   *     revoked, or the member may not act any more
   */
  public Principal authenticate(String token) {
    Claims claims = read(token);
    boolean isForMcp = claims.audience().equals(mcpAudience());
    if (!isForMcp && !claims.audience().equals(restAudience())) {
      throw BearerAuthenticator.unauthorized("the token is for another resource");
    }
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
        isForMcp ? Principal.Credential.MCP_TOKEN : Principal.Credential.MEMBER_TOKEN,
        TokenLimits.NONE,
        claims.grantId().isEmpty() ? null : claims.grantId());
  }

  /**
   * Judges a token again, which may have expired.
   *
   * @throws ApiError {@code unauthorized} when it is revoked, or the member may not act any more
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

  private static ApiError revoked() {
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
   * The grant of a token, in force or not, that this service issued to an application; empty for
   * any other.
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

  /** The key that a token names; null when its header is not one of ours. */
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
