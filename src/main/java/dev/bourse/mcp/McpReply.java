package dev.bourse.mcp;

import io.vertx.core.buffer.Buffer;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a message is answered with.
 *
 * @param body a JSON object, encoded; null for none
 * @param headers further HTTP headers
 */
record McpReply(int status, @Nullable Buffer body, Map<String, String> headers) {
  /** The message was accepted and needs no answer. */
  static final McpReply TAKEN = new McpReply(202, null, Map.of());

  /** What was asked is done, and there is nothing to tell of it. */
  static final McpReply NO_CONTENT = new McpReply(204, null, Map.of());

  static McpReply of(Buffer body) {
    return new McpReply(200, body, Map.of());
  }
}
