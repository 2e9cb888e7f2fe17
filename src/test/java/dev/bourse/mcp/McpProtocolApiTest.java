package dev.bourse.mcp;

import static dev.bourse.testing.McpClient.ENDPOINT;
import static dev.bourse.testing.McpClient.STATELESS;
import static dev.bourse.testing.McpClient.error;
import static dev.bourse.testing.McpClient.meta;
import static dev.bourse.testing.McpClient.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.Digests;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.McpApiFixture;
import dev.bourse.testing.McpClient;
import dev.bourse.testing.ReplayedOnPostgres;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The protocol's revisions and their methods. */
@ReplayedOnPostgres
class McpProtocolApiTest extends McpApiFixture {
  private static HttpAnswer initialize(McpClient client, String revision) {
    return client.post(
        request(
            "initialize",
            new JsonObject()
                .put("protocolVersion", revision)
                .put("capabilities", new JsonObject())
                .put("clientInfo", new JsonObject().put("name", "t").put("version", "1"))));
  }

  private static String session(McpClient client, String revision) {
    HttpAnswer answer = initialize(client, revision);
    assertEquals(revision, answer.ok().getJsonObject("result").getString("protocolVersion"));
    return answer.header(SESSION);
  }

  @Test
  void discoverTellsRevisionsAndCapabilities() {
    JsonObject result = alice.result("server/discover");
    assertEquals(
        new JsonArray().add(STATELESS).add("2025-11-25").add("2025-06-18"),
        result.getJsonArray("supportedVersions"));
    assertEquals(
        Set.of("tools", "resources", "prompts", "extensions"),
        result.getJsonObject("capabilities").fieldNames());
    assertEquals("complete", result.getString("resultType"));
    assertEquals(
        "bourse",
        result
            .getJsonObject("_meta")
            .getJsonObject("io.modelcontextprotocol/serverInfo")
            .getString("name"));
  }

  @Test
  void everyListOfTheStatelessRevisionTellsHowLongItKeeps() {
    for (String method :
        List.of(
            "tools/list",
            "prompts/list",
            "resources/list",
            "resources/templates/list",
            "skills/list")) {
      JsonObject result = alice.result(method);
      assertEquals(300_000, result.getInteger("ttlMs"), method);
      assertEquals("public", result.getString("cacheScope"), method);
    }
  }

  @Test
  void aStatelessRequestSaysItsRevisionAndCapabilities() {
    String[] headers = {VERSION, STATELESS, "Mcp-Method", "tools/list"};
    error(400, -32602, alice.post(request("tools/list", NONE), headers));
    for (String key : meta().fieldNames()) {
      JsonObject lacking = meta();
      lacking.remove(key);
      error(
          400,
          -32602,
          alice.post(request("tools/list", new JsonObject().put("_meta", lacking)), headers));
    }
  }

  @Test
  void headersSayWhatTheBodySays() {
    JsonObject call =
        request("tools/call", new JsonObject().put("name", "whoami").put("_meta", meta()));
    error(400, -32020, alice.post(call, "Mcp-Method", "tools/call", "Mcp-Name", "whoami"));
    error(400, -32020, alice.post(call, VERSION, STATELESS, "Mcp-Name", "whoami"));
    error(400, -32020, alice.post(call, VERSION, STATELESS, "Mcp-Method", "tools/call"));
    for (String[] wrong :
        new String[][] {
          {"2025-11-25", "tools/call", "whoami"},
          {STATELESS, "tools/list", "whoami"},
          {STATELESS, "TOOLS/CALL", "whoami"},
          {STATELESS, "tools/call", "grid_api"},
          {STATELESS, "tools/call", "=?base64?%%%?="}
        }) {
      error(
          400,
          -32020,
          alice.post(call, VERSION, wrong[0], "Mcp-Method", wrong[1], "Mcp-Name", wrong[2]));
    }
    alice
        .post(
            call, VERSION, STATELESS, "mcp-method", "tools/call", "Mcp-Name", "=?base64?d2hvYW1p?=")
        .ok();
  }

  @Test
  void anUnknownRevisionIsToldTheKnownOnes() {
    JsonObject unknown = meta().put("io.modelcontextprotocol/protocolVersion", "1999-01-01");
    JsonObject data =
        error(
                400,
                -32022,
                alice.post(
                    request("server/discover", new JsonObject().put("_meta", unknown)),
                    VERSION,
                    "1999-01-01",
                    "Mcp-Method",
                    "server/discover"))
            .getJsonObject("data");
    assertEquals("1999-01-01", data.getString("requested"));
    assertTrue(data.getJsonArray("supported").contains(STATELESS));
  }

  @Test
  void methodsThatTheStatelessRevisionDroppedAreUnknown() {
    for (String method : List.of("initialize", "ping", "logging/setLevel", "dance")) {
      alice.error(404, -32601, method, NONE);
    }
  }

  @Test
  void aHandshakeBeginsASession() {
    for (String revision : List.of("2025-11-25", "2025-06-18")) {
      String session = session(alice, revision);
      String[] headers = {VERSION, revision, SESSION, session};
      JsonObject initialized =
          new JsonObject().put("jsonrpc", "2.0").put("method", "notifications/initialized");
      assertEquals(202, alice.post(initialized, headers).status());
      assertEquals(NONE, alice.post(request("ping", NONE), headers).ok().getJsonObject("result"));
      JsonObject listed =
          alice.post(request("tools/list", NONE), headers).ok().getJsonObject("result");
      assertEquals(Set.of("tools"), listed.fieldNames());
      error(200, -32601, alice.post(request("server/discover", NONE), headers));
      error(400, -32600, alice.post(request("ping", NONE), VERSION, "2025-11-25"));
      JsonObject missing = new JsonObject().put("uri", "test://none");
      assertEquals(
          missing,
          error(200, -32002, alice.post(request("resources/read", missing), headers))
              .getJsonObject("data"));
    }
    assertEquals(
        "2025-11-25",
        initialize(alice, "2024-11-05").ok().getJsonObject("result").getString("protocolVersion"));
  }

  @Test
  void aNotificationIsTakenAndNotAnswered() {
    JsonObject cancelled =
        new JsonObject().put("jsonrpc", "2.0").put("method", "notifications/cancelled");
    assertEquals(202, alice.post(cancelled, VERSION, STATELESS).status());
    // This revision has no sessions, and tolerates the header of clients that support both.
    assertEquals(202, alice.post(cancelled, VERSION, STATELESS, SESSION, "x").status());
    error(404, -32600, alice.post(cancelled, SESSION, "x"));
  }

  @Test
  void aSessionKeepsItsRevision() {
    String session = session(alice, "2025-06-18");
    error(400, -32600, alice.post(request("ping", NONE), VERSION, "2025-11-25", SESSION, session));
    alice.post(request("ping", NONE), SESSION, session).ok();
  }

  @Test
  void anEndedSessionIsNotFound() {
    String session = session(alice, "2025-11-25");
    // The client's address may name groups of tools.
    String address = ENDPOINT + "?toolsets=capacity";
    assertEquals(204, alice.caller().send("DELETE", address, null, SESSION, session).status());
    error(404, -32600, alice.post(request("ping", NONE), SESSION, session));
    error(404, -32600, alice.caller().send("DELETE", ENDPOINT, null, SESSION, session));
    error(400, -32600, alice.caller().send("DELETE", ENDPOINT, null));
  }

  @Test
  void aSessionIsItsMembersAlone() {
    String session = session(alice, "2025-11-25");
    McpClient bob = McpClient.of(bourse, "acme", "bob");
    error(404, -32600, bob.post(request("ping", NONE), SESSION, session));
    error(404, -32600, alice.post(request("ping", NONE), SESSION, session + "x"));
    error(404, -32600, alice.post(request("ping", NONE), SESSION, "x"));
    error(404, -32600, alice.post(request("ping", NONE), SESSION, "a.b.c.d"));
  }

  @Test
  void thereIsNoStreamToListenTo() {
    HttpAnswer answer = alice.caller().get(ENDPOINT);
    answer.refused(ErrorCode.METHOD_NOT_ALLOWED);
    assertEquals("DELETE, POST", answer.header("allow"));
    alice.error(404, -32601, "subscriptions/listen", NONE);
  }

  @Test
  void theContractsAndTheGuideAreResources() {
    List<JsonObject> listed =
        ClusterClient.objects(alice.result("resources/list").getJsonArray("resources"));
    assertEquals("AGENTS.md", listed.get(0).getString("name"));
    assertEquals("skill://bourse/SKILL.md", listed.get(listed.size() - 1).getString("uri"));
    for (JsonObject resource : listed) {
      String uri = resource.getString("uri");
      JsonObject content =
          alice
              .result("resources/read", new JsonObject().put("uri", uri))
              .getJsonArray("contents")
              .getJsonObject(0);
      assertEquals(uri, content.getString("uri"));
      assertEquals(
          new String(
              bourse
                  .with(null)
                  .fetch(
                      "GET",
                      uri.replaceFirst("^skill://", bourse.service().baseUrl() + "/skills/")
                          .substring(bourse.service().baseUrl().length()))
                  .body(),
              StandardCharsets.UTF_8),
          content.getString("text"),
          "as anybody may fetch it");
    }
    JsonObject missing = new JsonObject().put("uri", "test://none");
    assertEquals(
        missing, alice.error(200, -32602, "resources/read", missing).getJsonObject("data"));
    alice.error(
        200,
        -32602,
        "resources/read",
        new JsonObject().put("uri", bourse.service().baseUrl() + "/docs"));
  }

  @Test
  void aPromptSaysHowToBid() {
    assertEquals(
        "bid",
        alice.result("prompts/list").getJsonArray("prompts").getJsonObject(0).getString("name"));
    JsonObject arguments = new JsonObject().put("gpus", "16").put("price", "3.50");
    String words =
        alice
            .result("prompts/get", new JsonObject().put("name", "bid").put("arguments", arguments))
            .getJsonArray("messages")
            .getJsonObject(0)
            .getJsonObject("content")
            .getString("text");
    assertTrue(words.contains("16 GPUs at no more than $3.50"), words);
    alice.error(200, -32602, "prompts/get", new JsonObject().put("name", "bid"));
    alice.error(200, -32602, "prompts/get", new JsonObject().put("name", "dance"));
  }

  @Test
  void eachSkillIsListedWithTheDigestOfItsFile() {
    assertEquals(
        NONE,
        alice
            .result("server/discover")
            .getJsonObject("capabilities")
            .getJsonObject("extensions")
            .getJsonObject("io.modelcontextprotocol/skills"));
    JsonObject listed = alice.result("skills/list").getJsonArray("skills").getJsonObject(0);
    JsonObject uri = new JsonObject().put("uri", listed.getString("uri"));
    assertEquals(listed, alice.result("skills/get", uri).getJsonObject("skill"));
    assertEquals(300_000, alice.result("skills/get", uri).getInteger("ttlMs"));
    String text =
        alice
            .result("resources/read", uri)
            .getJsonArray("contents")
            .getJsonObject(0)
            .getString("text");
    JsonObject frontmatter = listed.getJsonObject("frontmatter");
    assertTrue(
        text.startsWith(
            "---\nname: %s\ndescription: %s\n---\n"
                .formatted(frontmatter.getString("name"), frontmatter.getString("description"))),
        text);
    byte[] file = text.getBytes(StandardCharsets.UTF_8);
    assertEquals(
        new JsonArray()
            .add(
                uri.copy()
                    .put("digest", "sha256:" + HexFormat.of().formatHex(Digests.sha256(file)))
                    .put("size", file.length)),
        listed.getJsonArray("resources"));
    for (String none : List.of("skill://bourse", "skill://other/SKILL.md", "skill://../x")) {
      alice.error(200, -32602, "skills/get", new JsonObject().put("uri", none));
    }
    alice.error(200, -32602, "skills/get", NONE);
  }

  @Test
  void whatIsNotThereIsSaidToBeMissing() {
    alice.error(200, -32602, "tools/call", new JsonObject().put("name", "dance"));
    alice.error(200, -32602, "tools/call", NONE);
    alice.error(
        200, -32602, "tools/call", new JsonObject().put("name", "whoami").put("arguments", 1));
    alice.error(200, -32602, "tools/list", new JsonObject().put("cursor", "x"));
  }
}
