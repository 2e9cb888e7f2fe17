package dev.bourse.mcp;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;

/** Puts JSON that is encoded already into an object, so that nobody has to parse it for that. */
final class EncodedJson {
  private EncodedJson() {}

  /**
   * An object of some fields and one more.
   *
   * @param value of the one more, encoded
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
