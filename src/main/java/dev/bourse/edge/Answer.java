package dev.bourse.edge;

import dev.bourse.blob.Reading;
import dev.bourse.json.JsonRecord;
import dev.bourse.pages.ServedPage;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A successful response. */
public sealed interface Answer {

  /**
   * A JSON response.
   *
   * @param status 200 or 201
   * @param body the encoded JSON; may be shared between requests, so it must not be changed
   * @param etag a strong validator in its quoted form, null if the operation has none; the edge
   *     turns a matching {@code If-None-Match} on a GET into 304
   * @param headers additional headers
   */
  record Whole(int status, Buffer body, @Nullable String etag, Map<String, String> headers)
      implements Answer {}

  /**
   * A 200 response of unknown length.
   *
   * @param parameters of the negotiated media type, such as {@code ; charset=utf-8}; empty without
   *     any
   */
  record Streamed(Pieces pieces, String parameters) implements Answer {
    /** Creates a response whose media type has no parameters. */
    public Streamed(Pieces pieces) {
      this(pieces, "");
    }
  }

  /**
   * Stored bytes. The edge serves ranges, HEAD and {@code If-None-Match}, and closes the reading.
   *
   * @param contentType sent unchanged
   * @param etag a strong validator in its quoted form
   * @param headers additional headers; caches keep nothing unless {@code cache-control} is among
   *     them
   * @param elsewhere the address to which a GET is redirected; null to send the bytes
   */
  record Download(
      Reading bytes,
      String contentType,
      String etag,
      Map<String, String> headers,
      @Nullable URI elsewhere)
      implements Answer {
    public Download(Reading bytes, String contentType, String etag, Map<String, String> headers) {
      this(bytes, contentType, etag, headers, null);
    }
  }

  /**
   * A response of any status and type for this request: a page, or a redirect with an empty body.
   *
   * @param contentType empty for a response without a body
   * @param headers additional headers; names may repeat, as {@code Set-Cookie} does
   */
  record RenderedPage(
      int status, String contentType, Buffer body, List<Map.Entry<String, String>> headers)
      implements Answer {
    public RenderedPage {
      headers = List.copyOf(headers);
    }
  }

  /** A prepared page, the same for every caller. */
  record Served(ServedPage page) implements Answer {}

  /**
   * A 200 response with server-sent events that ends when either side closes it, when the service
   * stops, or when the caller's credential is no longer valid.
   */
  record Events(EventSource source) implements Answer {}

  /** A response without a body, for example 204 or 308. */
  record Empty(int status, Map<String, String> headers) implements Answer {}

  /** Returns a 200 response. */
  static Answer ok(JsonObject body) {
    return ok(body, Map.of());
  }

  /** Returns a 200 response with additional headers. */
  static Answer ok(JsonObject body, Map<String, String> headers) {
    return new Whole(200, body.toBuffer(), null, headers);
  }

  /** Returns a 200 response with an object of the contract. */
  static Answer ok(JsonRecord body) {
    return new Whole(200, body.toBuffer(), null, Map.of());
  }

  /** Returns a 201 response with an object of the contract. */
  static Answer created(JsonRecord body) {
    return new Whole(201, body.toBuffer(), null, Map.of());
  }

  /** Returns a 201 response. */
  static Answer created(JsonObject body) {
    return new Whole(201, body.toBuffer(), null, Map.of());
  }

  /** Returns a 200 response with an encoded body and its validator. */
  static Answer encoded(Buffer body, String etag) {
    return new Whole(200, body, etag, Map.of());
  }
}
