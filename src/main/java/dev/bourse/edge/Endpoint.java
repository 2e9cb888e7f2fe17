package dev.bourse.edge;

import dev.bourse.access.Operator;
import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.json.JsonObject;
import io.vertx.openapi.contract.Location;
import io.vertx.openapi.contract.MediaType;
import io.vertx.openapi.contract.Parameter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One operation of a contract, made ready for one event loop: what it demands of the caller, how
 * its {@link Parameters} and its body are read, and what handles it.
 */
final class Endpoint {
  /** The media type of bodies, and of answers where nothing else is said. */
  static final String JSON = "application/json";

  /** How contracts say that a body is bytes, whatever type the client gives them. */
  private static final String BYTES = "application/octet-stream";

  /** The security schemes there are; each is a kind of caller. */
  private static final Set<String> SCHEMES =
      Set.of(Principal.SCHEME, Principal.MEMBER_SCHEME, Operator.SCHEME);

  /** The extension of an operation that leaves out what it does not know instead of refusing it. */
  private static final String TOLERANT = "x-tolerant";

  /** The extension of an operation that reads its body itself, though it is of a known type. */
  private static final String RAW_BODY = "x-raw-body";

  private final String id;
  private final Operation operation;
  private final Consumer<Call> gate;
  private final Set<String> schemes;
  private final Map<String, Scope> scopes = new HashMap<>();
  private final List<String> mediaTypes;
  private final Parameters parameters;
  private final boolean takesBytes;
  private final boolean takesForm;
  private final boolean isTolerant;
  private final Refusals refusals;
  private final Set<String> fields;
  private final @Nullable Shape body;
  private final EdgeMetrics.Series series;

  Endpoint(io.vertx.openapi.contract.Operation model, Operations operations, EdgeMetrics metrics) {
    this.id = model.getOperationId();
    Operation bound = operations.byId().get(id);
    if (bound == null) {
      throw new IllegalStateException("operation " + id + " has no handler");
    }
    this.operation = bound;
    this.gate = operations.gate(id);
    this.series = metrics.series(id);
    List<Demand> demands = demands(model);
    Set<String> accepted = new LinkedHashSet<>();
    demands.forEach(demand -> accepted.add(demand.scheme()));
    this.schemes = accepted;
    demands.forEach(
        demand ->
            demand.scopes().stream()
                .findFirst()
                .flatMap(Scope::find)
                .ifPresent(scope -> scopes.put(demand.scheme(), scope)));
    JsonObject source = model.getOpenAPIModel();
    this.refusals =
        Refusals.find(source.getString(Refusals.EXTENSION)).orElseThrow(IllegalStateException::new);
    this.isTolerant = source.getBoolean(TOLERANT, false);
    this.takesForm = source.getBoolean(RoutingModel.FORM_BODY, false);
    this.mediaTypes = mediaTypes(model);
    this.parameters = new Parameters(model, isTolerant);
    this.takesBytes = takesBytes(model);
    JsonObject schema = model.getRequestBody() == null || takesBytes ? null : bodySchema(model);
    this.body = schema == null ? null : new Shape(schema);
    this.fields =
        schema == null
            ? Set.of()
            : Set.copyOf(schema.getJsonObject("properties", new JsonObject()).fieldNames());
  }

  /**
   * One kind of caller that may call.
   *
   * @param scheme the security scheme; several names of one requirement, which nobody can satisfy
   *     at once, stand together as one that does not exist
   * @param scopes what the caller must be allowed to do
   */
  record Demand(String scheme, List<String> scopes) {}

  /** Who may call an operation; empty when anybody may. */
  static List<Demand> demands(io.vertx.openapi.contract.Operation model) {
    List<Demand> demands = new ArrayList<>();
    for (Object requirement : model.getOpenAPIModel().getJsonArray(RoutingModel.DEMANDS)) {
      JsonObject schemes = (JsonObject) requirement;
      List<String> scopes = new ArrayList<>();
      for (String scheme : schemes.fieldNames()) {
        schemes.getJsonArray(scheme).forEach(scope -> scopes.add(String.valueOf(scope)));
      }
      demands.add(new Demand(String.join("+", schemes.fieldNames()), scopes));
    }
    return demands;
  }

  private static List<String> mediaTypes(io.vertx.openapi.contract.Operation model) {
    Set<String> types = new LinkedHashSet<>();
    model
        .getOpenAPIModel()
        .getJsonArray(RoutingModel.ANSWERS)
        .forEach(type -> types.add(String.valueOf(type)));
    if (types.isEmpty()) {
      boolean isPage =
          Refusals.PAGE.equals(
              Refusals.find(model.getOpenAPIModel().getString(Refusals.EXTENSION)).orElse(null));
      // A browser's question what it may ask is answered without a body.
      boolean isPreflight = model.getHttpMethod().equals(HttpMethod.OPTIONS);
      return isPage || isPreflight ? List.of(Entrance.ANY_TYPE) : List.of(JSON);
    }
    return List.copyOf(types);
  }

  private static boolean takesBytes(io.vertx.openapi.contract.Operation model) {
    return model.getRequestBody() != null
        && (model.getOpenAPIModel().getBoolean(RAW_BODY, false)
            || model.getRequestBody().getContent().keySet().equals(Set.of(BYTES)));
  }

  /** Whether its success can be told in JSON. */
  static boolean answersJson(io.vertx.openapi.contract.Operation model) {
    return mediaTypes(model).contains(JSON);
  }

  private static JsonObject bodySchema(io.vertx.openapi.contract.Operation model) {
    MediaType json = model.getRequestBody().getContent().get(JSON);
    if (json == null) {
      throw new IllegalStateException(model.getOperationId() + " takes no " + JSON);
    }
    return json.getOpenAPIModel().getJsonObject("schema");
  }

  /** What this package cannot serve about an operation; empty when it can. */
  static List<String> faults(io.vertx.openapi.contract.Operation model) {
    List<String> faults = new ArrayList<>();
    String id = model.getOperationId();
    String errors = model.getOpenAPIModel().getString(Refusals.EXTENSION);
    if (Refusals.find(errors).isEmpty()) {
      faults.add("operation " + id + " has unknown " + Refusals.EXTENSION + " " + errors);
    }
    if (model.getOpenAPIModel().getBoolean(RoutingModel.FORM_BODY, false)) {
      JsonObject fields = bodySchema(model).getJsonObject("properties", new JsonObject());
      for (String field : fields.fieldNames()) {
        if (!"string".equals(fields.getJsonObject(field).getValue("type"))) {
          faults.add("operation " + id + " takes form field " + field + " that is no string");
        }
      }
    }
    for (Demand demand : demands(model)) {
      if (!SCHEMES.contains(demand.scheme())) {
        faults.add("operation " + id + " demands " + demand.scheme() + ", not one of " + SCHEMES);
        continue;
      }
      List<String> scopes = demand.scopes();
      if (scopes.isEmpty() && demand.scheme().equals(Principal.MEMBER_SCHEME)) {
        // Members choose at consent what a token may do; without a scope it would do everything.
        faults.add("operation " + id + " takes " + demand.scheme() + " and names no scope");
      }
      if (scopes.size() > 1) {
        faults.add("operation " + id + " demands more than one scope of " + demand.scheme());
      }
      for (String scope : scopes) {
        if (Scope.find(scope).isEmpty()) {
          faults.add("operation " + id + " demands unknown scope " + scope);
        }
      }
    }
    for (Parameter parameter : model.getParameters()) {
      if (parameter.getIn() != Location.PATH && parameter.getIn() != Location.QUERY) {
        faults.add("operation " + id + " takes " + parameter.getName() + " outside path and query");
      }
      switch (parameter.getSchemaType()) {
        case STRING, INTEGER, NUMBER -> {}
        case BOOLEAN, ARRAY, OBJECT ->
            faults.add("operation " + id + " takes " + parameter.getName() + " of another type");
      }
      faults.addAll(
          ShapeRules.faults(
              "parameter " + parameter.getName() + " of operation " + id,
              parameter.getOpenAPIModel().getJsonObject("schema")));
    }
    if (model.getRequestBody() != null
        && !takesBytes(model)
        && !model.getRequestBody().getContent().keySet().equals(Set.of(JSON))) {
      faults.add("operation " + id + " takes a body other than " + JSON + " or " + BYTES);
    } else if (model.getRequestBody() != null && !takesBytes(model)) {
      faults.addAll(ShapeRules.faults("the body of operation " + id, bodySchema(model)));
    }
    return faults;
  }

  String id() {
    return id;
  }

  Operation operation() {
    return operation;
  }

  /** What lets requests pass before their bodies are read. */
  Consumer<Call> gate() {
    return gate;
  }

  /** The kinds of caller it takes, by security scheme; empty when anybody may call. */
  Set<String> schemes() {
    return schemes;
  }

  /** The media types its success can be answered in; the first is the usual one. */
  List<String> mediaTypes() {
    return mediaTypes;
  }

  /** The scope a kind of caller needs; null for any caller of that kind. */
  @Nullable Scope scope(String scheme) {
    return scopes.get(scheme);
  }

  /** How it tells of refusals. */
  Refusals refusals() {
    return refusals;
  }

  /** Whether its body is an HTML form. */
  boolean takesForm() {
    return takesForm;
  }

  /** The fields of a form, read by what the contract knows of them. */
  JsonObject form(byte[] bytes) {
    return Form.parse(bytes, fields, isTolerant);
  }

  /** A body in JSON without the fields that are to be left out. */
  JsonObject known(JsonObject sent) {
    if (isTolerant) {
      sent.fieldNames().retainAll(fields);
    }
    return sent;
  }

  /** Whether its body is bytes of any type, which the operation reads itself. */
  boolean takesBytes() {
    return takesBytes;
  }

  /** The body's schema; null when the operation takes none. */
  @Nullable Shape body() {
    return body;
  }

  EdgeMetrics.Series series() {
    return series;
  }

  /** How a request's parameters are read. */
  Parameters parameters() {
    return parameters;
  }
}
