package dev.bourse.simulation.hostile;

import static dev.bourse.testing.RunningBourse.await;
import static dev.bourse.testing.RunningBourse.until;

import dev.bourse.access.Scope;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.core.Secrets;
import dev.bourse.core.Times;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.Browser;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.FilesFixture;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.McpClient;
import dev.bourse.testing.OAuthApplication;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.function.UnaryOperator;

/** Requests of members who administer their organization, and of browsers that show it. */
final class OrganizationSamples {
  private static final String ORG = "staff";
  private static final String ROOT = "/api/console/";

  /** Fewer than an organization may have; hostile requests create more. */
  private static final int MOST_WEBHOOKS = 8;

  private final HostileTarget world;
  private final RunningBourse bourse;
  private final String username;
  private final String token;
  private final ApiClient member;

  OrganizationSamples(HostileTarget world) {
    this.world = world;
    this.bourse = world.bourse();
    bourse
        .operator()
        .post(
            "/api/operator/orgs",
            new JsonObject().put("org_id", ORG).put("display", "S").put("kind", "standard"));
    this.username = joined();
    this.token = McpClient.token(bourse, ORG, username, EnumSet.allOf(Scope.class));
    this.member = bourse.with(token);
  }

  void add() {
    addPeople();
    addTokens();
    addWebhooks();
    addMails();
    addTrailStream();
    addOwn();
    addPages();
    addOperator();
  }

  private String joined() {
    String name = world.fresh("s");
    bourse
        .operator()
        .post(
            "/api/operator/orgs/" + ORG + "/members",
            new JsonObject()
                .put("username", name)
                .put("email", name + "@staff.example")
                .put("name", "S"));
    return name;
  }

  private void member(String operationId, UnaryOperator<AcceptedRequest> complete) {
    world.add(operationId, s -> complete.apply(HostileTarget.bearing(s, token)));
  }

  private String made(String path, JsonObject body, String id) {
    HttpAnswer answer = member.post(ROOT + path, body);
    if (answer.status() != 201) {
      throw new AssertionError(path + " " + body + " " + answer);
    }
    return answer.json().getString(id);
  }

  private JsonObject email() {
    return new JsonObject().put("email", world.fresh("g") + "@guests.example");
  }

  private JsonObject rule() {
    return new JsonObject().put("kind", "domain").put("value", world.fresh("d") + ".example");
  }

  /** Creates a rule whose domain needs no record. */
  private String approved() {
    return bourse
        .operator()
        .post("/api/operator/orgs/" + ORG + "/rules", rule())
        .json()
        .getString("rule_id");
  }

  private void addPeople() {
    member("listConsoleMembers", s -> s.value("limit", "5").value("after", "a"));
    member("removeConsoleMember", s -> s.value("username", joined()));
    member("previewConsoleRemoval", s -> s.value("username", joined()));
    member("listInvitations", s -> s);
    member("sendInvitation", s -> s.json(email()));
    member("withdrawInvitation", s -> s.value("rule_id", made("invitations", email(), "rule_id")));
    member("resendInvitation", s -> s.value("rule_id", made("invitations", email(), "rule_id")));
    member("listConsoleRules", s -> s);
    member("addConsoleRule", s -> s.json(rule()));
    member("verifyConsoleRule", s -> s.value("rule_id", approved()));
    member("removeConsoleRule", s -> s.value("rule_id", made("join-rules", rule(), "rule_id")));
    member("previewConsoleRule", s -> s.value("kind", "domain").value("value", "staff.example"));
  }

  private JsonObject order() {
    return new JsonObject()
        .put("name", world.fresh("t"))
        .put("scopes", new JsonArray().add("capacity:read"))
        .put("expires_at", "2099-01-01T00:00:00Z");
  }

  /** Creates a token in its sample's organization, which may have a limited number. */
  private String minted() {
    for (JsonObject old :
        ClusterClient.objects(member.get(ROOT + "tokens").ok().getJsonArray("tokens"))) {
      if (old.getValue("revoked_at") == null) {
        member.delete(ROOT + "tokens/" + old.getString("token_id"));
      }
    }
    return made("tokens", order(), "token_id");
  }

  private void addTokens() {
    member("listConsoleTokens", s -> s.value("limit", "5").value("after", minted()));
    member(
        "mintConsoleToken",
        s -> {
          minted();
          return s.json(order());
        });
    member(
        "renameConsoleToken",
        s -> s.value("token_id", minted()).json(new JsonObject().put("name", world.fresh("n"))));
    member("revokeConsoleToken", s -> s.value("token_id", minted()));
  }

  private JsonObject webhook() {
    return new JsonObject()
        .put("url", "http://localhost:1/" + world.fresh("w"))
        .put("description", "d")
        .put("kinds", new JsonArray().add("grant").add("members-changed"));
  }

  /** Returns one of the organization's few endpoints, or creates one. */
  private String endpoint() {
    JsonArray known = member.get(ROOT + "webhooks").ok().getJsonArray("endpoints");
    if (known.size() > MOST_WEBHOOKS) {
      member.delete(ROOT + "webhooks/" + known.getJsonObject(0).getString("endpoint_id")).ok();
    }
    return made("webhooks", webhook(), "endpoint_id");
  }

  private void addWebhooks() {
    member("listWebhooks", s -> s);
    member(
        "createWebhook",
        s -> {
          endpoint();
          return s.json(webhook());
        });
    member("readWebhook", s -> s.value("endpoint_id", endpoint()));
    member(
        "changeWebhook",
        s ->
            s.value("endpoint_id", endpoint())
                .json(new JsonObject().put("description", "e").put("enabled", false)));
    member("deleteWebhook", s -> s.value("endpoint_id", endpoint()));
    member("rotateWebhookSecret", s -> s.value("endpoint_id", endpoint()));
    member("testWebhook", s -> s.value("endpoint_id", endpoint()));
    member(
        "listWebhookDeliveries",
        s -> s.value("endpoint_id", endpoint()).value("limit", "5").value("after", "7"));
    member(
        "resendWebhookDelivery",
        s -> {
          String endpoint = endpoint();
          return s.value("endpoint_id", endpoint)
              .value(
                  "delivery_id",
                  member
                      .post(ROOT + "webhooks/" + endpoint + "/test", new JsonObject())
                      .ok()
                      .getString("delivery_id"));
        });
  }

  private void addMails() {
    member("readMailChoices", s -> s);
    member("changeMailChoices", s -> s.json(new JsonObject().put("notice", "digest")));
    String[] token = {""};
    for (String operation : List.of("showUnsubscribe", "unsubscribe")) {
      world.add(
          operation,
          s -> {
            if (token[0].isEmpty()) {
              token[0] = unsubscribeToken();
            }
            return s.header("Accept", "text/html").value("token", token[0]);
          });
    }
  }

  /** Reads the token in the mail about an event. */
  private String unsubscribeToken() {
    member.patch(ROOT + "mails", new JsonObject().put("health", "at-once")).ok();
    await(
        bourse
            .database()
            .commit(
                List.of(
                    AuditStore.insert(
                        new AuditRow(
                            System.currentTimeMillis(),
                            ORG,
                            "system:market",
                            "node_silent",
                            "staff-train",
                            "public_ip=198.18.9.9 slot=0")))));
    List<String> mails = new ArrayList<>();
    until(
        "a mail is there",
        () -> {
          bourse.operator().send("POST", "/api/operator/jobs/mail-members/run", null);
          mails.clear();
          new Browser(bourse)
              .mails(username + "@staff.example").stream()
                  .map(Browser::text)
                  .filter(mail -> mail.contains("/unsubscribe?token="))
                  .forEach(mails::add);
          return !mails.isEmpty();
        });
    return mails.get(0).replaceAll("(?s).*/unsubscribe[?]token=([^>\\s]*).*", "$1");
  }

  private JsonObject stream() {
    JsonObject order =
        new JsonObject().put("destination", "http://localhost:1/" + world.fresh("t"));
    HttpAnswer answer = member.put(ROOT + "trail-stream", order);
    // A request whose client was cut off may still be working on the organization's only stream.
    for (int tries = 1; answer.status() == 503 && tries < 5; tries++) {
      answer = member.put(ROOT + "trail-stream", order);
    }
    answer.ok();
    return order;
  }

  private void addTrailStream() {
    member(
        "readTrailStream",
        s -> {
          stream();
          return s;
        });
    member(
        "setTrailStream",
        s -> s.json(stream().put("include_reads", true).put("start", "now").put("enabled", false)));
    member(
        "deleteTrailStream",
        s -> {
          stream();
          return s;
        });
    member(
        "rotateTrailStreamSecret",
        s -> {
          stream();
          return s;
        });
  }

  private static AcceptedRequest browser(AcceptedRequest sample, String cookie, String secret) {
    return sample
        .header("Cookie", cookie + '=' + secret)
        .header("X-CSRF-Token", Secrets.derived(secret, "csrf"));
  }

  /** Adds a request of the browser of a member who has just joined. */
  private void inSession(String operationId, UnaryOperator<AcceptedRequest> complete) {
    world.addBare(
        operationId, s -> complete.apply(browser(s, "bourse", bourse.startSession(ORG, joined()))));
  }

  private void addOwn() {
    inSession("readSession", s -> s);
    inSession("listSessions", s -> s);
    inSession("endAllSessions", s -> s);
    world.addBare(
        "endSession",
        s -> {
          String secret = bourse.startSession(ORG, joined());
          String id =
              bourse
                  .inSession(secret)
                  .get(ROOT + "sessions")
                  .ok()
                  .getJsonArray("sessions")
                  .getJsonObject(0)
                  .getString("session_id");
          return browser(s, "bourse", secret).value("session_id", id);
        });
    inSession("listApplications", s -> s);
    inSession("disconnectApplications", s -> s);
    inSession("listPublishingCredentials", s -> s);
    inSession("mintPublishingCredential", s -> s.json(credential()));
    world.addBare(
        "revokePublishingCredential",
        s -> {
          String secret = bourse.startSession(ORG, joined());
          String id =
              bourse
                  .inSession(secret)
                  .post(ROOT + "credentials", credential())
                  .json()
                  .getString("credential_id");
          return browser(s, "bourse", secret).value("credential_id", id);
        });
    OAuthApplication app = OAuthApplication.registered(bourse);
    world.addBare(
        "disconnectOneApplication",
        s -> {
          String who = joined();
          app.tokens(OAuthApplication.signIn(bourse, ORG, who));
          String secret = bourse.startSession(ORG, who);
          String id =
              bourse
                  .inSession(secret)
                  .get(ROOT + "applications")
                  .ok()
                  .getJsonArray("applications")
                  .getJsonObject(0)
                  .getString("application_id");
          return browser(s, "bourse", secret).value("application_id", id);
        });
  }

  private static JsonObject credential() {
    return new JsonObject()
        .put("name", "job")
        .put("expires_at", Times.rfc3339(System.currentTimeMillis() + 86_400_000))
        .put("max_bytes", 1_000);
  }

  private void addPages() {
    String secret = bourse.startSession(ORG, username);
    for (String page : List.of("showConsole", "confirmSignOutEverywhere", "showStart")) {
      world.add(page, s -> s.header("Accept", "text/html").header("Cookie", "bourse=" + secret));
    }
    world.add("showOperatorConsole", s -> s.header("Accept", "text/html"));
    ApiClient carol = bourse.asMember("openlab", "carol");
    byte[] shown = FilesFixture.bytes(20, 3);
    String id =
        FilesFixture.publish(
                carol, FilesFixture.publication(world.fresh("shown"), shown, "public"), shown)
            .getString("id");
    FilesFixture.approve(bourse, id).ok();
    world.add("showFeed", s -> s.header("Accept", "text/html").value("q", "shown"));
    world.add("showFeedItem", s -> s.header("Accept", "text/html").value("id", id));
  }

  private void addOperator() {
    world.add(
        "startOperatorSession", s -> s.json(new JsonObject().put("token", bourse.operatorToken())));
    world.addBare(
        "readOperatorSession", s -> browser(s, "bourse-operator", bourse.startOperatorSession()));
    world.addBare(
        "endOperatorSession", s -> browser(s, "bourse-operator", bourse.startOperatorSession()));
  }
}
