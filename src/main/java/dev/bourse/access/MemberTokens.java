package dev.bourse.access;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.auth.JWTOptions;
import io.vertx.ext.auth.PubSecKeyOptions;
import io.vertx.ext.auth.User;
import io.vertx.ext.auth.authentication.TokenCredentials;
import io.vertx.ext.auth.jwt.JWTAuth;
import io.vertx.ext.auth.jwt.JWTAuthOptions;
import java.time.Clock;
import java.util.EnumSet;
import org.jspecify.annotations.Nullable;

/**
 * Tokens by which members act: JWTs signed with ES256 and nothing else. That the signature is right
 * is remembered; whether the member may still act is asked each time.
 */
public final class MemberTokens {
  /** What the tokens are for; one made for another audience is refused. */
  private static final String AUDIENCE = "bourse";

  private static final String ALGORITHM = "ES256";
  private static final String ORG = "org";

  /** Longer ones are not ours: with every claim ours have some 400 characters. */
  private static final int MAX_LENGTH = 2_048;

  /** Signatures remembered; a check takes a tenth of a millisecond, an entry 1 KB. */
  private static final long MAX_REMEMBERED = 10_000;

  private record Claims(String orgId, String username, long expiresAtMillis) {}

  private final JWTAuth signatures;
  private final Members members;
  private final Tokens organizations;
  private final Clock clock;
  private final Cache<String, Claims> remembered =
      Caffeine.newBuilder().maximumSize(MAX_REMEMBERED).build();

  /**
   * @param organizations knows every organization
   */
  public MemberTokens(
      Vertx vertx, SigningKey key, Members members, Tokens organizations, Clock clock) {
    this.signatures =
        JWTAuth.create(
            vertx,
            new JWTAuthOptions()
                .setJWTOptions(
                    new JWTOptions()
                        .setAlgorithm(ALGORITHM)
                        .addAudience(AUDIENCE)
                        // Time comes from our clock.
                        .setIgnoreExpiration(true))
                .addPubSecKey(
                    new PubSecKeyOptions().setAlgorithm(ALGORITHM).setBuffer(key.privatePem()))
                .addPubSecKey(
                    new PubSecKeyOptions().setAlgorithm(ALGORITHM).setBuffer(key.publicPem())));
    this.members = members;
    this.organizations = organizations;
    this.clock = clock;
  }

  /** A token for a member. */
  public String issue(String orgId, String username, long validMillis) {
    long now = clock.millis() / 1_000;
    return signatures.generateToken(
        new JsonObject()
            .put("sub", username)
            .put(ORG, orgId)
            .put("aud", AUDIENCE)
            .put("iat", now)
            .put("exp", now + validMillis / 1_000),
        new JWTOptions().setAlgorithm(ALGORITHM));
  }

  /**
   * The member a token stands for.
   *
   * @throws dev.bourse.core.ApiError {@code unauthorized} when it is forged, made for something
   *     else or expired, or the member may not act any more
   */
  Principal authenticate(String token) {
    if (token.length() > MAX_LENGTH) {
      throw Credentials.unauthorized("the token is malformed");
    }
    Claims claims = remembered.get(token, this::verify);
    if (claims == null) {
      throw Credentials.unauthorized("the token is not one of this service");
    }
    if (clock.millis() >= claims.expiresAtMillis()) {
      throw Credentials.unauthorized("the token has expired");
    }
    Organization org = organizations.findOrganization(claims.orgId()).orElse(null);
    if (org == null || !members.isActive(claims.orgId(), claims.username())) {
      throw Credentials.unauthorized("the token is unknown or revoked");
    }
    return new Principal(
        org,
        "member:" + claims.username(),
        "",
        EnumSet.allOf(Scope.class),
        null,
        claims.expiresAtMillis(),
        claims.username());
  }

  private @Nullable Claims verify(String token) {
    Future<User> verified = signatures.authenticate(new TokenCredentials(token));
    if (!verified.succeeded()) {
      return null;
    }
    JsonObject claims = verified.result().attributes().getJsonObject("accessToken");
    String orgId = claims.getString(ORG);
    String username = claims.getString("sub");
    Long expiresAt = claims.getLong("exp");
    return orgId == null || username == null || expiresAt == null
        ? null
        : new Claims(orgId, username, expiresAt * 1_000);
  }
}
