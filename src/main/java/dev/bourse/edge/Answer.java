package dev.bourse.edge;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import org.jspecify.annotations.Nullable;

/**
 * A successful answer in JSON.
 *
 * @param status 200 or 201
 * @param body the encoded JSON; may be shared between requests, so it is never changed
 * @param etag a strong validator in its quoted form, null when the operation has none; the edge
 *     turns a matching {@code If-None-Match} on a GET into 304
 */
public record Answer(int status, Buffer body, @Nullable String etag) {

  /** 200 with a body made for this request. */
  public static Answer ok(JsonObject body) {
    return new Answer(200, body.toBuffer(), null);
  }

  /** 201 with a body made for this request. */
  public static Answer created(JsonObject body) {
    return new Answer(201, body.toBuffer(), null);
  }

  /** 200 with a body encoded before, and its validator. */
  public static Answer encoded(Buffer body, String etag) {
    return new Answer(200, body, etag);
  }
}
