package dev.bourse.pages;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The table of the contracts' operations for the console's client. */
final class OperationTable {
  /** Contracts for other pages: they sign people in, or serve language models. */
  private static final Set<String> LEFT_OUT = Set.of("oauth.json", "mcp.json");

  private static final List<String> METHODS = List.of("get", "put", "post", "patch", "delete");

  private OperationTable() {}

  /**
   * The table's text: method, path, names in the query, kind of body, and the noun of {@code bourse
   * admin}, which is empty for operations of members and null for those that take no credential.
   * Each operation has a line of its own, for readable diffs.
   */
  static String script(Path contracts) throws IOException {
    Map<String, JsonArray> rows = new TreeMap<>();
    try (DirectoryStream<Path> found = Files.newDirectoryStream(contracts, "*.json")) {
      for (Path contract : found) {
        if (!LEFT_OUT.contains(String.valueOf(contract.getFileName()))) {
          add(new JsonObject(Files.readString(contract)), rows);
        }
      }
    }
    StringBuilder script = new StringBuilder("const operations = {\n");
    rows.forEach((id, row) -> script.append(id).append(':').append(row.encode()).append(",\n"));
    return script.append("};\n").toString();
  }

  private static void add(JsonObject contract, Map<String, JsonArray> rows) {
    JsonObject paths = contract.getJsonObject("paths");
    for (String path : paths.fieldNames()) {
      if (!path.startsWith("/api/")) {
        continue;
      }
      JsonObject item = paths.getJsonObject(path);
      for (String method : METHODS) {
        JsonObject operation = item.getJsonObject(method);
        if (operation != null) {
          JsonArray query = new JsonArray();
          queryNames(contract, item, query);
          queryNames(contract, operation, query);
          JsonArray security =
              operation.getJsonArray("security", contract.getJsonArray("security"));
          rows.put(
              operation.getString("operationId"),
              new JsonArray()
                  .add(method.toUpperCase(Locale.ROOT))
                  .add(path)
                  .add(query)
                  .add(body(operation))
                  .add(noun(operation, schemes(security))));
        }
      }
    }
  }

  private static void queryNames(JsonObject contract, JsonObject holder, JsonArray names) {
    for (Object parameter : holder.getJsonArray("parameters", new JsonArray())) {
      JsonObject facts = resolved(contract, (JsonObject) parameter);
      if ("query".equals(facts.getString("in"))) {
        names.add(facts.getString("name"));
      }
    }
  }

  private static JsonObject resolved(JsonObject contract, JsonObject parameter) {
    String reference = parameter.getString("$ref");
    if (reference == null) {
      return parameter;
    }
    JsonObject at = contract;
    for (String step : reference.substring("#/".length()).split("/", -1)) {
      at = at.getJsonObject(step);
    }
    return at;
  }

  private static String body(JsonObject operation) {
    JsonObject body = operation.getJsonObject("requestBody");
    if (body == null) {
      return "";
    }
    return body.getJsonObject("content", new JsonObject()).containsKey("application/json")
        ? "json"
        : "bytes";
  }

  private static @Nullable String noun(JsonObject operation, Set<String> schemes) {
    if (schemes.isEmpty()) {
      return null;
    }
    return schemes.contains("operatorToken") ? operation.getJsonArray("tags").getString(0) : "";
  }

  private static Set<String> schemes(@Nullable JsonArray security) {
    Set<String> schemes = new TreeSet<>();
    for (Object requirement : security == null ? new JsonArray() : security) {
      schemes.addAll(((JsonObject) requirement).fieldNames());
    }
    return schemes;
  }
}
