package dev.bourse.mcp;

import io.vertx.core.buffer.Buffer;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The reply to a message.
 *
 * @param body a JSON object, encoded; null for none
 * @param headers further HTTP headers
 */
record McpReply(int status, @Nullable Buffer body, Map<String, String> headers) {
  /** The message was accepted and needs no answer. */
  static final McpReply TAKEN = new McpReply(202, null, Map.of());

  /** The request succeeded without a result. */
  static final McpReply NO_CONTENT = new McpReply(204, null, Map.of());

  static McpReply of(Buffer body) {
    return new McpReply(200, body, Map.of());
  }
}
