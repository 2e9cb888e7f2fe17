package dev.bourse.docs;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The model of the page {@code reference.peb} for one contract: its operations and named schemas.
 */
final class Reference {
  private final JsonObject document;
  private final String baseUrl;
  private final Markdown markdown;
  private final SchemaText schemas;

  Reference(JsonObject document, String baseUrl, Markdown markdown) {
    this.document = document;
    this.baseUrl = baseUrl;
    this.markdown = markdown;
    this.schemas = new SchemaText(markdown, this::resolved);
  }

  /** The contract's description, as HTML. */
  String introduction() {
    return described(document.getJsonObject("info"));
  }

  List<Map<String, Object>> operations() {
    List<Map<String, Object>> shown = new ArrayList<>();
    for (DocumentedOperation operation : DocumentedOperation.of(document)) {
      JsonObject body = resolved(operation.source().getJsonObject("requestBody", new JsonObject()));
      shown.add(
          Map.of(
              "id", operation.id(),
              "method", operation.method(),
              "path", operation.path(),
              "summary", operation.summary(),
              "description", described(operation.source()),
              "credentials", operation.credentials(document),
              "parameters", parameters(operation),
              "body", body.isEmpty() ? List.of() : contents(body),
              "command", CurlCommand.of(operation, document, baseUrl, example(body)),
              "answers", answers(operation)));
    }
    return shown;
  }

  List<Map<String, Object>> namedSchemas() {
    JsonObject all =
        document
            .getJsonObject("components", new JsonObject())
            .getJsonObject("schemas", new JsonObject());
    return all.stream()
        .filter(entry -> entry.getValue() instanceof JsonObject)
        .map(
            entry -> {
              JsonObject schema = (JsonObject) entry.getValue();
              return Map.of(
                  "name", entry.getKey(),
                  "type", schemas.type(schema),
                  "description", described(schema),
                  "fields", schemas.fields(schema));
            })
        .toList();
  }

  private List<Map<String, Object>> parameters(DocumentedOperation operation) {
    List<Map<String, Object>> rows = new ArrayList<>();
    for (JsonObject holder : List.of(operation.pathItem(), operation.source())) {
      JsonArray parameters = holder.getJsonArray("parameters", new JsonArray());
      for (int i = 0; i < parameters.size(); i++) {
        JsonObject parameter = resolved(parameters.getJsonObject(i));
        JsonObject schema = parameter.getJsonObject("schema", new JsonObject());
        rows.add(
            schemas.field(
                parameter.getString("name") + " (" + parameter.getString("in") + ")",
                parameter.getBoolean("required", false),
                schema,
                parameter));
      }
    }
    return rows;
  }

  private List<Map<String, Object>> answers(DocumentedOperation operation) {
    JsonObject responses = operation.source().getJsonObject("responses");
    List<Map<String, Object>> rows = new ArrayList<>();
    for (String status : responses.fieldNames()) {
      JsonObject response = resolved(responses.getJsonObject(status));
      // All errors have the same shape, which each page shows among its schemas.
      boolean isError = status.startsWith("4") || status.startsWith("5");
      rows.add(
          Map.of(
              "status",
              status,
              "description",
              described(response),
              "contents",
              isError ? List.of() : contents(response),
              "example",
              isError ? "" : example(response)));
    }
    return rows;
  }

  /** The contents of a body, by media type. */
  private List<Map<String, Object>> contents(JsonObject holder) {
    JsonObject content = holder.getJsonObject("content", new JsonObject());
    List<Map<String, Object>> rows = new ArrayList<>();
    for (String type : content.fieldNames()) {
      JsonObject schema = content.getJsonObject(type).getJsonObject("schema", new JsonObject());
      rows.add(
          Map.of("media", type, "type", schemas.type(schema), "fields", schemas.fields(schema)));
    }
    return rows;
  }

  /** The first example of a body; empty when there is none. */
  private String example(JsonObject holder) {
    JsonObject contents = holder.getJsonObject("content", new JsonObject());
    for (String type : contents.fieldNames()) {
      JsonObject content = contents.getJsonObject(type);
      Object value = content.getValue("example");
      JsonObject examples = content.getJsonObject("examples", new JsonObject());
      for (String name : examples.fieldNames()) {
        value = value == null ? resolved(examples.getJsonObject(name)).getValue("value") : value;
      }
      if (value != null) {
        return value instanceof JsonObject json ? json.encodePrettily() : value.toString();
      }
    }
    return "";
  }

  private String described(JsonObject source) {
    return markdown.html(source.getString("description", ""));
  }

  /** The object, or the target in the same document if it is a reference. */
  private JsonObject resolved(JsonObject source) {
    String ref = source.getString("$ref");
    if (ref == null) {
      return source;
    }
    JsonObject at = document;
    for (String step : ref.substring(2).split("/", -1)) {
      at = at.getJsonObject(step.replace("~1", "/").replace("~0", "~"));
    }
    return resolved(at);
  }
}
