package dev.bourse.testing;

import dev.bourse.audit.AuditRow;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** A demo service in which two members are signed in, for one class of tests at a time. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before the tests of a class.
public abstract class OAuthApiFixture {
  protected static RunningBourse bourse;

  /** The cookie of the browser of acme's alice. */
  protected static String alice;

  /** The cookie of the browser of acme's bob. */
  protected static String bob;

  @BeforeAll
  protected static void start() {
    bourse = RunningBourse.demo();
    alice = OAuthApplication.signIn(bourse, "acme", "alice");
    bob = OAuthApplication.signIn(bourse, "acme", "bob");
  }

  @AfterAll
  protected static void stop() {
    bourse.close();
  }

  /** What the bearer of an access token is answered. */
  protected static HttpAnswer files(JsonObject tokens) {
    return bourse.with(tokens.getString("access_token")).get("/api/checkpoints");
  }

  /** What an access token says. */
  protected static JsonObject claims(JsonObject tokens) {
    String part = tokens.getString("access_token").split("\\.", -1)[1];
    return new JsonObject(new String(Base64.getUrlDecoder().decode(part), StandardCharsets.UTF_8));
  }

  protected static AuditRow last(List<AuditRow> rows) {
    return rows.get(rows.size() - 1);
  }

  protected static JsonObject begin(OAuthApplication program) {
    return program
        .post("/oauth/device_authorization", Map.of("client_id", program.clientId()))
        .ok();
  }

  protected static Map<String, String> polling(OAuthApplication program, JsonObject begun) {
    Map<String, String> form = new LinkedHashMap<>();
    form.put("grant_type", "urn:ietf:params:oauth:grant-type:device_code");
    form.put("client_id", program.clientId());
    form.put("device_code", begun.getString("device_code"));
    return form;
  }

  protected static HttpResponse<String> decide(
      OAuthApplication program, HttpResponse<String> page, String code, String decision) {
    return decide(program, page, code, decision, alice);
  }

  protected static HttpResponse<String> decide(
      OAuthApplication program,
      HttpResponse<String> page,
      String code,
      String decision,
      String cookie) {
    Map<String, String> form = new LinkedHashMap<>();
    form.put("csrf", OAuthApplication.csrf(page));
    form.put("user_code", code);
    if (!decision.isEmpty()) {
      form.put("decision", decision);
    }
    return program.browse("POST", "/device", form, cookie);
  }
}
