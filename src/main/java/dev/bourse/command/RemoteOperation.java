package dev.bourse.command;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An operation of a contract as a command sees it.
 *
 * @param operationId its name in the contract
 * @param command the words that call it, from its {@code x-command}; by default its first tag and
 *     the first word of its operationId, in the command line's terms
 * @param method GET, POST …
 * @param path with its parameters in braces
 * @param losses the losses to confirm before a call; empty if the command does not ask
 * @param summary one line of help
 * @param description more help
 * @param arguments its path parameters, in the path's order
 * @param queries its query parameters
 * @param fields its body's fields
 * @param headings the columns of a table of its answer's items, by field, from {@code x-table};
 *     empty for all that fit
 * @param takesToken whether it requires a token
 * @param sendsBytes whether its body is bytes of any type
 * @param givesBytes whether it answers with bytes of any type
 */
public record RemoteOperation(
    String operationId,
    String command,
    String method,
    String path,
    Optional<LossText> losses,
    String summary,
    String description,
    List<Input> arguments,
    List<Input> queries,
    List<Input> fields,
    Map<String, String> headings,
    boolean takesToken,
    boolean sendsBytes,
    boolean givesBytes) {
  private static final String JSON = "application/json";

  /** The extension that names an operation's command. */
  private static final String COMMAND = "x-command";

  /** The extension with an operation's losses. */
  private static final String ASKS = "x-asks";

  /** The extension with the columns of a table and their headings. */
  private static final String TABLE = "x-table";

  private static final String BYTES = "application/octet-stream";

  /** An input of an operation. */
  public record Input(String name, String description, boolean required, JsonObject schema) {
    /**
     * The option's name: {@code max_gpus} is {@code --max-gpus}. {@code x-option} in a schema names
     * another one if every command has an option of that name.
     */
    public String option() {
      return "--" + schema.getString("x-option", name.replace('_', '-'));
    }

    /** The place-holder in the usage text. */
    String label() {
      return name.toUpperCase(Locale.ROOT);
    }

    /** The literal type of its values; if there are two, the first that is not null. */
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

  /** The first word of the command. */
  public String noun() {
    return words()[0];
  }

  /** The last word of the command. */
  public String verb() {
    return words()[words().length - 1];
  }

  private String[] words() {
    return command.split(" ", 2);
  }

  /**
   * The operations of a contract that accept one of these security schemes, in its order.
   *
   * @param contract its references resolved
   * @param schemes those that a command has a token for
   */
  public static List<RemoteOperation> listOf(JsonObject contract, Set<String> schemes) {
    return listOf(contract, operation -> demands(contract, operation).anyMatch(schemes::contains));
  }

  /** The operations of a contract with an explicit command, in its order. */
  public static List<RemoteOperation> listOfCommands(JsonObject contract) {
    return listOf(contract, operation -> operation.containsKey(COMMAND));
  }

  private static List<RemoteOperation> listOf(JsonObject contract, Predicate<JsonObject> isMeant) {
    List<RemoteOperation> all = new ArrayList<>();
    JsonObject paths = contract.getJsonObject("paths");
    for (String path : paths.fieldNames()) {
      JsonObject item = paths.getJsonObject(path);
      for (String method : List.of("get", "post", "put", "patch", "delete")) {
        if (item.containsKey(method) && isMeant.test(item.getJsonObject(method))) {
          JsonObject operation = item.getJsonObject(method);
          boolean takesToken = demands(contract, operation).findAny().isPresent();
          all.add(of(path, method, item, operation, takesToken));
        }
      }
    }
    return all;
  }

  /** The accepted security schemes; empty if everybody may call. */
  private static Stream<String> demands(JsonObject contract, JsonObject operation) {
    return operation.getJsonArray("security", contract.getJsonArray("security")).stream()
        .flatMap(demand -> ((JsonObject) demand).fieldNames().stream());
  }

  private static RemoteOperation of(
      String path, String method, JsonObject item, JsonObject operation, boolean takesToken) {
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
      switch (parameter.getString("in")) {
        case "path" -> arguments.add(input);
        case "query" -> queries.add(input);
        default -> {
          // The caller sets headers itself.
        }
      }
    }
    arguments.sort(
        (one, other) ->
            Integer.compare(
                path.indexOf('{' + one.name() + '}'), path.indexOf('{' + other.name() + '}')));
    return new RemoteOperation(
        operation.getString("operationId"),
        operation.getString(
            COMMAND,
            operation.getJsonArray("tags").getString(0)
                + ' '
                + verb(operation.getString("operationId"))),
        method.toUpperCase(Locale.ROOT),
        path,
        LossText.of(operation.getJsonObject(ASKS)),
        operation.getString("summary"),
        operation.getString("description", ""),
        arguments,
        queries,
        fields(operation),
        headings(operation.getJsonObject(TABLE, new JsonObject())),
        takesToken,
        content(operation.getJsonObject("requestBody")).containsKey(BYTES),
        givesBytes(operation.getJsonObject("responses").getJsonObject("200")));
  }

  private static Map<String, String> headings(JsonObject table) {
    Map<String, String> headings = new LinkedHashMap<>();
    table.forEach(column -> headings.put(column.getKey(), (String) column.getValue()));
    return headings;
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
   * {@code readOrg} is {@code show}, {@code writeSwitches} is {@code set}, exports include their
   * format; other verbs are unchanged.
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
