package dev.bourse.edge;

import dev.bourse.access.NodeAgent;
import dev.bourse.access.Operator;
import dev.bourse.access.Principal;
import dev.bourse.blob.ByteSource;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.Optional;

/** A request with an authenticated caller and validated parameters and body. */
public interface Call {
  /** Returns the caller of an operation that requires an API token. */
  Principal principal();

  /** Returns the caller of an operation that requires an operator token. */
  Operator operator();

  /** Returns the caller of an operation that requires a node's credential. */
  default NodeAgent node() {
    throw new IllegalStateException("this operation does not demand " + NodeAgent.SCHEME);
  }

  /** Returns the calling operator's name in audit rows. */
  default String actor() {
    return operator().actor();
  }

  /** Returns the unread body of an operation that takes bytes. */
  ByteSource bytes();

  /**
   * Reads the body of an operation that takes bytes, if it is JSON in UTF-8 of at most {@code
   * maxBytes}. Otherwise fails with {@code unsupported-media-type} or {@code too-large}.
   */
  Future<byte[]> readJson(int maxBytes);

  /** Returns a request header; if it is repeated, the first value. */
  Optional<String> header(String name);

  /**
   * Returns the value of a cookie; empty if it is repeated, because then one of them is foreign.
   */
  Optional<String> cookie(String name);

  /** Returns the requested path and query, as sent. */
  String target();

  /** Returns the client's key in the address budget: an IPv4 address, or an IPv6 /64. */
  String clientKey();

  /**
   * Runs an action on the event loop if the client disconnects before the response, or at once if
   * it has disconnected. A later call replaces the action.
   */
  default void ifGone(Runnable action) {}

  /**
   * Fails with {@code unauthorized} if API tokens require a client certificate and this connection
   * has none. For operations that take such a token in their body.
   */
  default void requireCertificate() {}

  /** Returns the contract's media type that the client prefers. */
  String mediaType();

  /** Returns a string parameter that is required or has a default in the contract. */
  default String text(String parameter) {
    return findText(parameter).orElseThrow(() -> absent(parameter));
  }

  /** Returns an integer parameter that is required or has a default in the contract. */
  default long integer(String parameter) {
    return findInteger(parameter).orElseThrow(() -> absent(parameter));
  }

  /**
   * Returns the maximum number of items of a page: parameter {@code limit}, which the contract
   * bounds.
   */
  default int limit() {
    return Math.toIntExact(integer("limit"));
  }

  /** Returns the {@code after} of a page of named items; empty for the first page. */
  default String after() {
    return findText("after").orElse("");
  }

  /** Returns a number parameter that is required or has a default in the contract. */
  default double number(String parameter) {
    return findNumber(parameter).orElseThrow(() -> absent(parameter));
  }

  private static IllegalArgumentException absent(String parameter) {
    return new IllegalArgumentException("no parameter " + parameter);
  }

  /** Returns an optional string parameter. */
  Optional<String> findText(String parameter);

  /** Returns an optional integer parameter. */
  Optional<Long> findInteger(String parameter);

  /** Returns an optional number parameter. */
  Optional<Double> findNumber(String parameter);

  /**
   * Returns the body with the contract's defaults; a form's fields are strings. Whole numbers in
   * any notation (8, 8.0, 8e0) are Integer, Long or BigInteger; other numbers are BigDecimal,
   * exactly as sent.
   */
  JsonObject body();
}
