package dev.bourse.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.Digests;
import dev.bourse.core.Ids;
import dev.bourse.store.Statement;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An application that asks members for permission, and the browser of a member who is asked. */
public final class OAuthApplication {
  public static final String REDIRECT = "https://app.example/callback";

  private static final SecureRandom RANDOM = new SecureRandom();
  private static final Pattern CSRF = Pattern.compile("name=\"csrf\" value=\"([^\"]+)\"");
  private static final HttpClient HTTP =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofMinutes(1))
          .build();

  private final RunningBourse bourse;
  private final String baseUrl;
  private final String clientId;
  public final String verifier = Ids.base62(RANDOM, 64);

  private OAuthApplication(RunningBourse bourse, String clientId) {
    this.bourse = bourse;
    this.baseUrl = bourse.service().baseUrl();
    this.clientId = clientId;
  }

  /** One that registered for codes and refresh tokens. */
  public static OAuthApplication registered(RunningBourse bourse, String... redirectUris) {
    JsonObject metadata =
        new JsonObject()
            .put("client_name", "Test application")
            .put("redirect_uris", new JsonArray(List.of(redirectUris)))
            .put("grant_types", new JsonArray().add("authorization_code").add("refresh_token"))
            .put("token_endpoint_auth_method", "none");
    HttpAnswer answer = bourse.with(null).post("/oauth/register", metadata);
    assertEquals(201, answer.status(), String.valueOf(answer.body()));
    return new OAuthApplication(bourse, answer.json().getString("client_id"));
  }

  public static OAuthApplication registered(RunningBourse bourse) {
    return registered(bourse, REDIRECT);
  }

  /** One that is known by this id, or is not. */
  public static OAuthApplication named(RunningBourse bourse, String clientId) {
    return new OAuthApplication(bourse, clientId);
  }

  public String clientId() {
    return clientId;
  }

  public String baseUrl() {
    return baseUrl;
  }

  /** The cookie of a browser in which this member has just signed in. */
  public static String signIn(RunningBourse bourse, String orgId, String username) {
    String secret = Ids.base62(RANDOM, 43);
    byte[] digest = Digests.sha256(secret.getBytes(StandardCharsets.UTF_8));
    long now = System.currentTimeMillis();
    RunningBourse.await(
        bourse
            .database()
            .commit(
                List.of(
                    Statement.of(
                        "INSERT INTO member_session (session_sha256, org_id, username, created_at,"
                            + " seen_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
                        HexFormat.of().formatHex(digest),
                        orgId,
                        username,
                        now,
                        now,
                        now + 3_600_000))));
    return "bourse=" + secret;
  }

  /** Has a browser's sign-in, and the member, be so old. */
  public static void age(RunningBourse bourse, String cookie, long millis) {
    String secret = cookie.substring(cookie.indexOf('=') + 1);
    byte[] digest = Digests.sha256(secret.getBytes(StandardCharsets.UTF_8));
    RunningBourse.await(
        bourse
            .database()
            .commit(
                List.of(
                    Statement.of("UPDATE member SET created_at = created_at - ?", millis),
                    Statement.of(
                        "UPDATE member_session SET created_at = created_at - ?"
                            + " WHERE session_sha256 = ?",
                        millis,
                        HexFormat.of().formatHex(digest)))));
  }

  /** A whole request for this application. */
  public Map<String, String> request() {
    Map<String, String> request = new LinkedHashMap<>();
    request.put("response_type", "code");
    request.put("client_id", clientId);
    request.put("redirect_uri", REDIRECT);
    request.put("scope", "capacity:read checkpoints:read");
    request.put("state", "st&te=1");
    request.put("code_challenge", challenge());
    request.put("code_challenge_method", "S256");
    return request;
  }

  public String challenge() {
    byte[] digest = Digests.sha256(verifier.getBytes(StandardCharsets.US_ASCII));
    return Base64.getUrlEncoder().withoutPadding().encodeToString(digest);
  }

  /** The page of a request. */
  public HttpResponse<String> ask(Map<String, String> request, String cookie) {
    return browse("GET", "/oauth/authorize?" + encoded(request), null, cookie);
  }

  /** What a browser gets; redirects are not followed. */
  public HttpResponse<String> browse(
      String method,
      String path,
      @org.jspecify.annotations.Nullable Map<String, String> form,
      String cookie,
      String... headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(baseUrl + path))
            .timeout(Duration.ofMinutes(1))
            .header("Accept", "text/html")
            .method(
                method,
                form == null ? BodyPublishers.noBody() : BodyPublishers.ofString(encoded(form)));
    if (form != null) {
      request.header("Content-Type", "application/x-www-form-urlencoded");
    }
    if (!cookie.isEmpty()) {
      request.header("Cookie", cookie);
    }
    if (headers.length > 0) {
      request.headers(headers);
    }
    try {
      return HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(method + " " + path, e);
    }
  }

  /** The token that the forms of a page carry. */
  public static String csrf(HttpResponse<String> page) {
    Matcher matcher = CSRF.matcher(page.body());
    assertTrue(matcher.find(), page.statusCode() + " " + page.body());
    return matcher.group(1);
  }

  /** The member decides; where the browser is sent. */
  public HttpResponse<String> decide(Map<String, String> request, String cookie, String decision) {
    Map<String, String> form = new LinkedHashMap<>(request);
    form.put("csrf", csrf(ask(request, cookie)));
    form.put("decision", decision);
    return browse("POST", "/oauth/authorize", form, cookie);
  }

  /** The code a member's consent gives. */
  public String code(Map<String, String> request, String cookie) {
    HttpResponse<String> answer = decide(request, cookie, "allow");
    assertEquals(200, answer.statusCode(), answer.body());
    return java.util.Objects.requireNonNull(parameters(answer).get("code"));
  }

  /** The address a browser is sent to, by a redirect or by a page. */
  public static String onward(HttpResponse<String> answer) {
    return answer
        .headers()
        .firstValue("location")
        .or(() -> answer.headers().firstValue("refresh").map(to -> to.replace("0; url=", "")))
        .orElseThrow();
  }

  /** The parameters of that address. */
  public static Map<String, String> parameters(HttpResponse<String> answer) {
    return parameters(URI.create(onward(answer)));
  }

  /** The parameters of an address. */
  public static Map<String, String> parameters(URI address) {
    String query = address.getRawQuery();
    Map<String, String> parameters = new LinkedHashMap<>();
    for (String pair : query.split("&", -1)) {
      String[] parts = pair.split("=", 2);
      parameters.put(parts[0], URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
    }
    return parameters;
  }

  /** What redeems a code. */
  public Map<String, String> redemption(String code) {
    Map<String, String> form = new LinkedHashMap<>();
    form.put("grant_type", "authorization_code");
    form.put("client_id", clientId);
    form.put("code", code);
    form.put("redirect_uri", REDIRECT);
    form.put("code_verifier", verifier);
    return form;
  }

  public Map<String, String> refreshing(JsonObject tokens) {
    Map<String, String> form = new LinkedHashMap<>();
    form.put("grant_type", "refresh_token");
    form.put("client_id", clientId);
    form.put("refresh_token", tokens.getString("refresh_token"));
    return form;
  }

  /** What the token endpoint answers. */
  public HttpAnswer token(Map<String, String> form) {
    return post("/oauth/token", form);
  }

  public HttpAnswer post(String path, Map<String, String> form, String... headers) {
    List<String> all = new ArrayList<>(List.of(headers));
    all.add("Content-Type");
    all.add("application/x-www-form-urlencoded");
    return bourse.with(null).send("POST", path, encoded(form), all.toArray(String[]::new));
  }

  /** The tokens of a member's consent, from the page to the end. */
  public JsonObject tokens(String cookie) {
    return token(redemption(code(request(), cookie))).ok();
  }

  /** The same form so many times at once; the statuses. */
  public List<HttpAnswer> atOnce(int times, Map<String, String> form) {
    List<CompletableFuture<HttpAnswer>> sent = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      sent.add(CompletableFuture.supplyAsync(() -> token(form)));
    }
    return sent.stream().map(CompletableFuture::join).toList();
  }

  public static void refused(HttpAnswer answer, String code) {
    assertEquals(code, answer.json().getString("error"), answer.json().encode());
    assertEquals(code.equals("invalid_client") ? 401 : 400, answer.status());
    assertEquals("no-store", answer.header("cache-control"));
  }

  public static String encoded(Map<String, String> fields) {
    StringBuilder out = new StringBuilder();
    fields.forEach(
        (name, value) ->
            out.append(out.isEmpty() ? "" : "&")
                .append(URLEncoder.encode(name, StandardCharsets.UTF_8))
                .append('=')
                .append(URLEncoder.encode(value, StandardCharsets.UTF_8)));
    return out.toString();
  }
}
