package dev.bourse.edge;

import dev.bourse.core.ErrorCode;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.json.schema.Draft;
import io.vertx.json.schema.JsonSchemaOptions;
import io.vertx.json.schema.OutputFormat;
import io.vertx.json.schema.SchemaRepository;
import io.vertx.openapi.contract.OpenAPIContract;
import io.vertx.openapi.contract.OpenAPIVersion;
import io.vertx.openapi.contract.impl.OpenAPIContractImpl;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/**
 * One OpenAPI 3.1 contract of the jar: {@code openapi/<name>.yaml}.
 *
 * <p>Contracts are self-contained: each {@code $ref} points into the same file. They are resolved
 * here and handed to the library ready-made, because its own loader first validates a contract
 * against the OpenAPI meta-schemas, which takes half a second of a cold start; a test does that
 * once per build instead.
 */
public final class Contract {
  /** Of a response: its media types that are no JSON, which the library refuses to know. */
  static final String OTHER_CONTENT = "x-other-content";

  /**
   * Of an operation: its security requirements. The library's own chain for alternatives refuses
   * everybody, even where security is not left to it.
   */
  static final String DEMANDS = "x-demands";

  /** Of an operation: its body is an HTML form, whose media type the library refuses to know. */
  static final String FORM_BODY = "x-form-body";

  private final String name;
  private final Map<String, Object> source;
  private final OpenAPIContract model;

  private Contract(String name, Map<String, Object> source) {
    this.name = name;
    this.source = source;
    this.model = model(new JsonObject(object(resolved(source, source, 0))));
  }

  private static OpenAPIContract model(JsonObject document) {
    return new OpenAPIContractImpl(
        prepared(document),
        OpenAPIVersion.V3_1,
        SchemaRepository.create(
            new JsonSchemaOptions()
                .setDraft(Draft.DRAFT202012)
                .setBaseUri("app://")
                .setOutputFormat(OutputFormat.Basic)));
  }

  /**
   * With what the library cannot deal with set aside: responses' content that is no JSON under
   * {@link #OTHER_CONTENT}, what operations demand of callers under {@link #DEMANDS}, forms as JSON
   * with {@link #FORM_BODY}.
   */
  static JsonObject prepared(JsonObject resolved) {
    JsonArray ofAll = resolved.getJsonArray("security", new JsonArray());
    resolved.remove("security");
    JsonObject shared =
        resolved
            .getJsonObject("components", new JsonObject())
            .getJsonObject("responses", new JsonObject());
    shared.fieldNames().forEach(name -> setOtherContentAside(shared.getJsonObject(name)));
    JsonObject paths = resolved.getJsonObject("paths", new JsonObject());
    for (String path : paths.fieldNames()) {
      JsonObject item = paths.getJsonObject(path);
      for (String method : item.fieldNames()) {
        if (item.getValue(method) instanceof JsonObject operation) {
          operation.put(DEMANDS, operation.getJsonArray("security", ofAll).copy());
          operation.remove("security");
          setFormAside(operation);
          JsonObject responses = operation.getJsonObject("responses", new JsonObject());
          responses
              .fieldNames()
              .forEach(status -> setOtherContentAside(responses.getJsonObject(status)));
        }
      }
    }
    return resolved;
  }

  private static void setFormAside(JsonObject operation) {
    JsonObject content =
        operation
            .getJsonObject("requestBody", new JsonObject())
            .getJsonObject("content", new JsonObject());
    if (content.fieldNames().equals(Set.of(Form.TYPE))) {
      content.put(Endpoint.JSON, content.remove(Form.TYPE));
      operation.put(FORM_BODY, true);
    }
  }

  private static void setOtherContentAside(JsonObject response) {
    JsonObject content = response.getJsonObject("content", new JsonObject());
    JsonObject other = new JsonObject();
    for (String type : List.copyOf(content.fieldNames())) {
      if (!type.equals(Endpoint.JSON)) {
        other.put(type, content.remove(type));
      }
    }
    if (!other.isEmpty()) {
      response.put(OTHER_CONTENT, other);
    }
  }

  /** Loads {@code openapi/<name>.yaml} from the class path. */
  public static Contract load(String name) {
    return parse(name, text(name));
  }

  private static String text(String name) {
    String resource = "openapi/" + name + ".yaml";
    try (InputStream in = Contract.class.getClassLoader().getResourceAsStream(resource)) {
      if (in == null) {
        throw new IllegalStateException(resource + " is not on the class path");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException("reading " + resource + " failed", e);
    }
  }

  /** {@code openapi/<name>.yaml} of the class path, every {@code $ref} replaced by its target. */
  public static JsonObject resolvedDocument(String name) {
    Map<String, Object> source = source(text(name));
    return new JsonObject(object(resolved(source, source, 0)));
  }

  /** Reads a contract from YAML text. */
  static Contract parse(String name, String yaml) {
    return new Contract(name, source(yaml));
  }

  private static Map<String, Object> source(String yaml) {
    return object(new Yaml(new SafeConstructor(new LoaderOptions())).<Object>load(yaml));
  }

  /** The name in its file and its address. */
  public String name() {
    return name;
  }

  /** The document as written, {@code $ref}s and all. A copy. */
  public JsonObject document() {
    return new JsonObject(source).copy();
  }

  OpenAPIContract model() {
    return model;
  }

  String title() {
    return String.valueOf(object(source.get("info")).get("title"));
  }

  String summary() {
    return String.valueOf(object(source.get("info")).get("summary"));
  }

  /** The codes its Error schema lists; empty when it has none. */
  Set<String> errorCodes() {
    Set<String> codes = new LinkedHashSet<>();
    Object at = source;
    for (String step : List.of("components", "schemas", "Error", "properties", "error", "enum")) {
      at = at instanceof Map ? ((Map<?, ?>) at).get(step) : null;
    }
    if (at instanceof List) {
      ((List<?>) at).forEach(code -> codes.add(String.valueOf(code)));
    }
    return codes;
  }

  /** What is wrong between these contracts' error codes and {@link ErrorCode}. */
  static List<String> errorCodeFaults(List<Contract> contracts) {
    List<String> faults = new ArrayList<>();
    Set<String> known = new LinkedHashSet<>();
    for (ErrorCode code : ErrorCode.values()) {
      known.add(code.code());
    }
    Set<String> listed = new LinkedHashSet<>();
    for (Contract contract : contracts) {
      for (String code : contract.errorCodes()) {
        listed.add(code);
        if (!known.contains(code)) {
          faults.add("contract " + contract.name + " lists unknown error code " + code);
        }
      }
    }
    known.removeAll(listed);
    known.forEach(code -> faults.add("no contract lists error code " + code));
    return faults;
  }

  /** The node with every {@code $ref} replaced by what it points to, in fresh maps and lists. */
  private static @Nullable Object resolved(
      @Nullable Object node, Map<String, Object> root, int depth) {
    if (depth > 64) {
      throw new IllegalStateException("a contract's $refs form a circle");
    }
    if (node instanceof Map) {
      Map<String, Object> map = object(node);
      Object reference = map.get("$ref");
      if (reference instanceof String pointer) {
        return resolved(target(pointer, root), root, depth + 1);
      }
      Map<String, @Nullable Object> copy = new LinkedHashMap<>();
      map.forEach((key, value) -> copy.put(key, resolved(value, root, depth + 1)));
      return copy;
    }
    if (node instanceof List) {
      List<@Nullable Object> copy = new ArrayList<>();
      ((List<?>) node).forEach(value -> copy.add(resolved(value, root, depth + 1)));
      return copy;
    }
    return node;
  }

  private static Object target(String reference, Map<String, Object> root) {
    Object at = root;
    for (String step : reference.substring(2).split("/", -1)) {
      at = at instanceof Map ? ((Map<?, ?>) at).get(step) : null;
    }
    if (at == null || !reference.startsWith("#/")) {
      throw new IllegalStateException("a contract's $ref points nowhere: " + reference);
    }
    return at;
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> object(@Nullable Object node) {
    if (!(node instanceof Map)) {
      throw new IllegalStateException("a contract has " + node + " where an object belongs");
    }
    return (Map<String, Object>) node;
  }
}
