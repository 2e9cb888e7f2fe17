package dev.bourse.mcp;

import dev.bourse.core.ApiException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A JSON-RPC error. It is control flow, not a failure of the program, so it carries no stack trace.
 */
final class RpcException extends RuntimeException {
  private static final long serialVersionUID = 1;

  static final int PARSE_ERROR = -32700;
  static final int INVALID_REQUEST = -32600;
  static final int METHOD_NOT_FOUND = -32601;
  static final int INVALID_PARAMS = -32602;
  static final int INTERNAL = -32603;
  static final int HEADER_MISMATCH = -32020;
  static final int UNSUPPORTED_REVISION = -32022;

  /** For revisions with sessions; the newest uses {@link #INVALID_PARAMS}. */
  static final int RESOURCE_NOT_FOUND = -32002;

  private static final int OK = 200;
  private static final int BAD_REQUEST = 400;
  private static final int NOT_FOUND = 404;

  private final int code;
  private final int status;
  private final transient @Nullable JsonObject data;

  private RpcException(int code, int status, String message, @Nullable JsonObject data) {
    super(message, null, false, false);
    this.code = code;
    this.status = status;
    this.data = data;
  }

  /** The message cannot be processed at all. */
  static RpcException malformed(int code, String message) {
    return new RpcException(code, BAD_REQUEST, message, null);
  }

  /** The parameters do not fit the method. */
  static RpcException invalidParams(String message) {
    return new RpcException(INVALID_PARAMS, OK, message, null);
  }

  /** The session does not exist, or has ended. */
  static RpcException noSession(String message) {
    return new RpcException(INVALID_REQUEST, NOT_FOUND, message, null);
  }

  static RpcException methodNotFound(ProtocolRevision revision, String method) {
    return new RpcException(
        METHOD_NOT_FOUND,
        revision.isStateless() ? NOT_FOUND : OK,
        "no method '" + method + "' in revision " + revision.label(),
        null);
  }

  static RpcException resourceNotFound(ProtocolRevision revision, String uri) {
    return new RpcException(
        revision.isStateless() ? INVALID_PARAMS : RESOURCE_NOT_FOUND,
        OK,
        "there is no such resource; resources/list names those there are",
        new JsonObject().put("uri", uri));
  }

  static RpcException unsupportedRevision(String requested) {
    return new RpcException(
        UNSUPPORTED_REVISION,
        BAD_REQUEST,
        "this service does not support that revision of the protocol",
        new JsonObject()
            .put("supported", new JsonArray(ProtocolRevision.labels()))
            .put("requested", requested));
  }

  /** A refusal by the service outside of a tool. */
  static RpcException internal(ApiException refusal) {
    return new RpcException(INTERNAL, OK, refusal.detail(), new JsonObject(refusal.fields()));
  }

  /**
   * The reply with this error.
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
