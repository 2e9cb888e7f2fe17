package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** An organization's registry of ssh keys. */
@EachEngine
class SshKeyApiTest {
  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.staged(12);
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

  private static List<String> listed(Caller caller, String org) {
    return Desk.objects(caller.get(path(org)).ok().getJsonArray("keys")).stream()
        .map(k -> k.getString("key_id"))
        .toList();
  }

  @Test
  void aKeyIsRegisteredOnce() {
    Stage stage = bourse.stage();
    Caller red = stage.red("orgwide");
    String line = RunningBourse.keyLine();
    HttpAnswer added = red.post(path(stage.red()), registration(line));
    assertEquals(201, added.status());
    JsonObject key = added.json();
    assertEquals("laptop", key.getString("name"));
    assertEquals(line, key.getString("public_key"));
    assertTrue(key.getString("fingerprint").startsWith("SHA256:"));
    assertEquals(red.actor(), key.getString("created_by"));
    HttpAnswer again = red.post(path(stage.red()), registration(line).put("name", "other"));
    assertEquals(200, again.status());
    assertEquals(key, again.json());
    assertEquals(List.of(key.getString("key_id")), listed(red, stage.red()));
  }

  @Test
  void keysAreListedOldestFirstAndOnlyToTheirOrganization() {
    Stage stage = bourse.stage();
    Caller red = stage.red("bare");
    JsonArray expected = new JsonArray();
    for (int i = 0; i < 3; i++) {
      expected.add(red.post(path(stage.red()), registration(RunningBourse.keyLine())).json());
    }
    assertEquals(expected, red.get(path(stage.red())).ok().getJsonArray("keys"));
    assertEquals(List.of(), listed(stage.blue("bare"), stage.blue()));
  }

  @Test
  void theSameMaterialMayBeRegisteredForOneClusterAndForAll() {
    Stage stage = bourse.stage();
    Caller red = stage.red("orgwide");
    String line = RunningBourse.keyLine();
    String everywhere = red.post(path(stage.red()), registration(line)).json().getString("key_id");
    HttpAnswer one =
        red.post(path(stage.red()), registration(line).put("cluster", stage.redB().cluster()));
    assertEquals(201, one.status());
    assertEquals(stage.redB().cluster(), one.json().getString("cluster"));
    assertEquals(List.of(everywhere, one.json().getString("key_id")), listed(red, stage.red()));
  }

  @Test
  void withoutAClusterATokenThatIsBoundToOneAddsAnOrgWideKeyWhichTheListShowsPlainly() {
    Stage stage = bourse.stage();
    Caller bound = stage.red("bound");
    HttpAnswer everywhere = bound.post(path(stage.red()), registration(RunningBourse.keyLine()));
    assertEquals(201, everywhere.status());
    HttpAnswer own =
        bound.post(
            path(stage.red()),
            registration(RunningBourse.keyLine()).put("cluster", stage.redA().cluster()));
    List<JsonObject> shown =
        Desk.objects(stage.red("bare").get(path(stage.red())).ok().getJsonArray("keys"));
    assertEquals(List.of(everywhere.json(), own.json()), shown);
    assertTrue(shown.get(0).containsKey("cluster"), "the reach is told, not left out");
    assertEquals(null, shown.get(0).getValue("cluster"));
    assertEquals(bound.actor(), shown.get(0).getString("created_by"));
    assertEquals(stage.redA().cluster(), shown.get(1).getString("cluster"));
    // A node of a cluster that the token is not bound to gets the one and not the other.
    Desk other = stage.redB();
    other.declare(1, 2);
    List<String> held = other.untilHeld(1);
    for (JsonObject key : shown) {
      JsonObject revoked = bound.delete(path(stage.red()) + "/" + key.getString("key_id")).ok();
      assertEquals(
          key.getValue("cluster") == null ? held : List.of(),
          Desk.texts(revoked.getJsonArray("still_on")));
    }
  }

  @Test
  void whatIsNoPublicKeyLineIsRefused() {
    Stage stage = bourse.stage();
    Caller red = stage.red("orgwide");
    for (String line :
        List.of(
            "hello",
            "ssh-dss AAAAB3NzaC1kc3MAAAA=",
            "-----BEGIN OPENSSH PRIVATE KEY-----",
            "command=\"ls\" " + RunningBourse.keyLine(),
            RunningBourse.keyLine() + "\n" + RunningBourse.keyLine())) {
      red.post(path(stage.red()), registration(line)).refused(ErrorCode.BAD_REQUEST);
    }
    red.post(path(stage.red()), new JsonObject().put("name", "x")).refused(ErrorCode.BAD_REQUEST);
    for (String name : List.of("", "a\u0000b", "a\nb")) {
      red.post(path(stage.red()), registration(RunningBourse.keyLine()).put("name", name))
          .refused(ErrorCode.BAD_REQUEST);
    }
    assertEquals(List.of(), listed(red, stage.red()));
  }

  @Test
  void aKeyForAForeignClusterIsRefused() {
    Stage stage = bourse.stage();
    JsonObject key = registration(RunningBourse.keyLine());
    stage
        .red("orgwide")
        .post(path(stage.red()), key.put("cluster", stage.blue()))
        .refused(ErrorCode.NOT_FOUND);
    stage
        .red("bound")
        .post(path(stage.red()), key.put("cluster", stage.redB().cluster()))
        .refused(ErrorCode.FORBIDDEN);
  }

  @Test
  void anotherOrganizationsRegistryIsNotFound() {
    Stage stage = bourse.stage();
    Caller red = stage.red("orgwide");
    String blues =
        stage
            .blue("orgwide")
            .post(path(stage.blue()), registration(RunningBourse.keyLine()))
            .json()
            .getString("key_id");
    red.get(path(stage.blue())).refused(ErrorCode.NOT_FOUND);
    red.get(path("no-such")).refused(ErrorCode.NOT_FOUND);
    red.post(path(stage.blue()), registration(RunningBourse.keyLine()))
        .refused(ErrorCode.NOT_FOUND);
    red.delete(path(stage.blue()) + "/" + blues).refused(ErrorCode.NOT_FOUND);
    red.delete(path(stage.red()) + "/" + blues).refused(ErrorCode.NOT_FOUND);
    assertEquals(List.of(blues), listed(stage.blue("bare"), stage.blue()));
  }

  @Test
  void aRevokedKeyIsGoneAndTellsWhereItStillIs() {
    Stage stage = bourse.stage();
    Desk desk = stage.redA();
    String first = desk.addKey().json().getString("key_id");
    desk.declare(1, 2);
    List<String> held = desk.untilHeld(1);
    String second = desk.addKey().json().getString("key_id");
    JsonObject revoked = desk.caller().delete(path(stage.red()) + "/" + first).ok();
    assertTrue(revoked.getBoolean("ok"));
    assertEquals(first, revoked.getString("key_id"));
    assertEquals(held, Desk.texts(revoked.getJsonArray("still_on")));
    JsonObject unused = desk.caller().delete(path(stage.red()) + "/" + second).ok();
    assertEquals(List.of(), Desk.texts(unused.getJsonArray("still_on")));
    assertEquals(List.of(), listed(desk.caller(), stage.red()));
    desk.caller().delete(path(stage.red()) + "/" + first).refused(ErrorCode.NOT_FOUND);
    assertEquals(held, desk.active(), "held nodes are not touched");
  }

  @Test
  void aRevokedKeyCanBeRegisteredAnew() {
    Stage stage = bourse.stage();
    Caller red = stage.red("orgwide");
    String line = RunningBourse.keyLine();
    String first = red.post(path(stage.red()), registration(line)).json().getString("key_id");
    red.delete(path(stage.red()) + "/" + first).ok();
    HttpAnswer again = red.post(path(stage.red()), registration(line));
    assertEquals(201, again.status());
    assertEquals(List.of(again.json().getString("key_id")), listed(red, stage.red()));
  }
}
