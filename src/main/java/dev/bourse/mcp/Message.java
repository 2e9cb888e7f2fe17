package dev.bourse.mcp;

import dev.bourse.core.Text;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/**
 * A message from a client.
 *
 * @param id a request's id, text or a whole number; null for a message without an answer
 * @param method empty for a response
 */
record Message(Kind kind, @Nullable Object id, String method, JsonObject params) {
  static final String VERSION = "2.0";

  /** The longest id: clients count or use UUIDs. */
  private static final int MAX_ID = 256;

  private static final int MAX_METHOD = 128;

  Message {
    if ((id != null) != (kind == Kind.REQUEST) || method.isEmpty() != (kind == Kind.RESPONSE)) {
      throw new IllegalArgumentException(
          "a %s of method '%s' with id %s; requests have ids, responses no method"
              .formatted(kind, method, id));
    }
  }

  enum Kind {
    REQUEST,
    NOTIFICATION,
    RESPONSE
  }

  /**
   * Parses the message in a JSON value.
   *
   * @param id the result of {@link #readableId}
   * @throws RpcException when the value is not a message
   */
  static Message of(@Nullable Object value, @Nullable Object id) {
    if (value instanceof JsonArray) {
      throw invalid("batches are not part of these revisions; send one message a request");
    }
    if (!(value instanceof JsonObject json) || !VERSION.equals(json.getValue("jsonrpc"))) {
      throw invalid("a message is an object whose jsonrpc is \"2.0\"");
    }
    Object method = json.getValue("method");
    if (method == null && (json.containsKey("result") || json.containsKey("error"))) {
      return new Message(Kind.RESPONSE, null, "", new JsonObject());
    }
    if (!(method instanceof String name) || name.isEmpty() || name.length() > MAX_METHOD) {
      throw invalid("method: expected text of 1 to " + MAX_METHOD + " characters");
    }
    Object params = json.containsKey("params") ? json.getValue("params") : new JsonObject();
    if (!(params instanceof JsonObject named)) {
      throw invalid("params: expected an object");
    }
    if (!json.containsKey("id")) {
      return new Message(Kind.NOTIFICATION, null, name, named);
    }
    if (id == null) {
      throw invalid(
          "id: %s is not acceptable; expected text of at most %s characters or a whole number"
              .formatted(Text.shown(String.valueOf(json.getValue("id"))), MAX_ID));
    }
    return new Message(Kind.REQUEST, id, name, named);
  }

  /** The id of a value that may not be a message, for use in a refusal; null when there is none. */
  static @Nullable Object readableId(@Nullable Object value) {
    Object id = value instanceof JsonObject json ? json.getValue("id") : null;
    boolean isId =
        id instanceof String text
            ? text.length() <= MAX_ID
            : id instanceof Integer || id instanceof Long || id instanceof BigInteger;
    return isId ? id : null;
  }

  private static RpcException invalid(String message) {
    return RpcException.malformed(RpcException.INVALID_REQUEST, message);
  }

  /** The parameters' {@code _meta}; empty when there is none. */
  JsonObject meta() {
    return params.getValue("_meta") instanceof JsonObject meta ? meta : new JsonObject();
  }

  /** A text parameter; null when there is none. */
  @Nullable String text(String parameter) {
    return params.getValue(parameter) instanceof String text ? text : null;
  }

  /** The response to the request. */
  Buffer answer(Buffer result) {
    return EncodedJson.with(
        new JsonObject().put("jsonrpc", VERSION).put("id", id), "result", result);
  }
}
