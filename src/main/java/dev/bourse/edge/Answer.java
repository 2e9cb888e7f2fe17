package dev.bourse.edge;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
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
   */
  record Whole(int status, Buffer body, @Nullable String etag) implements Answer {}

  /** A 200 of unknown length, in the media type the client was found to prefer. */
  record Streamed(Pieces pieces) implements Answer {}

  /** 200 with a body made for this request. */
  static Answer ok(JsonObject body) {
    return new Whole(200, body.toBuffer(), null);
  }

  /** 201 with a body made for this request. */
  static Answer created(JsonObject body) {
    return new Whole(201, body.toBuffer(), null);
  }

  /** 200 with a body encoded before, and its validator. */
  static Answer encoded(Buffer body, String etag) {
    return new Whole(200, body, etag);
  }
}
