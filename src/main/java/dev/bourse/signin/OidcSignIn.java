package dev.bourse.signin;

import dev.bourse.core.ApiException;
import dev.bourse.core.Digests;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Ids;
import dev.bourse.core.Secrets;
import dev.bourse.logs.RequestContext;
import dev.bourse.org.JoinRuleService;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.auth.User;
import io.vertx.ext.auth.oauth2.OAuth2Auth;
import io.vertx.ext.auth.oauth2.OAuth2AuthorizationURL;
import io.vertx.ext.auth.oauth2.OAuth2FlowType;
import io.vertx.ext.auth.oauth2.OAuth2Options;
import io.vertx.ext.auth.oauth2.Oauth2Credentials;
import io.vertx.ext.auth.oauth2.providers.OpenIDConnectAuth;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sign-in by an OpenID Connect provider: the code flow with PKCE.
 *
 * <p>The state of an unfinished sign-in is not stored: state, nonce and code verifier are derived
 * from the browser's cookie and a number that the state carries. So a sign-in can only finish in
 * the browser it started in, on any replica.
 *
 * <p>The provider's metadata is read when it is first needed, because an unavailable provider must
 * not keep the service from starting, and again once it is old, because keys change.
 */
final class OidcSignIn {
  private static final Logger LOG = LoggerFactory.getLogger(OidcSignIn.class);

  /** The longest wait for the provider. */
  private static final long TIMEOUT_SECONDS = 10;

  /** How long the provider's metadata and keys are used before they are read again. */
  private static final long DISCOVERY_MILLIS = 3_600_000;

  /** The tolerated difference between the provider's clock and ours. */
  private static final long LEEWAY_SECONDS = 60;

  private static final int ATTEMPT_LENGTH = 22;
  private static final String CALLBACK = "/sign-in/oidc/callback";

  private record CachedProvider(OAuth2Auth auth, long atMillis) {}

  private final Vertx vertx;
  private final SignInConfig.Oidc config;
  private final Supplier<String> baseUrl;
  private final Clock clock;
  private final RandomGenerator random;
  private @Nullable CachedProvider discovered;
  private @Nullable Future<OAuth2Auth> discovering;

  OidcSignIn(
      Vertx vertx,
      SignInConfig.Oidc config,
      Supplier<String> baseUrl,
      Clock clock,
      RandomGenerator random) {
    this.vertx = vertx;
    this.config = config;
    this.baseUrl = baseUrl;
    this.clock = clock;
    this.random = random;
  }

  /** The person that the provider reports, and where the sign-in leads. */
  record Person(String email, String name, String returnTo) {}

  String name() {
    return config.name();
  }

  /**
   * The provider's address to redirect a browser to; fails with {@code overloaded} when the
   * provider is unreachable.
   */
  Future<String> begin(Sessions.Visitor visitor, String returnTo) {
    String attempt = Ids.base62(random, ATTEMPT_LENGTH);
    String place =
        Base64.getUrlEncoder()
            .withoutPadding()
            .encodeToString(ReturnTo.safe(returnTo).getBytes(StandardCharsets.US_ASCII));
    String verifier = derived(visitor, "verifier", attempt);
    return provider()
        .map(
            auth ->
                auth.authorizeURL(
                    new OAuth2AuthorizationURL()
                        .setRedirectUri(baseUrl.get() + CALLBACK)
                        .setScopes(List.of("openid", "email", "profile"))
                        .setState(state(visitor, attempt, place))
                        .setCodeChallenge(challenge(verifier))
                        .setCodeChallengeMethod("S256")
                        .putAdditionalParameter("nonce", derived(visitor, "nonce", attempt))));
  }

  private static String challenge(String verifier) {
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(Digests.sha256(verifier.getBytes(StandardCharsets.US_ASCII)));
  }

  private static String derived(Sessions.Visitor visitor, String purpose, String attempt) {
    return Secrets.derived(visitor.secret(), "oidc " + purpose + ' ' + attempt);
  }

  private static String state(Sessions.Visitor visitor, String attempt, String place) {
    return attempt + '.' + derived(visitor, "state " + place, attempt) + '.' + place;
  }

  /**
   * Finishes a sign-in.
   *
   * @return fails with {@code forbidden} when the answer does not belong to a request of this
   *     browser, or proves no address; with {@code overloaded} when the provider is unreachable
   */
  Future<Person> end(Sessions.Visitor visitor, String state, String code) {
    String[] parts = state.split("\\.", -1);
    if (parts.length != 3 || !Secrets.same(state(visitor, parts[0], parts[2]), state)) {
      return Future.failedFuture(
          refused(
              "this sign-in did not start in this browser or started too long ago; start again"));
    }
    String returnTo =
        new String(Base64.getUrlDecoder().decode(parts[2]), StandardCharsets.US_ASCII);
    Oauth2Credentials credentials =
        new Oauth2Credentials()
            .setFlow(OAuth2FlowType.AUTH_CODE)
            .setCode(code)
            .setRedirectUri(baseUrl.get() + CALLBACK)
            .setCodeVerifier(derived(visitor, "verifier", parts[0]));
    return provider()
        .compose(
            auth ->
                RequestContext.traceCall(
                        "sign-in token",
                        () ->
                            auth.authenticate(credentials)
                                .timeout(TIMEOUT_SECONDS, TimeUnit.SECONDS))
                    .recover(e -> Future.failedFuture(translated(e))))
        .map(user -> person(user, derived(visitor, "nonce", parts[0]), returnTo));
  }

  private Person person(User user, String nonce, String returnTo) {
    // The library has verified the signature; an unsigned token would have no claims here.
    JsonObject claims = user.attributes().getJsonObject("idToken");
    if (claims == null) {
      throw refused("the identity provider sent no id_token");
    }
    Optional<String> fault = fault(claims, config, nonce, clock.millis() / 1_000);
    if (fault.isPresent()) {
      LOG.warn("an id_token of {} was refused: {}", config.issuer(), fault.get());
      throw refused("the identity provider's answer is not acceptable: " + fault.get());
    }
    String email = claims.getValue("email") instanceof String text ? text : "";
    JoinRuleService.requireAddress("email", email);
    String name = claims.getValue("name") instanceof String text ? text : "";
    return new Person(email, name, ReturnTo.safe(returnTo));
  }

  /** The fault of an id_token's claims (OpenID Connect Core 1.0, section 3.1.3.7). */
  static Optional<String> fault(
      JsonObject claims, SignInConfig.Oidc config, String nonce, long nowSeconds) {
    Object audience = claims.getValue("aud");
    boolean isForUs =
        config.clientId().equals(audience)
            || (audience instanceof JsonArray several && several.contains(config.clientId()));
    boolean hasSeveral = audience instanceof JsonArray several && several.size() > 1;
    Object party = claims.getValue("azp");
    Object verified = claims.getValue("email_verified");
    if (!config.issuer().equals(claims.getValue("iss"))) {
      return Optional.of("iss is not the provider");
    }
    if (!isForUs || (hasSeveral && party == null)) {
      return Optional.of("aud is not this service");
    }
    if (party != null && !config.clientId().equals(party)) {
      return Optional.of("azp is not this service");
    }
    if (!(claims.getValue("exp") instanceof Number exp)
        || exp.longValue() + LEEWAY_SECONDS <= nowSeconds) {
      return Optional.of("it has expired");
    }
    if (!nonce.equals(claims.getValue("nonce"))) {
      return Optional.of("nonce is not the one asked for");
    }
    if (!Boolean.TRUE.equals(verified) && !"true".equals(verified)) {
      return Optional.of("email_verified is not true");
    }
    return Optional.empty();
  }

  private synchronized Future<OAuth2Auth> provider() {
    CachedProvider known = discovered;
    if (known != null && Math.abs(clock.millis() - known.atMillis()) < DISCOVERY_MILLIS) {
      return Future.succeededFuture(known.auth());
    }
    Future<OAuth2Auth> under = discovering;
    if (under != null) {
      return under;
    }
    OAuth2Options options =
        new OAuth2Options()
            .setSite(config.issuer())
            .setClientId(config.clientId())
            .setHttpClientOptions(
                new HttpClientOptions()
                    .setConnectTimeout(5_000)
                    // Frees the connection of a request that is not answered.
                    .setIdleTimeout((int) TIMEOUT_SECONDS));
    if (!config.clientSecret().isEmpty()) {
      options.setClientSecret(config.clientSecret());
    }
    Future<OAuth2Auth> discovery =
        RequestContext.traceCall("sign-in discovery", () -> discover(options))
            .recover(e -> Future.failedFuture(unavailable(e)));
    discovering = discovery;
    discovery.onComplete(done -> discovered(done.result()));
    return discovery;
  }

  private Future<OAuth2Auth> discover(OAuth2Options options) {
    Future<OAuth2Auth> answered = OpenIDConnectAuth.discover(vertx, options);
    return answered
        .timeout(TIMEOUT_SECONDS, TimeUnit.SECONDS)
        .onFailure(late -> answered.onSuccess(OAuth2Auth::close));
  }

  private synchronized void discovered(@Nullable OAuth2Auth auth) {
    discovering = null;
    if (auth != null) {
      CachedProvider old = discovered;
      discovered = new CachedProvider(auth, clock.millis());
      if (old != null) {
        // Later, because sign-ins that began with it may be in progress.
        vertx.setTimer(TimeUnit.SECONDS.toMillis(TIMEOUT_SECONDS), id -> old.auth().close());
      }
    }
  }

  /** The refusal for a failure, or a refusal, of the provider. */
  private ApiException translated(Throwable fault) {
    String text = String.valueOf(fault.getMessage());
    if (text.contains("invalid_grant") || text.contains("invalid_request")) {
      return refused("the identity provider does not accept this sign-in; start again");
    }
    return unavailable(fault);
  }

  private ApiException unavailable(Throwable fault) {
    LOG.warn("the identity provider {} failed: {}", config.issuer(), fault.toString());
    return ApiException.retryLater(
        ErrorCode.OVERLOADED,
        "the identity provider does not answer now; try again, or sign in by mail",
        10_000);
  }

  private static ApiException refused(String why) {
    return ApiException.of(ErrorCode.FORBIDDEN, why);
  }
}
