package dev.bourse.testing;

import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The demo, and a member of it at the endpoint for models. */
public abstract class McpApiFixture {
  protected static final String VERSION = "MCP-Protocol-Version";
  protected static final String SESSION = "Mcp-Session-Id";
  protected static final JsonObject NONE = new JsonObject();

  protected static RunningBourse bourse;
  protected static McpClient alice;

  /** What the same is asked for over HTTP with. */
  protected static ApiClient token;

  @BeforeAll
  protected static void start() {
    bourse = RunningBourse.demo();
    alice = McpClient.of(bourse, "acme", "alice");
    token = bourse.as("acme", "orgwide");
  }

  @AfterAll
  protected static void stop() {
    bourse.close();
  }
}
