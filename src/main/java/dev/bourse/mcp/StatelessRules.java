package dev.bourse.mcp;

import dev.bourse.core.Text;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The rules of the revision without sessions: a request must be self-describing, and its headers,
 * by which intermediaries route it, must match the body.
 */
final class StatelessRules {
  private static final String REVISION = "io.modelcontextprotocol/protocolVersion";
  private static final String CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

  /** The parameter that {@code Mcp-Name} repeats, by method. */
  private static final Map<String, String> NAMED_BY =
      Map.of("tools/call", "name", "prompts/get", "name", "resources/read", "uri");

  private static final String ENCODED_BEGIN = "=?base64?";
  private static final String ENCODED_END = "?=";

  private StatelessRules() {}

  /** Whether these rules apply to a message, rather than those of a revision with sessions. */
  static boolean govern(McpHeaders headers, Message message) {
    Object inBody = message.meta().getValue(REVISION);
    return headers.revision().isPresent()
        ? !isOfSessions(headers.revision().get())
            || (inBody != null && !inBody.equals(headers.revision().get()))
        : inBody != null;
  }

  private static boolean isOfSessions(String label) {
    return ProtocolRevision.find(label).filter(revision -> !revision.isStateless()).isPresent();
  }

  /**
   * Validates a request.
   *
   * @throws RpcException naming the first fault
   */
  static void check(McpHeaders headers, Message message) {
    JsonObject meta = message.meta();
    String inHead =
        headers
            .revision()
            .orElseThrow(() -> mismatch("the header MCP-Protocol-Version is missing"));
    Object inBody = meta.getValue(REVISION);
    if (!(inBody instanceof String revision)) {
      if (ProtocolRevision.find(inHead).isEmpty()) {
        throw RpcException.unsupportedRevision(inHead);
      }
      throw missing(REVISION, "text");
    }
    requireSame("MCP-Protocol-Version", inHead, revision);
    if (!revision.equals(ProtocolRevision.STATELESS.label())) {
      throw RpcException.unsupportedRevision(revision);
    }
    if (!(meta.getValue(CAPABILITIES) instanceof JsonObject)) {
      throw missing(CAPABILITIES, "an object");
    }
    requireSame(
        "Mcp-Method",
        headers.method().orElseThrow(() -> mismatch("the header Mcp-Method is missing")),
        message.method());
    String parameter = NAMED_BY.get(message.method());
    String named = parameter == null ? null : message.text(parameter);
    if (named != null) {
      requireSame(
          "Mcp-Name",
          headers
              .name()
              .flatMap(StatelessRules::decoded)
              .orElseThrow(() -> mismatch("the header Mcp-Name is missing or cannot be decoded")),
          named);
    }
  }

  private static void requireSame(String header, String inHead, @Nullable String inBody) {
    if (!inHead.equals(inBody)) {
      throw mismatch(
          "the header %s says '%s', the body '%s'"
              .formatted(header, Text.shown(inHead), Text.shown(String.valueOf(inBody))));
    }
  }

  /** A header's value, decoded if it is wrapped in base64; empty when the wrapping is faulty. */
  private static Optional<String> decoded(String value) {
    if (!value.startsWith(ENCODED_BEGIN) || !value.endsWith(ENCODED_END)) {
      return Optional.of(value);
    }
    try {
      String inner = value.substring(ENCODED_BEGIN.length(), value.length() - ENCODED_END.length());
      return Optional.of(new String(Base64.getDecoder().decode(inner), StandardCharsets.UTF_8));
    } catch (IllegalArgumentException | StringIndexOutOfBoundsException faulty) {
      return Optional.empty();
    }
  }

  private static RpcException mismatch(String message) {
    return RpcException.malformed(RpcException.HEADER_MISMATCH, message);
  }

  private static RpcException missing(String key, String expected) {
    return RpcException.malformed(
        RpcException.INVALID_PARAMS, "params._meta: " + key + " is missing; expected " + expected);
  }
}
