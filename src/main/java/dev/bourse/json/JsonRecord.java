package dev.bourse.json;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import org.jspecify.annotations.Nullable;

/** An object of a contract that writes itself as JSON; the build generates them from schemas. */
@FunctionalInterface
public interface JsonRecord {
  /** Writes the members of this object into the current one. */
  void write(JsonBytes out);

  /** Returns this object in UTF-8. */
  default byte[] toBytes() {
    JsonBytes out = new JsonBytes();
    write(out);
    return out.toBytes();
  }

  /** Returns this object in UTF-8. */
  default Buffer toBuffer() {
    return Buffer.buffer(toBytes());
  }

  /** Returns this object as a tree, as part of an answer that is not a record itself. */
  default JsonObject toTree() {
    return new JsonObject(toBuffer());
  }

  /** Returns an object as a tree; null for null. */
  static @Nullable JsonObject treeOrNull(@Nullable JsonRecord object) {
    return object == null ? null : object.toTree();
  }
}
