package dev.bourse.testing;

import dev.bourse.core.Digests;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.interfaces.RSAPublicKey;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/**
 * A small OpenID Connect provider: discovery, keys, and a token endpoint that checks client, code,
 * redirect and PKCE. Whom it signs in and what is wrong with its answers, a test says.
 */
public final class IdentityProvider implements AutoCloseable {
  public static final String CLIENT = "bourse";
  public static final String SECRET = "s3cret";

  /** One for all: to find a pair takes a third of a second. */
  private static final KeyPair KEYS = newKeys();

  /** What was asked for, by the code that was given for it. */
  private final Map<String, MultiMap> asked = new ConcurrentHashMap<>();

  private final Vertx vertx = Vertx.vertx();
  private final HttpServer server;

  /** Changes the claims of the next tokens. */
  public volatile UnaryOperator<JsonObject> claims = UnaryOperator.identity();

  public volatile boolean isSilent;

  /** Open connections. */
  private final AtomicInteger connections = new AtomicInteger();

  public IdentityProvider() {
    server =
        vertx
            .createHttpServer()
            .connectionHandler(
                opened -> {
                  connections.incrementAndGet();
                  opened.closeHandler(closed -> connections.decrementAndGet());
                })
            .requestHandler(this::serve)
            .listen(0, "127.0.0.1")
            .await();
  }

  public int connections() {
    return connections.get();
  }

  private static KeyPair newKeys() {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
      generator.initialize(2_048);
      return generator.generateKeyPair();
    } catch (GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }

  public String issuer() {
    return "http://127.0.0.1:" + server.actualPort();
  }

  public String[] settings() {
    return new String[] {
      "signin.oidc.issuer=" + issuer(),
      "signin.oidc.client-id=" + CLIENT,
      "signin.oidc.client-secret=" + SECRET,
      "signin.oidc.name=Acme ID",
      "signin.tries-per-address=1000"
    };
  }

  /** What the person who is sent here does: signs in; the query of the way back. */
  public String signIn(String authorizeUrl) {
    MultiMap query = query(authorizeUrl.substring(authorizeUrl.indexOf('?') + 1));
    String code = "code" + asked.size();
    asked.put(code, query);
    return "code=" + code + "&state=" + encode(String.valueOf(query.get("state")));
  }

  public static MultiMap query(String text) {
    MultiMap fields = MultiMap.caseInsensitiveMultiMap();
    for (String pair : text.split("&", -1)) {
      int equals = pair.indexOf('=');
      fields.add(
          pair.substring(0, equals),
          java.net.URLDecoder.decode(pair.substring(equals + 1), StandardCharsets.UTF_8));
    }
    return fields;
  }

  public static String encode(String text) {
    return java.net.URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  private void serve(HttpServerRequest request) {
    if (isSilent) {
      return;
    }
    switch (request.path()) {
      case "/.well-known/openid-configuration" ->
          answer(
              request,
              200,
              new JsonObject()
                  .put("issuer", issuer())
                  .put("authorization_endpoint", issuer() + "/authorize")
                  .put("token_endpoint", issuer() + "/token")
                  .put("jwks_uri", issuer() + "/jwks")
                  .put("response_types_supported", new JsonArray().add("code"))
                  .put("subject_types_supported", new JsonArray().add("public"))
                  .put("id_token_signing_alg_values_supported", new JsonArray().add("RS256")));
      case "/jwks" -> {
        RSAPublicKey key = (RSAPublicKey) KEYS.getPublic();
        answer(
            request,
            200,
            new JsonObject()
                .put(
                    "keys",
                    new JsonArray()
                        .add(
                            new JsonObject()
                                .put("kty", "RSA")
                                .put("use", "sig")
                                .put("alg", "RS256")
                                .put("kid", "one")
                                .put("n", number(key.getModulus()))
                                .put("e", number(key.getPublicExponent())))));
      }
      case "/token" -> request.body().onSuccess(body -> token(request, query(body.toString())));
      default -> answer(request, 404, new JsonObject());
    }
  }

  private void token(HttpServerRequest request, MultiMap form) {
    MultiMap question = asked.remove(String.valueOf(form.get("code")));
    String basic =
        "Basic "
            + Base64.getEncoder()
                .encodeToString((CLIENT + ':' + SECRET).getBytes(StandardCharsets.UTF_8));
    boolean isClient =
        basic.equals(request.getHeader("Authorization"))
            || (CLIENT.equals(form.get("client_id")) && SECRET.equals(form.get("client_secret")));
    if (question == null
        || !isClient
        || !"S256".equals(question.get("code_challenge_method"))
        || !String.valueOf(question.get("redirect_uri")).equals(form.get("redirect_uri"))
        || !challenge(String.valueOf(form.get("code_verifier")))
            .equals(question.get("code_challenge"))) {
      answer(request, 400, new JsonObject().put("error", "invalid_grant"));
      return;
    }
    long now = System.currentTimeMillis() / 1_000;
    JsonObject identity =
        new JsonObject()
            .put("iss", issuer())
            .put("sub", "1")
            .put("aud", CLIENT)
            .put("iat", now)
            .put("exp", now + 300)
            .put("nonce", question.get("nonce"))
            .put("email", "alice@acme.example")
            .put("email_verified", true)
            .put("name", "Alice Archer");
    answer(
        request,
        200,
        new JsonObject()
            .put("access_token", "opaque")
            .put("token_type", "Bearer")
            .put("expires_in", 300)
            .put("id_token", signed(claims.apply(identity))));
  }

  private static String challenge(String verifier) {
    return url(Digests.sha256(verifier.getBytes(StandardCharsets.US_ASCII)));
  }

  private String signed(JsonObject payload) {
    String text =
        url(
                new JsonObject()
                    .put("alg", "RS256")
                    .put("kid", "one")
                    .encode()
                    .getBytes(StandardCharsets.UTF_8))
            + '.'
            + url(payload.encode().getBytes(StandardCharsets.UTF_8));
    try {
      Signature signature = Signature.getInstance("SHA256withRSA");
      signature.initSign(KEYS.getPrivate());
      signature.update(text.getBytes(StandardCharsets.US_ASCII));
      return text + '.' + url(signature.sign());
    } catch (GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }

  private static String number(BigInteger number) {
    byte[] bytes = number.toByteArray();
    return url(bytes[0] == 0 ? java.util.Arrays.copyOfRange(bytes, 1, bytes.length) : bytes);
  }

  private static String url(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  private static void answer(HttpServerRequest request, int status, JsonObject body) {
    request
        .response()
        .setStatusCode(status)
        .putHeader("content-type", "application/json")
        .end(body.toBuffer());
  }

  @Override
  public void close() {
    vertx.close().await();
  }
}
