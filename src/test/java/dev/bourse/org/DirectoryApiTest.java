package dev.bourse.org;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.store.Statement;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The roster with an identity provider that answers, and without. */
@ReplayedOnPostgres
class DirectoryApiTest {
  /** Enough for the first call of a cold client on a slow machine. */
  private static final String PATIENT = "10s";

  private static RunningBourse bourse(ScimServer server, String timeout) {
    RunningBourse bourse =
        RunningBourse.demo(
            "directory.kind=scim",
            "directory.timeout=" + timeout,
            "directory.scim.url=" + server.url(),
            "directory.scim.token=t0ken",
            "directory.scim.last-login=lastLogin");
    RunningBourse.await(
        bourse
            .database()
            .commit(
                List.of(
                    rule("jr_1", "alice@acme.example"),
                    rule("jr_2", "bob"),
                    rule("jr_3", "Erin@Partner.example"),
                    rule("jr_4", "ali@corp.example"))));
    return bourse;
  }

  private static Statement rule(String id, String value) {
    return Statement.of(
        "INSERT INTO join_rule (rule_id, org_id, kind, value, created_at, created_by)"
            + " VALUES (?, 'acme', 'email', ?, 1, 'operator:ann')",
        id,
        value);
  }

  private static JsonObject member(
      String username, String email, String name, boolean active, String lastLogin) {
    return new JsonObject()
        .put("username", username)
        .put("email", email)
        .put("name", name)
        .put("is_active", active)
        .put("last_login", lastLogin.isEmpty() ? null : lastLogin)
        .put("role", "admin");
  }

  private static final JsonArray DEGRADED =
      new JsonArray().add(member("alice", "", "", true, "")).add(member("bob", "", "", true, ""));

  private static List<String> invited(JsonObject roster) {
    return roster.getJsonArray("invited").stream()
        .map(rule -> ((JsonObject) rule).getString("email"))
        .toList();
  }

  @Test
  void whatTheProviderTellsIsShown() {
    try (ScimServer server = new ScimServer()) {
      server.addUser(
          "alice", "ali@corp.example", "Alice of the Provider", true, "Alice@acme.example");
      server.addUser("bob", "bob@corp.example", "Bob", false, "bob@acme.example");
      server.addUser("stranger", "s@corp.example", "Stranger", true);
      try (RunningBourse bourse = bourse(server, PATIENT)) {
        JsonObject roster = bourse.as("acme", "bare").get("/api/org/members").ok();
        String seen = "2026-11-20T08:12:44.103Z";
        assertEquals(
            new JsonArray()
                .add(member("alice", "ali@corp.example", "Alice of the Provider", true, seen))
                .add(member("bob", "bob@corp.example", "Bob", false, seen)),
            roster.getJsonArray("members"));
        // Alice joined with one address and the provider has another; both are hers. Addresses are
        // known, so usernames do not count as evidence of a used rule.
        assertEquals(List.of("bob", "Erin@Partner.example"), invited(roster));
        assertEquals("Bearer t0ken", server.authorizations.peek());
      }
    }
  }

  @Test
  void aMemberTheProviderKnowsNobodyOfByNameAndAddressIsShownByUsernameAlone() {
    try (ScimServer server = new ScimServer()) {
      server.addUser("bob", "bob@corp.example", "Bob", true, "bob@acme.example");
      // Another organization's member of the same username.
      server.addUser("alice", "alice@globex.example", "Alice of Globex", false);
      try (RunningBourse bourse = bourse(server, PATIENT)) {
        JsonObject roster = bourse.as("acme", "bare").get("/api/org/members").ok();
        assertEquals(
            member("alice", "", "", true, ""), roster.getJsonArray("members").getJsonObject(0));
        assertEquals(
            "bob@corp.example", roster.getJsonArray("members").getJsonObject(1).getString("email"));
      }
    }
  }

  @Test
  void whileTheProviderStallsTheAnswerIsDegradedInTimeAndNobodyElseWaits() {
    try (ScimServer server = new ScimServer()) {
      server.stall();
      try (RunningBourse bourse = bourse(server, "400ms")) {
        ApiClient acme = bourse.as("acme", "bare");
        List<CompletableFuture<HttpAnswer>> rosters =
            java.util.stream.IntStream.range(0, 20)
                .mapToObj(i -> CompletableFuture.supplyAsync(() -> acme.get("/api/org/members")))
                .toList();
        // The two event loops continue to serve.
        for (int i = 0; i < 20; i++) {
          acme.get("/api/whoami").ok();
        }
        for (CompletableFuture<HttpAnswer> roster : rosters) {
          JsonObject answer = roster.join().ok();
          assertEquals(DEGRADED, answer.getJsonArray("members"));
          assertEquals(List.of("Erin@Partner.example", "ali@corp.example"), invited(answer));
        }
        int asked = server.filters.size();
        acme.get("/api/org/members").ok();
        assertEquals(asked, server.filters.size(), "it is left alone for a while");
      }
    }
  }

  @Test
  void whileTheProviderIsDownOrTalksNonsenseTheAnswerIsDegraded() {
    ScimServer gone = new ScimServer();
    try (RunningBourse bourse = bourse(gone, PATIENT)) {
      gone.close();
      assertEquals(
          DEGRADED, bourse.as("acme", "bare").get("/api/org/members").ok().getJsonArray("members"));
    }
    try (ScimServer server = new ScimServer();
        RunningBourse bourse = bourse(server, PATIENT)) {
      server.say("<html>Please sign in</html>");
      JsonObject roster = bourse.as("acme", "bare").get("/api/org/members").ok();
      assertEquals(DEGRADED, roster.getJsonArray("members"));
      assertEquals(4, roster.getJsonArray("rules").size());
    }
  }
}
