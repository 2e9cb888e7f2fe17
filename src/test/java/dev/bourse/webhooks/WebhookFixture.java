package dev.bourse.webhooks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.access.Scope;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.McpClient;
import dev.bourse.testing.Receiver;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** A service that may call receivers on this machine; each test has a market and a member. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before the tests.
abstract class WebhookFixture {
  static final String ROOT = "/api/console/webhooks";
  static final String SECRET_KEY = "ab".repeat(32);

  private static final int MARKETS = 21;

  static RunningBourse bourse;

  TestMarket market;
  ApiClient member;
  private final List<AutoCloseable> open = new ArrayList<>();

  @BeforeAll
  static void start() {
    bourse =
        RunningBourse.withMarkets(
            MARKETS, "secret.key=" + SECRET_KEY, "webhooks.private-hosts=localhost");
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  @BeforeEach
  void join() {
    market = bourse.market();
    member = memberOf(market.red());
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : open) {
      each.close();
    }
  }

  /** Returns a member of an organization with write scope. */
  static ApiClient memberOf(String org) {
    return memberOf(org, "ann", Scope.ORG_READ, Scope.ORG_WRITE);
  }

  static ApiClient memberOf(String org, String username, Scope... scopes) {
    String path = "/api/operator/orgs/" + org + "/members";
    HttpAnswer added =
        bourse
            .operator()
            .post(
                path,
                new JsonObject()
                    .put("username", username)
                    .put("email", username + '@' + org + ".example")
                    .put("name", username));
    assertEquals(201, added.status(), added.toString());
    return bourse.with(McpClient.token(bourse, org, username, Set.of(scopes)));
  }

  Receiver receiver(Receiver receiver) {
    open.add(receiver);
    return receiver;
  }

  static JsonObject order(String url, String... kinds) {
    return new JsonObject().put("url", url).put("kinds", new JsonArray(List.of(kinds)));
  }

  JsonObject endpoint(String url, String... kinds) {
    return endpoint(member, url, kinds);
  }

  static JsonObject endpoint(ApiClient member, String url, String... kinds) {
    HttpAnswer made = member.post(ROOT, order(url, kinds));
    assertEquals(201, made.status(), made.toString());
    return made.json();
  }

  static String path(JsonObject endpoint) {
    return ROOT + "/" + endpoint.getString("endpoint_id");
  }

  JsonObject read(JsonObject endpoint) {
    return member.get(path(endpoint)).ok();
  }

  List<JsonObject> deliveries(JsonObject endpoint) {
    return ClusterClient.objects(
        member.get(path(endpoint) + "/deliveries").ok().getJsonArray("deliveries"));
  }

  JsonObject oldest(JsonObject endpoint) {
    List<JsonObject> latestFirst = deliveries(endpoint);
    return latestFirst.get(latestFirst.size() - 1);
  }
}
