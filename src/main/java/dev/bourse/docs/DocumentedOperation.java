package dev.bourse.docs;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;

/** An operation as its contract describes it. */
record DocumentedOperation(String method, String path, JsonObject pathItem, JsonObject source) {
  private static final List<String> METHODS = List.of("get", "put", "post", "patch", "delete");

  /** The operations of a contract, in its order; preflights are not listed. */
  static List<DocumentedOperation> of(JsonObject document) {
    List<DocumentedOperation> operations = new ArrayList<>();
    for (String path : document.getJsonObject("paths").fieldNames()) {
      JsonObject item = document.getJsonObject("paths").getJsonObject(path);
      for (String method : item.fieldNames()) {
        if (METHODS.contains(method)) {
          operations.add(new DocumentedOperation(method, path, item, item.getJsonObject(method)));
        }
      }
    }
    return operations;
  }

  String id() {
    return source.getString("operationId");
  }

  String summary() {
    return source.getString("summary", "");
  }

  String signature() {
    return method.toUpperCase(java.util.Locale.ROOT) + " " + path;
  }

  /** The credentials a caller needs: a scope, a kind of token, or nothing. */
  List<String> credentials(JsonObject document) {
    JsonArray security =
        source.getJsonArray("security", document.getJsonArray("security", new JsonArray()));
    List<String> credentials = new ArrayList<>();
    for (int i = 0; i < security.size(); i++) {
      JsonObject requirement = security.getJsonObject(i);
      for (String scheme : requirement.fieldNames()) {
        JsonArray scopes = requirement.getJsonArray(scheme);
        credentials.add(scopes.isEmpty() ? kind(scheme) : scopes.getString(0));
      }
    }
    return credentials.isEmpty() ? List.of("no token") : credentials.stream().distinct().toList();
  }

  private static String kind(String scheme) {
    return switch (scheme) {
      case "apiToken" -> "any API token";
      case "memberToken" -> "any member's token";
      case "memberSession" -> "a member signed in at the console";
      case "operatorSession" -> "an operator signed in at the console";
      case "mcpToken" -> "a member's token for this endpoint";
      case "publishingToken" -> "a publishing credential";
      case "operatorToken" -> "an operator's token";
      case "nodeToken" -> "a node's credential";
      default -> scheme;
    };
  }
}
