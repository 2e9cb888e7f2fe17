package dev.bourse.sshkeys;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** An organization's registry of ssh keys. */
@ReplayedOnPostgres
class SshKeyApiTest {
  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.withMarkets(12);
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static String path(String org) {
    return "/api/vm/orgs/" + org + "/ssh-keys";
  }

  private static JsonObject registration(String line) {
    return new JsonObject().put("name", "laptop").put("public_key", line);
  }

  private static List<String> listed(ApiClient caller, String org) {
    return ClusterClient.objects(caller.get(path(org)).ok().getJsonArray("keys")).stream()
        .map(k -> k.getString("key_id"))
        .toList();
  }

  @Test
  void aKeyIsRegisteredOnce() {
    TestMarket market = bourse.market();
    ApiClient red = market.red("orgwide");
    String line = RunningBourse.keyLine();
    HttpAnswer added = red.post(path(market.red()), registration(line));
    assertEquals(201, added.status());
    JsonObject key = added.json();
    assertEquals("laptop", key.getString("name"));
    assertEquals(line, key.getString("public_key"));
    assertTrue(key.getString("fingerprint").startsWith("SHA256:"));
    assertEquals(red.actor(), key.getString("created_by"));
    HttpAnswer again = red.post(path(market.red()), registration(line).put("name", "other"));
    assertEquals(200, again.status());
    assertEquals(key, again.json());
    assertEquals(List.of(key.getString("key_id")), listed(red, market.red()));
  }

  @Test
  void keysAreListedOldestFirstAndOnlyToTheirOrganization() {
    TestMarket market = bourse.market();
    ApiClient red = market.red("bare");
    JsonArray expected = new JsonArray();
    for (int i = 0; i < 3; i++) {
      expected.add(red.post(path(market.red()), registration(RunningBourse.keyLine())).json());
    }
    assertEquals(expected, red.get(path(market.red())).ok().getJsonArray("keys"));
    assertEquals(List.of(), listed(market.blue("bare"), market.blue()));
  }

  @Test
  void theSameMaterialMayBeRegisteredForOneClusterAndForAll() {
    TestMarket market = bourse.market();
    ApiClient red = market.red("orgwide");
    String line = RunningBourse.keyLine();
    String everywhere = red.post(path(market.red()), registration(line)).json().getString("key_id");
    HttpAnswer one =
        red.post(path(market.red()), registration(line).put("cluster", market.redB().cluster()));
    assertEquals(201, one.status());
    assertEquals(market.redB().cluster(), one.json().getString("cluster"));
    assertEquals(List.of(everywhere, one.json().getString("key_id")), listed(red, market.red()));
  }

  @Test
  void withoutAClusterATokenThatIsBoundToOneAddsAnOrgWideKeyWhichTheListShowsPlainly() {
    TestMarket market = bourse.market();
    ApiClient bound = market.red("bound");
    HttpAnswer everywhere = bound.post(path(market.red()), registration(RunningBourse.keyLine()));
    assertEquals(201, everywhere.status());
    HttpAnswer own =
        bound.post(
            path(market.red()),
            registration(RunningBourse.keyLine()).put("cluster", market.redA().cluster()));
    List<JsonObject> shown =
        ClusterClient.objects(market.red("bare").get(path(market.red())).ok().getJsonArray("keys"));
    assertEquals(List.of(everywhere.json(), own.json()), shown);
    assertTrue(shown.get(0).containsKey("cluster"), "the reach is told, not left out");
    assertEquals(null, shown.get(0).getValue("cluster"));
    assertEquals(bound.actor(), shown.get(0).getString("created_by"));
    assertEquals(market.redA().cluster(), shown.get(1).getString("cluster"));
    // A node of a cluster outside the token's binding gets the organization-wide key only.
    ClusterClient other = market.redB();
    other.declare(1, 2);
    List<String> held = other.untilHeld(1);
    for (JsonObject key : shown) {
      JsonObject revoked = bound.delete(path(market.red()) + "/" + key.getString("key_id")).ok();
      assertEquals(
          key.getValue("cluster") == null ? held : List.of(),
          ClusterClient.texts(revoked.getJsonArray("still_on")));
    }
  }

  @Test
  void whatIsNoPublicKeyLineIsRefused() {
    TestMarket market = bourse.market();
    ApiClient red = market.red("orgwide");
    for (String line :
        List.of(
            "hello",
            "ssh-dss AAAAB3NzaC1kc3MAAAA=",
            "-----BEGIN OPENSSH PRIVATE KEY-----",
            "command=\"ls\" " + RunningBourse.keyLine(),
            RunningBourse.keyLine() + "\n" + RunningBourse.keyLine())) {
      red.post(path(market.red()), registration(line)).refused(ErrorCode.BAD_REQUEST);
    }
    red.post(path(market.red()), new JsonObject().put("name", "x")).refused(ErrorCode.BAD_REQUEST);
    for (String name : List.of("", "a\u0000b", "a\nb")) {
      red.post(path(market.red()), registration(RunningBourse.keyLine()).put("name", name))
          .refused(ErrorCode.BAD_REQUEST);
    }
    assertEquals(List.of(), listed(red, market.red()));
  }

  @Test
  void aKeyForAForeignClusterIsRefused() {
    TestMarket market = bourse.market();
    JsonObject key = registration(RunningBourse.keyLine());
    market
        .red("orgwide")
        .post(path(market.red()), key.put("cluster", market.blue()))
        .refused(ErrorCode.NOT_FOUND);
    market
        .red("bound")
        .post(path(market.red()), key.put("cluster", market.redB().cluster()))
        .refused(ErrorCode.FORBIDDEN);
  }

  @Test
  void anotherOrganizationsRegistryIsNotFound() {
    TestMarket market = bourse.market();
    ApiClient red = market.red("orgwide");
    String blues =
        market
            .blue("orgwide")
            .post(path(market.blue()), registration(RunningBourse.keyLine()))
            .json()
            .getString("key_id");
    red.get(path(market.blue())).refused(ErrorCode.NOT_FOUND);
    red.get(path("no-such")).refused(ErrorCode.NOT_FOUND);
    red.post(path(market.blue()), registration(RunningBourse.keyLine()))
        .refused(ErrorCode.NOT_FOUND);
    red.delete(path(market.blue()) + "/" + blues).refused(ErrorCode.NOT_FOUND);
    red.delete(path(market.red()) + "/" + blues).refused(ErrorCode.NOT_FOUND);
    assertEquals(List.of(blues), listed(market.blue("bare"), market.blue()));
  }

  @Test
  void aRevokedKeyIsGoneAndTellsWhereItStillIs() {
    TestMarket market = bourse.market();
    ClusterClient client = market.redA();
    String first = client.addKey().json().getString("key_id");
    client.declare(1, 2);
    List<String> held = client.untilHeld(1);
    String second = client.addKey().json().getString("key_id");
    JsonObject revoked = client.caller().delete(path(market.red()) + "/" + first).ok();
    assertTrue(revoked.getBoolean("ok"));
    assertEquals(first, revoked.getString("key_id"));
    assertEquals(held, ClusterClient.texts(revoked.getJsonArray("still_on")));
    JsonObject unused = client.caller().delete(path(market.red()) + "/" + second).ok();
    assertEquals(List.of(), ClusterClient.texts(unused.getJsonArray("still_on")));
    assertEquals(List.of(), listed(client.caller(), market.red()));
    client.caller().delete(path(market.red()) + "/" + first).refused(ErrorCode.NOT_FOUND);
    assertEquals(held, client.active(), "held nodes are not touched");
  }
}
