package dev.bourse.mcp;

import dev.bourse.core.Text;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/**
 * One message from a client.
 *
 * @param id a request's, text or a whole number; null for what is not answered
 * @param method empty for a response
 */
record Message(Kind kind, @Nullable Object id, String method, JsonObject params) {
  static final String VERSION = "2.0";

  /** Clients count or use UUIDs; longer ones would only be carried back and forth. */
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
   * The message that a JSON value is.
   *
   * @param id what {@link #readableId} found in it
   * @throws RpcError when it is none
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

  /**
   * The id of what may not be a message, so that a refusal can name it; null when there is none.
   */
  static @Nullable Object readableId(@Nullable Object value) {
    Object id = value instanceof JsonObject json ? json.getValue("id") : null;
    boolean isId =
        id instanceof String text
            ? text.length() <= MAX_ID
            : id instanceof Integer || id instanceof Long || id instanceof BigInteger;
    return isId ? id : null;
  }

  private static RpcError invalid(String message) {
    return RpcError.malformed(RpcError.INVALID_REQUEST, message);
  }

  /** The parameters' {@code _meta}; empty when there is none. */
  JsonObject meta() {
    return params.getValue("_meta") instanceof JsonObject meta ? meta : new JsonObject();
  }

  /** A text among the parameters; null when there is none. */
  @Nullable String text(String parameter) {
    return params.getValue(parameter) instanceof String text ? text : null;
  }

  /** The whole answer to a request. */
  Buffer answer(Buffer result) {
    return EncodedJson.with(
        new JsonObject().put("jsonrpc", VERSION).put("id", id), "result", result);
  }
}
