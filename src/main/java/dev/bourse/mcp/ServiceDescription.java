package dev.bourse.mcp;

import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Optional;

/** What the running service says of itself. */
public interface ServiceDescription {
  /**
   * A text that anybody may read.
   *
   * @param uri its address
   */
  record Document(String uri, String name, String title, String description, String mimeType) {}

  /** Accepts arguments, or refuses them with {@code bad-request} naming the field at fault. */
  @FunctionalInterface
  interface Check {
    void accept(JsonObject arguments);
  }

  /** What the contract says of a tool: title, description, annotations, input and output. */
  JsonObject tool(String name);

  /** A schema of a contract, with nothing left to look up. */
  JsonObject schema(String contract, String name);

  /** Compiles a schema; the check may be used on any thread. */
  Check check(JsonObject schema);

  /** The contracts and the guide for programs. */
  List<Document> documents();

  /** The text of a document; empty when there is none of that address. */
  Future<Optional<String>> findText(String uri);
}
