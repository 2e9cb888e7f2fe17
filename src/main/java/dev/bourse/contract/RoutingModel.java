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

/**
 * What routing takes of a contract, as the library's model. Resolved here and handed over
 * ready-made, because the library's own loader first validates a contract against the OpenAPI
 * meta-schemas, which takes half a second of a cold start; a test does that once per build instead.
 *
 * <p>Answers are left out but for the media types of success: most of a contract describes them,
 * and nothing at run time asks.
 */
public final class RoutingModel {
  /** Of an operation: the media types of its success, an array. */
  static final String ANSWERS = "x-answers";

  /**
   * Of an operation: its security requirements. The library's own chain for alternatives refuses
   * everybody, even where security is not left to it.
   */
  static final String DEMANDS = "x-demands";

  /** Of an operation: its body is an HTML form, whose media type the library refuses to know. */
  public static final String FORM_BODY = "x-form-body";

  /**
   * Of an operation: media types that it answers besides, for clients of before there were exports
   * with paths of their own.
   */
  static final String ALSO_ANSWERS = "x-also-answers";

  static final List<String> SUCCESSES = List.of("200", "201");

  /** The library wants an operation to have one. */
  private static final JsonObject SOME_ANSWER =
      new JsonObject().put("default", new JsonObject().put("description", "See the contract."));

  private RoutingModel() {}

  static OpenAPIContract of(Map<String, Object> source) {
    return new OpenAPIContractImpl(
        document(source),
        OpenAPIVersion.V3_1,
        SchemaRepository.create(
            new JsonSchemaOptions()
                .setDraft(Draft.DRAFT202012)
                .setBaseUri("app://")
                .setOutputFormat(OutputFormat.Basic)));
  }

  /** The contract that is modelled; a valid one in its turn. */
  public static JsonObject document(Map<String, Object> source) {
    JsonObject paths = new JsonObject();
    References.object(source.getOrDefault("paths", Map.of()))
        .forEach((path, item) -> paths.put(path, pathItem(References.object(item), source)));
    return new JsonObject()
        .put("openapi", source.get("openapi"))
        .put("info", source.get("info"))
        .put("paths", paths);
  }

  private static JsonObject pathItem(Map<String, Object> item, Map<String, Object> source) {
    JsonObject slim = new JsonObject();
    item.forEach(
        (key, value) ->
            slim.put(
                key,
                value instanceof Map
                    ? operation(References.object(value), source)
                    : References.resolved(value, source)));
    return slim;
  }

  private static JsonObject operation(Map<String, Object> operation, Map<String, Object> source) {
    Map<String, Object> asked = new LinkedHashMap<>(operation);
    asked.remove("responses");
    asked.remove("security");
    JsonObject slim = new JsonObject(References.object(References.resolved(asked, source)));
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
    setFormAside(slim);
    return slim.put("responses", SOME_ANSWER.copy())
        .put(ANSWERS, answers)
        .put(DEMANDS, new JsonArray((List<?>) demands).copy());
  }

  private static void setFormAside(JsonObject operation) {
    JsonObject content =
        operation
            .getJsonObject("requestBody", new JsonObject())
            .getJsonObject("content", new JsonObject());
    if (content.fieldNames().equals(Set.of(Form.TYPE))) {
      content.put(OperationContract.JSON, content.remove(Form.TYPE));
      operation.put(FORM_BODY, true);
    }
  }
}
