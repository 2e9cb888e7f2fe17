package dev.bourse.mcp;

import static dev.bourse.testing.McpClient.bid;
import static dev.bourse.testing.McpClient.confirm;
import static dev.bourse.testing.McpClient.request;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.access.Scope;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Ports;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ChildBourse;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.McpClient;
import dev.bourse.testing.OAuthApplication;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SharedPostgres;
import dev.bourse.testing.TestStore;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Two processes on one database answer a model like one. */
@OneEngine("only PostgreSQL is shared by several processes")
class McpReplicasTest {
  private static RunningBourse here;
  private static ChildBourse there;
  private static Path folder;
  private static McpClient carolHere;
  private static McpClient carolThere;
  private static String addressThere;

  @BeforeAll
  static void start() throws Exception {
    String url = SharedPostgres.server().newStore();
    int portHere = Ports.free();
    int portThere = Ports.free();
    // Both have the same address, as behind a load balancer.
    String address = "base-url=http://localhost:" + portHere;
    here = RunningBourse.demo("store.url=" + url, "port=" + portHere, address);
    folder = RunningBourse.newFolder();
    there =
        new ChildBourse(
            folder,
            List.of(
                "store.url=" + url,
                "port=" + portThere,
                address,
                "event-loops=2",
                "capacity.write-cadence=0"));
    String token = McpClient.token(here, "openlab", "carol", EnumSet.allOf(Scope.class));
    carolHere = new McpClient(here.with(token));
    addressThere = "http://localhost:" + portThere;
    carolThere = new McpClient(new ApiClient(addressThere, token));
    RunningBourse.until(
        "the other knows the key that signed the token",
        () -> carolThere.send("tools/list", new JsonObject()).status() == 200);
  }

  @AfterAll
  static void stop() throws Exception {
    there.close();
    here.close();
    TestStore.delete(folder);
  }

  @Test
  void aConfirmUsedAtOneProcessIsUsedAtTheOther() {
    JsonObject arguments = bid("openlab-main", 0, 2);
    RunningBourse.until(
        "both know the last write", () -> version(carolHere) == version(carolThere));
    JsonObject confirm = confirm(arguments, carolHere.ok("bid_write", arguments));
    carolThere.ok("bid_write", confirm);
    for (McpClient client : List.of(carolHere, carolThere)) {
      assertEquals(
          "confirm-used",
          client.refused("bid_write", confirm, ErrorCode.CONFLICT).getString("reason"));
    }
  }

  @Test
  void ofTwoConfirmsAtTwoProcessesOneWrites() {
    JsonObject arguments = bid("openlab-main", 0, 3);
    for (int round = 0; round < 10; round++) {
      RunningBourse.until(
          "both know the last write", () -> version(carolHere) == version(carolThere));
      JsonObject confirm = confirm(arguments, carolHere.ok("bid_write", arguments));
      long before = version(carolHere);
      List<Boolean> refused =
          Stream.of(carolHere, carolThere)
              .parallel()
              .map(client -> client.call("bid_write", confirm).getBoolean("isError"))
              .sorted()
              .toList();
      assertEquals(List.of(false, true), refused);
      RunningBourse.until("one write", () -> version(carolThere) == before + 1);
    }
  }

  private static long version(McpClient client) {
    return client.ok("capacity_read", new JsonObject()).getLong("version");
  }

  @Test
  void aSessionOfOneProcessIsServedAndEndedByTheOther() {
    HttpAnswer begun =
        carolHere.post(
            request("initialize", new JsonObject().put("protocolVersion", "2025-11-25")));
    String session = begun.header("mcp-session-id");
    JsonObject ping = request("ping", new JsonObject());
    carolThere.post(ping, "Mcp-Session-Id", session).ok();
    assertEquals(
        204,
        carolThere
            .caller()
            .send("DELETE", McpClient.ENDPOINT, null, "Mcp-Session-Id", session)
            .status());
    McpClient.error(404, -32600, carolHere.post(ping, "Mcp-Session-Id", session));
  }

  @Test
  void whatIsRevokedAtOneProcessIsRefusedByTheOtherToo() {
    OAuthApplication app = OAuthApplication.registered(here);
    String alice = OAuthApplication.signIn(here, "acme", "alice");
    JsonObject given = mcpTokens(app, alice);
    endsThere(
        given,
        () ->
            app.post(
                "/oauth/revoke",
                Map.of("token", given.getString("refresh_token"), "client_id", app.clientId())));
    String bob = OAuthApplication.signIn(here, "acme", "bob");
    String csrf = OAuthApplication.csrf(app.browse("GET", "/account", null, bob));
    endsThere(
        mcpTokens(app, bob),
        () -> app.browse("POST", "/sign-out/everywhere", Map.of("csrf", csrf), bob));
    String dave = OAuthApplication.signIn(here, "globex", "dave");
    endsThere(
        mcpTokens(app, dave),
        () -> here.operator().delete("/api/operator/orgs/globex/members/dave").ok());
  }

  private static JsonObject mcpTokens(OAuthApplication app, String cookie) {
    Map<String, String> request = app.request();
    request.put("resource", app.baseUrl() + "/mcp");
    return app.token(app.redemption(app.code(request, cookie))).ok();
  }

  private static void endsThere(JsonObject tokens, Runnable ending) {
    ApiClient there = new ApiClient(addressThere, tokens.getString("access_token"));
    McpClient model = new McpClient(there);
    JsonObject none = new JsonObject();
    RunningBourse.until("served", () -> model.send("tools/list", none).status() == 200);
    there.get("/api/checkpoints").ok();
    ending.run();
    RunningBourse.until("refused", () -> model.send("tools/list", none).status() == 401);
    assertEquals(401, there.get("/api/checkpoints").status());
  }
}
