package dev.bourse.mcp;

import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;

/** The contracts and the guide as resources for a model. */
final class Resources {
  private final ServiceDescription reference;

  Resources(ServiceDescription reference) {
    this.reference = reference;
  }

  JsonObject list() {
    JsonArray list = new JsonArray();
    for (ServiceDescription.Document document : reference.documents()) {
      list.add(
          new JsonObject()
              .put("uri", document.uri())
              .put("name", document.name())
              .put("title", document.title())
              .put("description", document.description())
              .put("mimeType", document.mimeType()));
    }
    return new JsonObject().put("resources", list);
  }

  JsonObject listTemplates() {
    return new JsonObject().put("resourceTemplates", new JsonArray());
  }

  Future<JsonObject> read(ProtocolRevision revision, Message message) {
    String uri = message.text("uri");
    if (uri == null) {
      throw RpcException.invalidParams("params.uri is missing; expected a resource's address");
    }
    ServiceDescription.Document document =
        reference.documents().stream()
            .filter(one -> one.uri().equals(uri))
            .findFirst()
            .orElseThrow(() -> RpcException.resourceNotFound(revision, uri));
    return reference
        .findText(uri)
        .map(found -> found.orElseThrow(() -> RpcException.resourceNotFound(revision, uri)))
        .map(text -> contents(document, text));
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
