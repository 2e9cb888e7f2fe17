package dev.bourse.edge;

import dev.bourse.blob.Reading;
import dev.bourse.pages.ServedPage;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A successful answer. */
public sealed interface Answer {

  /**
   * An answer in JSON.
   *
   * @param status 200 or 201
   * @param body the encoded JSON; may be shared between requests, so it is never changed
   * @param etag a strong validator in its quoted form, null when the operation has none; the edge
   *     turns a matching {@code If-None-Match} on a GET into 304
   * @param headers further headers
   */
  record Whole(int status, Buffer body, @Nullable String etag, Map<String, String> headers)
      implements Answer {}

  /** A 200 of unknown length, in the media type the client was found to prefer. */
  record Streamed(Pieces pieces) implements Answer {}

  /**
   * Stored bytes. The edge serves ranges of them, HEAD and {@code If-None-Match} by itself, and
   * closes them.
   *
   * @param contentType sent as it is
   * @param etag a strong validator in its quoted form
   * @param headers further headers; caches keep nothing unless {@code cache-control} is among them
   * @param elsewhere where a GET that would be sent bytes is led instead; null to send them
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
   * An answer of any status and type, made for this request: a page, a redirect with an empty body.
   *
   * @param contentType empty for an answer without a body
   * @param headers further headers; names may repeat, as {@code Set-Cookie} does
   */
  record Page(int status, String contentType, Buffer body, List<Map.Entry<String, String>> headers)
      implements Answer {
    public Page {
      headers = List.copyOf(headers);
    }
  }

  /** What is the same for anybody and was made before. */
  record Served(ServedPage page) implements Answer {}

  /**
   * A 200 of server-sent events that goes on until either side ends it, the service stops, or the
   * caller's token works no more.
   */
  record Events(EventSource source) implements Answer {}

  /** An answer without a body, such as 204 or 308. */
  record Empty(int status, Map<String, String> headers) implements Answer {}

  /** 200 with a body made for this request. */
  static Answer ok(JsonObject body) {
    return ok(body, Map.of());
  }

  /** 200 with a body made for this request, and further headers. */
  static Answer ok(JsonObject body, Map<String, String> headers) {
    return new Whole(200, body.toBuffer(), null, headers);
  }

  /** 201 with a body made for this request. */
  static Answer created(JsonObject body) {
    return new Whole(201, body.toBuffer(), null, Map.of());
  }

  /** 200 with a body encoded before, and its validator. */
  static Answer encoded(Buffer body, String etag) {
    return new Whole(200, body, etag, Map.of());
  }
}
