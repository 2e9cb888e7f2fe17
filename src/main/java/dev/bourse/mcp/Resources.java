package dev.bourse.mcp;

import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The guide, the contracts and the skills as resources for a model. */
final class Resources {
  private final ServiceDescription reference;

  Resources(ServiceDescription reference) {
    this.reference = reference;
  }

  Future<JsonObject> list() {
    return reference
        .skills()
        .map(
            skills -> {
              JsonArray list = new JsonArray();
              documents(skills)
                  .forEach(
                      document ->
                          list.add(
                              new JsonObject()
                                  .put("uri", document.uri())
                                  .put("name", document.name())
                                  .put("title", document.title())
                                  .put("description", document.description())
                                  .put("mimeType", document.mimeType())));
              return new JsonObject().put("resources", list);
            });
  }

  private Stream<ServiceDescription.Document> documents(List<ServiceDescription.Skill> skills) {
    return Stream.concat(reference.documents().stream(), skills.stream().map(Resources::document));
  }

  private static ServiceDescription.Document document(ServiceDescription.Skill skill) {
    String name = skill.frontmatter().getString("name");
    return new ServiceDescription.Document(
        skill.uri(),
        name,
        "Skill " + name,
        skill.frontmatter().getString("description"),
        "text/markdown");
  }

  JsonObject listTemplates() {
    return new JsonObject().put("resourceTemplates", new JsonArray());
  }

  Future<JsonObject> read(ProtocolRevision revision, Message message) {
    String uri = message.text("uri");
    if (uri == null) {
      throw RpcException.invalidParams("params.uri is missing; expected a resource's address");
    }
    return reference
        .skills()
        .compose(
            skills ->
                documents(skills)
                    .filter(one -> one.uri().equals(uri))
                    .findFirst()
                    .map(document -> text(skills, uri).map(found -> contents(document, found)))
                    .orElseThrow(() -> RpcException.resourceNotFound(revision, uri)));
  }

  private Future<String> text(List<ServiceDescription.Skill> skills, String uri) {
    return skills.stream()
        .filter(skill -> skill.uri().equals(uri))
        .findFirst()
        .map(skill -> Future.succeededFuture(skill.text()))
        .orElseGet(() -> reference.findText(uri).map(Optional::orElseThrow));
  }

  private static JsonObject contents(ServiceDescription.Document document, String text) {
    return new JsonObject()
        .put(
            "contents",
            new JsonArray()
                .add(
                    new JsonObject()
                        .put("uri", document.uri())
                        .put("mimeType", document.mimeType())
                        .put("text", text)));
  }
}
