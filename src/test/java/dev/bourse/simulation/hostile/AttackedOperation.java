package dev.bourse.simulation.hostile;

import dev.bourse.contract.Contract;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * An operation of a contract, with every reference resolved.
 *
 * @param path with its parameters in braces
 * @param mediaType of its body; empty if it takes none
 * @param body the schema of its body; empty if it takes none, or bytes
 * @param answers the media types of each status it may answer with
 * @param siblings the methods of all operations of its path, including its own
 */
public record AttackedOperation(
    String contract,
    String id,
    String method,
    String path,
    List<Parameter> parameters,
    String mediaType,
    JsonObject body,
    Map<Integer, Set<String>> answers,
    Set<String> siblings) {

  private static final Set<String> METHODS =
      Set.of("get", "put", "post", "delete", "patch", "options");

  /** A parameter of a path or a query. */
  record Parameter(String name, boolean isInPath, boolean isRequired, JsonObject schema) {}

  /** Returns every operation of every served contract. */
  public static List<AttackedOperation> all() {
    List<AttackedOperation> all = new ArrayList<>();
    for (String name : Contract.SERVED) {
      JsonObject root = Contract.load(name).document();
      JsonObject paths = root.getJsonObject("paths");
      for (String path : paths.fieldNames()) {
        JsonObject item = paths.getJsonObject(path);
        for (String method : item.fieldNames()) {
          if (METHODS.contains(method)) {
            all.add(read(name, root, path, item, method));
          }
        }
      }
    }
    return List.copyOf(all);
  }

  /** Returns true if an accepted request may change state. */
  boolean isWrite() {
    return !method.equals("GET") && !method.equals("OPTIONS");
  }

  /** Returns the media types that an answer of a status may have. */
  Set<String> types(int status) {
    return answers.getOrDefault(status, Set.of());
  }

  boolean takesJson() {
    return mediaType.equals("application/json");
  }

  boolean takesForm() {
    return mediaType.equals("application/x-www-form-urlencoded");
  }

  private static AttackedOperation read(
      String contract, JsonObject root, String path, JsonObject item, String method) {
    JsonObject operation = (JsonObject) resolved(item.getJsonObject(method), root);
    JsonObject content =
        operation
            .getJsonObject("requestBody", new JsonObject())
            .getJsonObject("content", new JsonObject());
    String mediaType = content.isEmpty() ? "" : content.fieldNames().iterator().next();
    JsonObject body =
        content.isEmpty()
            ? new JsonObject()
            : content.getJsonObject(mediaType).getJsonObject("schema", new JsonObject());
    List<Parameter> parameters = new ArrayList<>();
    for (JsonArray some :
        List.of(
            (JsonArray) resolved(item.getJsonArray("parameters", new JsonArray()), root),
            operation.getJsonArray("parameters", new JsonArray()))) {
      for (int i = 0; i < some.size(); i++) {
        JsonObject one = some.getJsonObject(i);
        parameters.add(
            new Parameter(
                one.getString("name"),
                one.getString("in").equals("path"),
                one.getBoolean("required", false),
                one.getJsonObject("schema")));
      }
    }
    Map<Integer, Set<String>> answers = new LinkedHashMap<>();
    JsonObject responses = operation.getJsonObject("responses");
    for (String status : responses.fieldNames()) {
      answers.put(
          Integer.valueOf(status),
          responses.getJsonObject(status).getJsonObject("content", new JsonObject()).fieldNames());
    }
    return new AttackedOperation(
        contract,
        operation.getString("operationId"),
        method.toUpperCase(Locale.ROOT),
        path,
        List.copyOf(parameters),
        mediaType,
        body,
        answers,
        item.fieldNames().stream()
            .filter(METHODS::contains)
            .map(one -> one.toUpperCase(Locale.ROOT))
            .collect(Collectors.toUnmodifiableSet()));
  }

  private static Object resolved(Object node, JsonObject root) {
    if (node instanceof JsonObject object) {
      if (object.getValue("$ref") instanceof String pointer) {
        JsonObject at = root;
        for (String step : pointer.substring(2).split("/", -1)) {
          at = at.getJsonObject(step);
        }
        return resolved(at, root);
      }
      JsonObject copy = new JsonObject();
      for (String key : object.fieldNames()) {
        Object value = object.getValue(key);
        copy.put(key, value == null ? null : resolved(value, root));
      }
      return copy;
    }
    if (node instanceof JsonArray array) {
      JsonArray copy = new JsonArray();
      array.forEach(item -> copy.add(item == null ? null : resolved(item, root)));
      return copy;
    }
    return node;
  }
}
