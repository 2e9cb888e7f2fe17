package dev.bourse.admin;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * An operation of a contract as a command sees it.
 *
 * @param noun its first tag
 * @param verb the first word of its operationId, in a command line's terms
 * @param method GET, POST …
 * @param path with its parameters in braces
 * @param summary one line of help
 * @param description more help
 * @param arguments its path parameters, in the path's order
 * @param queries its query parameters
 * @param fields its body's fields
 * @param sendsBytes whether its body is bytes of any type
 * @param givesBytes whether it answers with bytes of any type
 */
record RemoteOperation(
    String noun,
    String verb,
    String method,
    String path,
    String summary,
    String description,
    List<Input> arguments,
    List<Input> queries,
    List<Input> fields,
    boolean sendsBytes,
    boolean givesBytes) {
  private static final String JSON = "application/json";

  /** The security scheme of operators' tokens. */
  private static final String TOKEN = "operatorToken";

  private static final String BYTES = "application/octet-stream";

  /** Something an operation takes. */
  record Input(String name, String description, boolean required, JsonObject schema) {
    /** As an option: {@code max_gpus} is {@code --max-gpus}. */
    String option() {
      return "--" + name.replace('_', '-');
    }

    /** As a place-holder in the usage text. */
    String label() {
      return name.toUpperCase(Locale.ROOT);
    }

    /** The literal type of its values; the first that is not null where there are two. */
    String type() {
      if (schema.getValue("type") instanceof JsonArray types) {
        return types.stream()
            .map(String::valueOf)
            .filter(type -> !type.equals("null"))
            .findFirst()
            .orElse("string");
      }
      return schema.getString("type", "string");
    }

    boolean isNullable() {
      return schema.getValue("type") instanceof JsonArray types && types.contains("null");
    }

    /** The values it is limited to; empty when there is no such list. */
    List<String> choices() {
      if (type().equals("boolean")) {
        return List.of("true", "false");
      }
      JsonObject listing =
          type().equals("array") ? schema.getJsonObject("items", new JsonObject()) : schema;
      return listing.getJsonArray("enum", new JsonArray()).stream().map(String::valueOf).toList();
    }
  }

  /** Every operation of a contract, its references resolved, that takes a token; in its order. */
  static List<RemoteOperation> listOf(JsonObject contract) {
    List<RemoteOperation> all = new ArrayList<>();
    JsonObject paths = contract.getJsonObject("paths");
    for (String path : paths.fieldNames()) {
      JsonObject item = paths.getJsonObject(path);
      for (String method : List.of("get", "post", "put", "patch", "delete")) {
        if (item.containsKey(method) && takesToken(contract, item.getJsonObject(method))) {
          all.add(of(path, method, item, item.getJsonObject(method)));
        }
      }
    }
    return all;
  }

  private static boolean takesToken(JsonObject contract, JsonObject operation) {
    return operation.getJsonArray("security", contract.getJsonArray("security")).stream()
        .anyMatch(demand -> ((JsonObject) demand).containsKey(TOKEN));
  }

  private static RemoteOperation of(
      String path, String method, JsonObject item, JsonObject operation) {
    List<Input> arguments = new ArrayList<>();
    List<Input> queries = new ArrayList<>();
    List<JsonObject> parameters = new ArrayList<>();
    for (JsonObject holder : List.of(item, operation)) {
      holder
          .getJsonArray("parameters", new JsonArray())
          .forEach(parameter -> parameters.add((JsonObject) parameter));
    }
    for (JsonObject parameter : parameters) {
      Input input =
          new Input(
              parameter.getString("name"),
              parameter.getString("description", ""),
              parameter.getBoolean("required", false),
              parameter.getJsonObject("schema"));
      (parameter.getString("in").equals("path") ? arguments : queries).add(input);
    }
    arguments.sort(
        (one, other) ->
            Integer.compare(
                path.indexOf('{' + one.name() + '}'), path.indexOf('{' + other.name() + '}')));
    return new RemoteOperation(
        operation.getJsonArray("tags").getString(0),
        verb(operation.getString("operationId")),
        method.toUpperCase(Locale.ROOT),
        path,
        operation.getString("summary"),
        operation.getString("description", ""),
        arguments,
        queries,
        fields(operation),
        content(operation.getJsonObject("requestBody")).containsKey(BYTES),
        givesBytes(operation.getJsonObject("responses").getJsonObject("200")));
  }

  private static JsonObject content(@Nullable JsonObject described) {
    return described == null
        ? new JsonObject()
        : described.getJsonObject("content", new JsonObject());
  }

  private static boolean givesBytes(@Nullable JsonObject success) {
    JsonObject content = content(success);
    return !content.isEmpty() && !content.containsKey(JSON);
  }

  private static List<Input> fields(JsonObject operation) {
    JsonObject schema =
        content(operation.getJsonObject("requestBody"))
            .getJsonObject(JSON, new JsonObject())
            .getJsonObject("schema", new JsonObject());
    JsonObject properties = schema.getJsonObject("properties", new JsonObject());
    JsonArray required = schema.getJsonArray("required", new JsonArray());
    return properties.fieldNames().stream()
        .map(
            name ->
                new Input(
                    name,
                    properties.getJsonObject(name).getString("description", ""),
                    required.contains(name),
                    properties.getJsonObject(name)))
        .toList();
  }

  /**
   * {@code readOrg} is {@code show}, {@code writeSwitches} is {@code set}, an export says its form;
   * others stand as is.
   */
  private static String verb(String operationId) {
    int end = 0;
    while (end < operationId.length() && Character.isLowerCase(operationId.charAt(end))) {
      end++;
    }
    String first = operationId.substring(0, end);
    return switch (first) {
      case "read" -> "show";
      case "write" -> "set";
      case "export" -> operationId.endsWith("Csv") ? "export-csv" : "export-ndjson";
      default -> first;
    };
  }
}
