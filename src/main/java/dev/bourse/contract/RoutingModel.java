package dev.bourse.contract;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.json.schema.Draft;
import io.vertx.json.schema.JsonSchemaOptions;
import io.vertx.json.schema.OutputFormat;
import io.vertx.json.schema.SchemaRepository;
import io.vertx.openapi.contract.OpenAPIContract;
import io.vertx.openapi.contract.OpenAPIVersion;
import io.vertx.openapi.contract.impl.OpenAPIContractImpl;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The part of a contract that routing needs, as the library's model. It is resolved here and handed
 * to the library ready-made, because the library's own loader first validates a contract against
 * the OpenAPI meta-schemas, which takes half a second of a cold start; a test does that once per
 * build instead.
 *
 * <p>The model leaves out descriptions, examples, and answers except for the media types of
 * success: they are most of a contract and routing does not use them. The build writes each
 * contract's model beside it ({@link ContractFiles}), a tenth of its length, to keep starts short.
 */
public final class RoutingModel {
  /** Of an operation: the media types of its success, an array. */
  static final String ANSWERS = "x-answers";

  /**
   * Of an operation: its security requirements. The library's own chain for alternatives refuses
   * all callers, even where security is not left to it.
   */
  static final String DEMANDS = "x-demands";

  /** Of an operation: its body is an HTML form, a media type that the library rejects. */
  public static final String FORM_BODY = "x-form-body";

  /**
   * Of an operation: further media types it answers, for clients older than the separate export
   * paths.
   */
  static final String ALSO_ANSWERS = "x-also-answers";

  /** Of a contract: its error codes, an array. */
  static final String ERROR_CODES = "x-error-codes";

  static final List<String> SUCCESSES = List.of("200", "201");

  /** A placeholder, because the library requires each operation to have an answer. */
  private static final JsonObject SOME_ANSWER =
      new JsonObject().put("default", new JsonObject().put("description", "See the contract."));

  private RoutingModel() {}

  /**
   * @param document the result of {@link #document}
   */
  static OpenAPIContract of(JsonObject document) {
    return new OpenAPIContractImpl(
        document,
        OpenAPIVersion.V3_1,
        SchemaRepository.create(
            new JsonSchemaOptions()
                .setDraft(Draft.DRAFT202012)
                .setBaseUri("app://")
                .setOutputFormat(OutputFormat.Basic)));
  }

  /** Returns the model of a contract, itself a valid contract. */
  public static JsonObject document(Map<String, Object> source) {
    JsonObject paths = new JsonObject();
    References.object(source.getOrDefault("paths", Map.of()))
        .forEach((path, item) -> paths.put(path, pathItem(References.object(item), source)));
    return new JsonObject()
        .put("openapi", source.get("openapi"))
        .put("info", withoutWords(source.get("info")))
        .put(ERROR_CODES, errorCodes(source))
        .put("paths", paths);
  }

  /** The error codes; empty if the contract has none. */
  private static JsonArray errorCodes(Map<String, Object> source) {
    Object at = source;
    for (String step : List.of("components", "schemas", "ErrorCode", "enum")) {
      at = at instanceof Map ? ((Map<?, ?>) at).get(step) : null;
    }
    return at instanceof List ? new JsonArray((List<?>) at) : new JsonArray();
  }

  /**
   * A copy without descriptive keywords. Fields with the same names hold objects and stay; the
   * keywords do not.
   */
  private static @Nullable Object withoutWords(@Nullable Object node) {
    if (node instanceof Map) {
      Map<String, @Nullable Object> slim = new LinkedHashMap<>();
      References.object(node)
          .forEach(
              (key, value) -> {
                boolean isWords =
                    (key.equals("description") && value instanceof String)
                        || (key.equals("examples") && value instanceof List);
                if (!isWords) {
                  slim.put(key, withoutWords(value));
                }
              });
      return slim;
    }
    return node instanceof List
        ? ((List<?>) node).stream().map(RoutingModel::withoutWords).collect(Collectors.toList())
        : node;
  }

  private static JsonObject pathItem(Map<String, Object> item, Map<String, Object> source) {
    JsonObject slim = new JsonObject();
    item.forEach(
        (key, value) ->
            slim.put(
                key,
                value instanceof Map
                    ? operation(References.object(value), source)
                    : withoutWords(References.resolved(value, source))));
    return slim;
  }

  private static JsonObject operation(Map<String, Object> operation, Map<String, Object> source) {
    Map<String, Object> asked = new LinkedHashMap<>(operation);
    asked.remove("responses");
    asked.remove("security");
    JsonObject slim =
        new JsonObject(References.object(withoutWords(References.resolved(asked, source))));
    JsonArray answers = new JsonArray();
    Map<String, Object> responses =
        References.object(operation.getOrDefault("responses", Map.of()));
    for (String status : SUCCESSES) {
      Map<String, Object> response =
          References.followed(responses.getOrDefault(status, Map.of()), source);
      References.object(response.getOrDefault("content", Map.of())).keySet().forEach(answers::add);
    }
    ((List<?>) operation.getOrDefault(ALSO_ANSWERS, List.of())).forEach(answers::add);
    Object demands = operation.getOrDefault("security", source.getOrDefault("security", List.of()));
    content(slim).forEach(type -> ((JsonObject) type.getValue()).remove("examples"));
    setFormAside(slim);
    return slim.put("responses", SOME_ANSWER.copy())
        .put(ANSWERS, answers)
        .put(DEMANDS, new JsonArray((List<?>) demands).copy());
  }

  /** The content of a request's body, by media type. */
  private static JsonObject content(JsonObject operation) {
    return operation
        .getJsonObject("requestBody", new JsonObject())
        .getJsonObject("content", new JsonObject());
  }

  private static void setFormAside(JsonObject operation) {
    JsonObject content = content(operation);
    if (content.fieldNames().equals(Set.of(Form.TYPE))) {
      content.put(OperationContract.JSON, content.remove(Form.TYPE));
      operation.put(FORM_BODY, true);
    }
  }
}
