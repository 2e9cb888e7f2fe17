package dev.bourse.mcp;

import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The port to the running service's description of itself. */
public interface ServiceDescription {
  /**
   * A public text.
   *
   * @param uri its address
   */
  record Document(String uri, String name, String title, String description, String mimeType) {}

  /**
   * A skill: one Markdown file that tells an agent how to use this service.
   *
   * @param uri its address as a resource
   * @param frontmatter the file's front matter, with its {@code name} and {@code description}
   * @param text the whole file
   * @param digest of the file's bytes: {@code sha256:} and 64 lowercase hexadecimal digits
   * @param size the file's length in bytes
   */
  record Skill(String uri, JsonObject frontmatter, String text, String digest, int size) {}

  /** Accepts arguments, or refuses them with {@code bad-request} naming the field at fault. */
  @FunctionalInterface
  interface Check {
    void accept(JsonObject arguments);
  }

  /** The contract's definition of a tool: title, description, annotations, input and output. */
  JsonObject tool(String name);

  /** The groups of tools that the contract names. */
  Set<String> toolsets();

  /** A schema of a contract with all references resolved. */
  JsonObject schema(String contract, String name);

  /** Compiles a schema; the check is thread-safe. */
  Check check(JsonObject schema);

  /** The skills that the service offers. */
  Future<List<Skill>> skills();

  /** The contracts and the guide for programs. */
  List<Document> documents();

  /** The text of a document; empty if no document has this address. */
  Future<Optional<String>> findText(String uri);
}
