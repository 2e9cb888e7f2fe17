package dev.bourse.mcp;

import dev.bourse.core.ApiError;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is wrong with a message, as JSON-RPC has it. Control flow, not a fault, so it carries no
 * stack trace.
 */
final class RpcError extends RuntimeException {
  private static final long serialVersionUID = 1;

  static final int PARSE_ERROR = -32700;
  static final int INVALID_REQUEST = -32600;
  static final int METHOD_NOT_FOUND = -32601;
  static final int INVALID_PARAMS = -32602;
  static final int INTERNAL = -32603;
  static final int HEADER_MISMATCH = -32020;
  static final int UNSUPPORTED_REVISION = -32022;

  /** Of the revisions with sessions; the newest says {@link #INVALID_PARAMS}. */
  static final int RESOURCE_NOT_FOUND = -32002;

  private static final int OK = 200;
  private static final int BAD_REQUEST = 400;
  private static final int NOT_FOUND = 404;

  private final int code;
  private final int status;
  private final transient @Nullable JsonObject data;

  private RpcError(int code, int status, String message, @Nullable JsonObject data) {
    super(message, null, false, false);
    this.code = code;
    this.status = status;
    this.data = data;
  }

  /** The message cannot be taken at all. */
  static RpcError malformed(int code, String message) {
    return new RpcError(code, BAD_REQUEST, message, null);
  }

  /** The message's parameters are not those of its method. */
  static RpcError invalidParams(String message) {
    return new RpcError(INVALID_PARAMS, OK, message, null);
  }

  /** There is no such session, or no more. */
  static RpcError noSession(String message) {
    return new RpcError(INVALID_REQUEST, NOT_FOUND, message, null);
  }

  static RpcError methodNotFound(ProtocolRevision revision, String method) {
    return new RpcError(
        METHOD_NOT_FOUND,
        revision.isStateless() ? NOT_FOUND : OK,
        "no method '" + method + "' in revision " + revision.label(),
        null);
  }

  static RpcError resourceNotFound(ProtocolRevision revision, String uri) {
    return new RpcError(
        revision.isStateless() ? INVALID_PARAMS : RESOURCE_NOT_FOUND,
        OK,
        "there is no such resource; resources/list names those there are",
        new JsonObject().put("uri", uri));
  }

  static RpcError unsupportedRevision(String requested) {
    return new RpcError(
        UNSUPPORTED_REVISION,
        BAD_REQUEST,
        "this service does not support that revision of the protocol",
        new JsonObject()
            .put("supported", new JsonArray(ProtocolRevision.labels()))
            .put("requested", requested));
  }

  /** A refusal of the service outside of a tool. */
  static RpcError internal(ApiError refusal) {
    return new RpcError(INTERNAL, OK, refusal.detail(), new JsonObject(refusal.fields()));
  }

  /**
   * The whole answer.
   *
   * @param id the request's; null when it could not be read
   */
  McpReply reply(@Nullable Object id) {
    JsonObject error = new JsonObject().put("code", code).put("message", getMessage());
    if (data != null) {
      error.put("data", data);
    }
    JsonObject answer = new JsonObject().put("jsonrpc", Message.VERSION);
    if (id != null) {
      answer.put("id", id);
    }
    return new McpReply(status, answer.put("error", error).toBuffer(), Map.of());
  }
}
