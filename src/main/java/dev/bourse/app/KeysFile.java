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
 * Where the secrets of tokens made by the service itself are told, once: a JSON file only its owner
 * can read. It is replaced whole, so a crash leaves the old one or the new one.
 */
final class KeysFile {
  private final Path path;

  KeysFile(Path path) {
    this.path = path;
  }

  /**
   * Adds organizations, or tokens to known ones; what the file tells already stays.
   *
   * @return what the file told before
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

  /** Adds organizations, and tokens to known ones, that the file does not tell yet. */
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

  /** Takes a merge back: what it added was not stored. */
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

  /** Notes where the service is served this time. */
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
   * Tells an operator's token, which goes before the organizations.
   *
   * @return what the file told before
   */
  JsonObject noteOperatorToken(String token) throws IOException {
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
   * Tells tokens for each member told of.
   *
   * @param issues what makes one out of organization and username, by what the file calls it
   */
  void noteMemberTokens(Map<String, BinaryOperator<String>> issues) throws IOException {
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
