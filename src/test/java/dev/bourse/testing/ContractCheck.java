package dev.bourse.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.bourse.access.Principal;
import dev.bourse.contract.Contract;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.json.schema.Draft;
import io.vertx.json.schema.JsonSchema;
import io.vertx.json.schema.JsonSchemaOptions;
import io.vertx.json.schema.OutputFormat;
import io.vertx.json.schema.OutputUnit;
import io.vertx.json.schema.Validator;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Holds every answer against the contract: a status it lists, a body of that status's schema, no
 * field it does not name.
 */
public final class ContractCheck {
  private static final Set<String> METHODS =
      Set.of("get", "put", "post", "delete", "patch", "options");

  /** Statuses that any request can be answered with, which contracts name in their Error schema. */
  private static final Set<Integer> OF_THE_WIRE = Set.of(400, 405, 408, 414, 431);

  private static final JsonSchemaOptions OPTIONS =
      new JsonSchemaOptions()
          .setDraft(Draft.DRAFT202012)
          .setBaseUri("app://test")
          .setOutputFormat(OutputFormat.Basic);

  private static final List<Described> OPERATIONS = load();
  private static final Validator ERROR =
      validator(
          document("vm")
              .getJsonObject("components")
              .getJsonObject("schemas")
              .getJsonObject("ApiError"));

  private static final Map<String, Validator> EVENTS = events();

  private ContractCheck() {}

  /**
   * An operation as its contract describes it.
   *
   * @param schemes the kinds of caller it takes; empty when anybody may call
   * @param scope the scope it demands of API tokens, empty for any live one
   * @param memberScope the scope it demands of members' tokens, empty when it takes none
   * @param pages statuses that may also be answered with a page
   * @param template what paths of requests to it match
   * @param bodies validators of its JSON bodies by status; null for a status without a body
   */
  public record Described(
      String operationId,
      String method,
      String path,
      Set<String> schemes,
      Optional<String> scope,
      Optional<String> memberScope,
      Pattern template,
      Map<Integer, @Nullable Validator> bodies,
      Set<Integer> pages) {

    private boolean matches(String sentMethod, String sentPath) {
      String method = sentMethod.equals("HEAD") ? "GET" : sentMethod;
      return this.method.equals(method) && template.matcher(sentPath).matches();
    }
  }

  /** Every operation of every contract. */
  public static List<Described> operations() {
    return OPERATIONS;
  }

  /** Fails unless the answer is one the contract allows. */
  public static void check(String method, String uri, int status, @Nullable JsonObject body) {
    int query = uri.indexOf('?');
    String path = query < 0 ? uri : uri.substring(0, query);
    Supplier<String> where = () -> method + " " + uri + " answered " + status + " " + body;
    Optional<Described> operation =
        OPERATIONS.stream()
            // A contract is no item of its own family, though it stands where one would.
            .filter(o -> !path.endsWith("/openapi.json"))
            .filter(o -> o.matches(method, path))
            .findFirst();
    Validator validator;
    if (operation.isEmpty()
        || (OF_THE_WIRE.contains(status) && !operation.get().bodies().containsKey(status))) {
      validator = status >= 400 ? ERROR : null;
    } else {
      assertTrue(
          operation.get().bodies().containsKey(status),
          () -> where.get() + ": not in the contract");
      validator = operation.get().bodies().get(status);
    }
    // Whoever looks for nothing at a browser gets a page, too.
    boolean isPage =
        body == null
            && (operation.isPresent() ? operation.get().pages().contains(status) : status == 404);
    if (validator == null || method.equals("HEAD") || isPage) {
      return;
    }
    assertNotNull(body, where);
    check(validator, body, where);
  }

  private static void check(Validator validator, JsonObject body, Supplier<String> where) {
    // The library rewrites a schema the first time it is used.
    synchronized (validator) {
      OutputUnit outcome = validator.validate(body);
      if (!Boolean.TRUE.equals(outcome.getValid())) {
        fail(where.get() + ": against the contract: " + outcome.toJson());
      }
    }
  }

  /** Fails unless the contract has an event of this name with such data in the stream. */
  static void checkEvent(String stream, String name, JsonObject data) {
    Validator validator = EVENTS.get(stream + " " + name);
    assertNotNull(validator, "event " + name + " is not in the contract");
    check(validator, data, () -> "event " + name + " " + data);
  }

  private static Map<String, Validator> events() {
    Map<String, Validator> events = new HashMap<>();
    for (String surface : List.of("vm", "k8s")) {
      String stream = "/api/" + surface + "/events";
      JsonObject schemas =
          document(surface)
              .getJsonObject("paths")
              .getJsonObject(stream)
              .getJsonObject("get")
              .getJsonObject("responses")
              .getJsonObject("200")
              .getJsonObject("content")
              .getJsonObject("text/event-stream")
              .getJsonObject("x-events");
      schemas
          .fieldNames()
          .forEach(n -> events.put(stream + " " + n, validator(schemas.getJsonObject(n))));
    }
    return events;
  }

  private static List<Described> load() {
    List<Described> all = new ArrayList<>();
    for (String name : Contract.SERVED) {
      JsonObject contract = document(name);
      JsonObject paths = contract.getJsonObject("paths");
      for (String path : paths.fieldNames()) {
        JsonObject item = paths.getJsonObject(path);
        for (String method : item.fieldNames()) {
          if (METHODS.contains(method)) {
            all.add(described(contract, method, path, item.getJsonObject(method)));
          }
        }
      }
    }
    return List.copyOf(all);
  }

  private static Described described(
      JsonObject contract, String method, String path, JsonObject operation) {
    JsonArray security = operation.getJsonArray("security", contract.getJsonArray("security"));
    Set<String> schemes = new LinkedHashSet<>();
    Map<String, String> scopes = new HashMap<>();
    for (int i = 0; i < security.size(); i++) {
      JsonObject requirement = security.getJsonObject(i);
      assertEquals(1, requirement.size(), path);
      schemes.addAll(requirement.fieldNames());
      requirement.forEach(
          scheme ->
              ((JsonArray) scheme.getValue())
                  .forEach(scope -> scopes.put(scheme.getKey(), String.valueOf(scope))));
    }
    Map<Integer, @Nullable Validator> bodies = new HashMap<>();
    Set<Integer> pages = new LinkedHashSet<>();
    JsonObject responses = operation.getJsonObject("responses");
    for (String status : responses.fieldNames()) {
      JsonObject content = responses.getJsonObject(status).getJsonObject("content");
      if (content != null && content.containsKey("text/html")) {
        pages.add(Integer.valueOf(status));
      }
      bodies.put(
          Integer.valueOf(status),
          content == null || !content.containsKey("application/json")
              ? null
              : validator(content.getJsonObject("application/json").getJsonObject("schema")));
    }
    return new Described(
        operation.getString("operationId"),
        method.toUpperCase(java.util.Locale.ROOT),
        path,
        schemes,
        Optional.ofNullable(scopes.get(Principal.SCHEME)),
        Optional.ofNullable(scopes.get(Principal.MEMBER_SCHEME)),
        Pattern.compile(path.replaceAll("\\{[^}]+}", "[^/]+")),
        bodies,
        pages);
  }

  private static JsonObject document(String name) {
    JsonObject document = Contract.load(name).document();
    return (JsonObject) Objects.requireNonNull(resolved(document, document));
  }

  /** Whether a value is of a schema without references, and has no field that it does not name. */
  public static boolean fits(JsonObject schema, @Nullable Object value) {
    return Boolean.TRUE.equals(validator(schema).validate(value).getValid());
  }

  private static Validator validator(JsonObject schema) {
    return Validator.create(JsonSchema.of(closed(schema)), OPTIONS);
  }

  /** With every {@code $ref} replaced by what it points to. */
  private static @Nullable Object resolved(@Nullable Object node, JsonObject root) {
    if (node instanceof JsonObject object) {
      if (object.getValue("$ref") instanceof String pointer) {
        Object at = root;
        for (String step : pointer.substring(2).split("/", -1)) {
          at = ((JsonObject) Objects.requireNonNull(at, pointer)).getValue(step);
        }
        return resolved(at, root);
      }
      JsonObject copy = new JsonObject();
      object.fieldNames().forEach(k -> copy.put(k, resolved(object.getValue(k), root)));
      return copy;
    }
    if (node instanceof JsonArray array) {
      JsonArray copy = new JsonArray();
      array.forEach(item -> copy.add(resolved(item, root)));
      return copy;
    }
    return node;
  }

  /** With every object schema that lists its fields refusing others. */
  private static JsonObject closed(JsonObject schema) {
    JsonObject copy = new JsonObject();
    for (String key : schema.fieldNames()) {
      Object value = schema.getValue(key);
      if (value instanceof JsonObject object) {
        copy.put(key, closed(object));
      } else if (value instanceof JsonArray array) {
        JsonArray items = new JsonArray();
        array.forEach(i -> items.add(i instanceof JsonObject object ? closed(object) : i));
        copy.put(key, items);
      } else {
        copy.put(key, value);
      }
    }
    if ("object".equals(copy.getValue("type"))
        && copy.containsKey("properties")
        && !copy.containsKey("additionalProperties")) {
      copy.put("additionalProperties", false);
    }
    return copy;
  }
}
