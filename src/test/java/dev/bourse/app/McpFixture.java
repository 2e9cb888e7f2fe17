package dev.bourse.app;

import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The demo, and a member of it at the endpoint for models. */
abstract class McpFixture {
  static final String VERSION = "MCP-Protocol-Version";
  static final String SESSION = "Mcp-Session-Id";
  static final JsonObject NONE = new JsonObject();

  static RunningBourse bourse;
  static McpClient alice;

  /** What the same is asked for over HTTP with. */
  static Caller token;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
    alice = McpClient.of(bourse, "acme", "alice");
    token = bourse.as("acme", "orgwide");
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }
}
