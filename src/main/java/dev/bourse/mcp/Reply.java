package dev.bourse.mcp;

import io.vertx.core.json.JsonObject;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a message is answered with.
 *
 * @param body null for none
 * @param headers further HTTP headers
 */
record Reply(int status, @Nullable JsonObject body, Map<String, String> headers) {
  /** The message was taken; there is nothing to say to it. */
  static final Reply TAKEN = new Reply(202, null, Map.of());

  static Reply of(JsonObject body) {
    return new Reply(200, body, Map.of());
  }
}
