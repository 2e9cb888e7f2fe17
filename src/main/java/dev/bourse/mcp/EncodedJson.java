package dev.bourse.mcp;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;

/** Inserts encoded JSON into an object without parsing it. */
final class EncodedJson {
  private EncodedJson() {}

  /**
   * An object with some fields and one more.
   *
   * @param value the encoded value of the additional field
   */
  static Buffer with(JsonObject fields, String name, Buffer value) {
    Buffer object = fields.toBuffer();
    return Buffer.buffer(object.length() + name.length() + value.length() + 4)
        .appendBuffer(object, 0, object.length() - 1)
        .appendString(fields.isEmpty() ? "\"" : ",\"")
        .appendString(name)
        .appendString("\":")
        .appendBuffer(value)
        .appendString("}");
  }
}
