package dev.bourse.edge;

import dev.bourse.access.Operator;
import dev.bourse.access.Principal;
import dev.bourse.blob.ByteSource;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.Optional;

/** One request whose caller is known and whose parameters and body match the contract. */
public interface Call {
  /** The caller of an operation that demands an API token. */
  Principal principal();

  /** The caller of an operation that demands an operator's token. */
  Operator operator();

  /** The operator who calls, as trails name one. */
  default String actor() {
    return operator().actor();
  }

  /** The body of an operation that takes bytes, of which nothing was read before. */
  ByteSource bytes();

  /**
   * Reads the body of an operation that takes bytes, if it is JSON in UTF-8 of so many bytes at
   * most; fails with {@code unsupported-media-type} and {@code too-large} otherwise.
   */
  Future<byte[]> readJson(int maxBytes);

  /** A request header; the first of several. */
  Optional<String> header(String name);

  /** The value of a cookie; empty when it stands more than once, for then one is not ours. */
  Optional<String> cookie(String name);

  /** The path and query that it asks for, as sent. */
  String target();

  /** Whose address it comes from, as the address budget counts: an IPv4 address, an IPv6 /64. */
  String clientKey();

  /**
   * Runs something, on the event loop, if the client goes away before it is answered; at once when
   * it has. One at a time: the last one that was given.
   */
  default void ifGone(Runnable action) {}

  /**
   * Fails with {@code unauthorized} where API tokens have to come with a client certificate and
   * this call has none: for operations that take such a token in their body.
   */
  default void demandCertificate() {}

  /** Which of the contract's media types the client prefers to be answered in. */
  String mediaType();

  /** A parameter of type string that is required or has a default in the contract. */
  default String text(String parameter) {
    return findText(parameter).orElseThrow(() -> absent(parameter));
  }

  /** A parameter of type integer that is required or has a default in the contract. */
  default long integer(String parameter) {
    return findInteger(parameter).orElseThrow(() -> absent(parameter));
  }

  /** How many items a page has at most: the parameter of that name, which its contract bounds. */
  default int limit() {
    return Math.toIntExact(integer("limit"));
  }

  /** The {@code after} of a page of named items; empty for the first page. */
  default String after() {
    return findText("after").orElse("");
  }

  /** A parameter of type number that is required or has a default in the contract. */
  default double number(String parameter) {
    return findNumber(parameter).orElseThrow(() -> absent(parameter));
  }

  private static IllegalArgumentException absent(String parameter) {
    return new IllegalArgumentException("no parameter " + parameter);
  }

  /** An optional parameter of type string. */
  Optional<String> findText(String parameter);

  /** An optional parameter of type integer. */
  Optional<Long> findInteger(String parameter);

  /** An optional parameter of type number. */
  Optional<Double> findNumber(String parameter);

  /**
   * The body, with the contract's defaults of what it leaves out; a form's fields are text. Whole
   * numbers, however written (8, 8.0, 8e0), are Integer, Long or BigInteger; others are BigDecimal,
   * exactly as sent.
   */
  JsonObject body();
}
