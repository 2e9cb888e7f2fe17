package dev.bourse.mcp;

import dev.bourse.core.Text;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Optional;

/**
 * The methods of the <a href="https://modelcontextprotocol.io/seps/2640-skills-extension">Skills
 * extension</a>: what skills there are, each with the digest of its file, which is a resource.
 */
final class Skills {
  /** Its name among the capabilities. */
  static final String EXTENSION = "io.modelcontextprotocol/skills";

  private final ServiceDescription reference;

  Skills(ServiceDescription reference) {
    this.reference = reference;
  }

  Future<JsonObject> list() {
    return reference
        .skills()
        .map(
            skills -> {
              JsonArray entries = new JsonArray();
              skills.forEach(skill -> entries.add(entry(skill)));
              return new JsonObject().put("skills", entries);
            });
  }

  Future<JsonObject> get(Message message) {
    String uri = message.text("uri");
    if (uri == null) {
      throw RpcException.invalidParams("params.uri is missing; expected a skill's address");
    }
    return reference
        .skills()
        .map(
            skills -> {
              Optional<ServiceDescription.Skill> found =
                  skills.stream().filter(skill -> skill.uri().equals(uri)).findFirst();
              return new JsonObject()
                  .put(
                      "skill",
                      entry(
                          found.orElseThrow(
                              () ->
                                  RpcException.invalidParams(
                                      "no skill '%s'; skills/list names those there are"
                                          .formatted(Text.shown(uri))))));
            });
  }

  /** A skill has one file, so its manifest has one entry. */
  private static JsonObject entry(ServiceDescription.Skill skill) {
    return new JsonObject()
        .put("uri", skill.uri())
        .put("frontmatter", skill.frontmatter().copy())
        .put(
            "resources",
            new JsonArray()
                .add(
                    new JsonObject()
                        .put("uri", skill.uri())
                        .put("digest", skill.digest())
                        .put("size", skill.size())));
  }
}
