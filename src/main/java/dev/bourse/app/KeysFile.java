package dev.bourse.app;

import dev.bourse.core.PrivateFile;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.function.BinaryOperator;

/**
 * A JSON file with the secrets of tokens created by the service itself, readable only by its owner.
 * It is replaced atomically, so a crash leaves the old or the new one.
 */
final class KeysFile {
  private final Path path;

  KeysFile(Path path) {
    this.path = path;
  }

  /**
   * Adds organizations, or tokens of known ones; existing entries stay.
   *
   * @return the previous content
   */
  JsonObject merge(JsonObject orgs) throws IOException {
    JsonObject content = read();
    JsonObject before = content.copy();
    JsonObject known = content.getJsonObject("orgs", new JsonObject());
    for (String org : orgs.fieldNames()) {
      JsonObject added = orgs.getJsonObject(org).copy();
      JsonObject tokens =
          known
              .getJsonObject(org, new JsonObject())
              .getJsonObject("tokens", new JsonObject())
              .copy()
              .mergeIn(added.getJsonObject("tokens"));
      known.put(org, added.put("tokens", tokens));
    }
    write(content.put("orgs", known));
    return before;
  }

  /** Adds organizations and tokens that the file does not contain yet. */
  void complete(JsonObject orgs) throws IOException {
    JsonObject content = read();
    JsonObject known = content.getJsonObject("orgs", new JsonObject());
    for (String org : orgs.fieldNames()) {
      JsonObject added = orgs.getJsonObject(org).copy();
      JsonObject before = known.getJsonObject(org, new JsonObject());
      JsonObject tokens =
          added.getJsonObject("tokens").mergeIn(before.getJsonObject("tokens", new JsonObject()));
      known.put(org, added.mergeIn(before).put("tokens", tokens));
    }
    write(content.put("orgs", known));
  }

  /** Reverts a merge whose additions were not stored. */
  Void restore(JsonObject before) throws IOException {
    if (before.isEmpty()) {
      Files.deleteIfExists(path);
    } else {
      write(before);
    }
    return null;
  }

  boolean exists() {
    return Files.exists(path);
  }

  /** Writes the service's current address. */
  void noteBaseUrl(String baseUrl) throws IOException {
    JsonObject content = read();
    if (!baseUrl.equals(content.getString("base_url"))) {
      write(new JsonObject().put("base_url", baseUrl).mergeIn(withoutUrl(content)));
    }
  }

  Optional<String> operatorToken() throws IOException {
    return Optional.ofNullable(read().getString("operator_token"));
  }

  /**
   * Writes an operator's token, in front of the organizations.
   *
   * @return the previous content
   */
  JsonObject writeOperatorToken(String token) throws IOException {
    JsonObject content = read();
    JsonObject before = content.copy();
    JsonObject first = new JsonObject();
    if (content.containsKey("base_url")) {
      first.put("base_url", content.remove("base_url"));
    }
    content.remove("operator_token");
    write(first.put("operator_token", token).mergeIn(content));
    return before;
  }

  /**
   * Writes a token for each member in the file.
   *
   * @param issues creates a token for an organization and a username, by the name of its entry in
   *     the file
   */
  void writeMemberTokens(Map<String, BinaryOperator<String>> issues) throws IOException {
    JsonObject content = read();
    JsonObject orgs = content.getJsonObject("orgs", new JsonObject());
    for (String org : orgs.fieldNames()) {
      JsonObject members = orgs.getJsonObject(org).getJsonObject("members", new JsonObject());
      for (String member : members.fieldNames()) {
        issues.forEach(
            (name, issue) -> members.getJsonObject(member).put(name, issue.apply(org, member)));
      }
    }
    write(content);
  }

  private static JsonObject withoutUrl(JsonObject content) {
    JsonObject rest = content.copy();
    rest.remove("base_url");
    return rest;
  }

  private JsonObject read() throws IOException {
    return Files.exists(path) ? new JsonObject(Files.readString(path)) : new JsonObject();
  }

  private void write(JsonObject content) throws IOException {
    PrivateFile.createFolders(path.toAbsolutePath().resolveSibling("."));
    PrivateFile.write(path, (content.encodePrettily() + "\n").getBytes(StandardCharsets.UTF_8));
  }
}
