package dev.bourse.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.Scope;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.Browser;
import dev.bourse.testing.OAuthApplication;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A member's own sessions and applications. */
@ReplayedOnPostgres
class ConsoleAccountApiTest extends ConsoleApiFixture {
  private static final String SESSIONS = "/api/console/sessions";
  private static final String APPLICATIONS = "/api/console/applications";

  private static List<JsonObject> sessions(ApiClient caller) {
    return caller.get(SESSIONS).ok().getJsonArray("sessions").stream()
        .map(JsonObject.class::cast)
        .toList();
  }

  /** Connects an application for a member; returns its access token. */
  private static String connect(String org, String username) {
    OAuthApplication app = OAuthApplication.registered(bourse);
    return app.tokens(OAuthApplication.signIn(bourse, org, username)).getString("access_token");
  }

  @Test
  void sessionsSayWhichBrowserAndWhence() {
    String org = organization("alice");
    Browser browser = new Browser(bourse).signedIn("alice@" + org + ".example");
    ApiClient here = bourse.inSession(org, "alice");
    List<JsonObject> listed = sessions(here);
    assertEquals(2, listed.size());
    JsonObject own = listed.stream().filter(s -> s.getBoolean("current")).findFirst().orElseThrow();
    JsonObject other =
        listed.stream().filter(s -> !s.getBoolean("current")).findFirst().orElseThrow();
    assertEquals("127.0.0.1", other.getString("address"));
    assertEquals("unknown browser", other.getString("browser"));
    assertTrue(own.getString("ends_at").compareTo(own.getString("last_used_at")) > 0);
    here.delete(SESSIONS + "/" + other.getString("session_id")).ok();
    assertEquals(false, browser.isSignedIn());
    assertEquals(1, sessions(here).size());
    assertEquals(1, trail(org, "session_end").size());
    here.delete(SESSIONS + "/" + own.getString("session_id")).ok();
    here.get(SESSIONS).refused(ErrorCode.UNAUTHORIZED);
  }

  @Test
  void aPageNotesWhichBrowserOpensItAndWhence() {
    String org = organization("alice");
    String secret = bourse.startSession(org, "alice");
    ApiClient firefox =
        new ApiClient(
            bourse.service().baseUrl(),
            null,
            "Cookie",
            "bourse=" + secret,
            "User-Agent",
            "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0");
    firefox.get("/api/console/session").ok();
    RunningBourse.until(
        "the browser's name",
        () -> sessions(firefox).get(0).getString("browser").equals("Firefox on Linux"));
    assertEquals("127.0.0.1", sessions(firefox).get(0).getString("address"));
  }

  @Test
  void anothersSessionIsNotFound() {
    String org = organization("alice", "bob");
    ApiClient alice = bourse.inSession(org, "alice");
    ApiClient bob = bourse.inSession(org, "bob");
    String id = sessions(alice).get(0).getString("session_id");
    bob.delete(SESSIONS + "/" + id).refused(ErrorCode.NOT_FOUND);
    bob.delete(SESSIONS + "/nonsense").refused(ErrorCode.NOT_FOUND);
    assertEquals(1, sessions(alice).size());
  }

  @Test
  void anApplicationIsListedWithItsLastUseAndDisconnected() {
    String org = organization("alice", "bob");
    connect(org, "alice");
    String token = connect(org, "alice");
    ApiClient alice = bourse.inSession(org, "alice");
    JsonArray listed = alice.get(APPLICATIONS).ok().getJsonArray("applications");
    assertEquals(2, listed.size());
    JsonObject newest = listed.getJsonObject(0);
    assertTrue(newest.getString("last_used_at") != null);
    assertTrue(newest.getString("expires_at").compareTo(newest.getString("created_at")) > 0);
    String path = APPLICATIONS + "/" + newest.getString("application_id");
    bourse.inSession(org, "bob").delete(path).refused(ErrorCode.NOT_FOUND);
    alice.delete(path).ok();
    bourse.with(token).get("/api/whoami").refused(ErrorCode.UNAUTHORIZED);
    alice.delete(path).refused(ErrorCode.NOT_FOUND);
    alice.delete(APPLICATIONS).ok();
    assertEquals(0, alice.get(APPLICATIONS).ok().getJsonArray("applications").size());
  }

  @Test
  void signingOutEverywhereEndsSessionsAndApplicationsAndLeavesApiTokens() {
    String org = organization("alice", "bob");
    String access = connect(org, "alice");
    ApiClient one = bourse.inSession(org, "alice");
    ApiClient two = bourse.inSession(org, "alice");
    ApiClient bob = bourse.inSession(org, "bob");
    String token =
        one.post(
                "/api/console/tokens",
                new JsonObject().put("name", "job").put("scopes", new JsonArray()))
            .json()
            .getString("token");
    one.send("POST", "/api/console/sign-out-everywhere", null).ok();
    one.get(SESSIONS).refused(ErrorCode.UNAUTHORIZED);
    two.get(SESSIONS).refused(ErrorCode.UNAUTHORIZED);
    bourse.with(access).get("/api/whoami").refused(ErrorCode.UNAUTHORIZED);
    bourse.with(token).get("/api/whoami").ok();
    bob.get(SESSIONS).ok();
    assertEquals(1, trail(org, "sign_out_everywhere").size());
  }

  @Test
  void anApplicationOfAReaderEndsNothing() {
    String org = organization("alice");
    bourse.startSession(org, "alice");
    ApiClient reader = application(org, "alice", Scope.ORG_READ);
    List<JsonObject> listed = sessions(reader);
    assertEquals(false, listed.get(0).getBoolean("current"));
    reader
        .delete(SESSIONS + "/" + listed.get(0).getString("session_id"))
        .refused(ErrorCode.FORBIDDEN);
    reader.send("POST", "/api/console/sign-out-everywhere", null).refused(ErrorCode.FORBIDDEN);
  }
}
