package dev.bourse.edge;

import dev.bourse.access.Caller;
import dev.bourse.access.Scope;
import dev.bourse.contract.ErrorFormat;
import dev.bourse.contract.Form;
import dev.bourse.contract.OperationContract;
import dev.bourse.contract.Parameters;
import dev.bourse.contract.RoutingModel;
import dev.bourse.contract.SchemaValidator;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
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
  private final String id;
  private final Operation operation;
  private final Consumer<Call> gate;
  private final List<String> schemes;
  private final Map<String, Scope> scopes = new HashMap<>();
  private final List<String> mediaTypes;
  private final Parameters parameters;
  private final boolean takesBytes;
  private final boolean takesForm;
  private final boolean isTolerant;
  private final boolean isForOwnPages;
  private final ErrorFormat refusals;
  private final Set<String> fields;
  private final @Nullable SchemaValidator body;
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
    List<OperationContract.Demand> demands = OperationContract.demands(model);
    this.schemes = demands.stream().map(OperationContract.Demand::scheme).distinct().toList();
    demands.forEach(
        demand ->
            demand.scopes().stream()
                .findFirst()
                .flatMap(Scope::find)
                .ifPresent(scope -> scopes.put(demand.scheme(), scope)));
    JsonObject source = model.getOpenAPIModel();
    this.refusals =
        ErrorFormat.find(source.getString(ErrorFormat.EXTENSION))
            .orElseThrow(IllegalStateException::new);
    this.isTolerant = source.getBoolean(OperationContract.TOLERANT, false);
    this.isForOwnPages = source.getBoolean(OperationContract.OWN_ORIGIN, false);
    this.takesForm = source.getBoolean(RoutingModel.FORM_BODY, false);
    this.mediaTypes = OperationContract.mediaTypes(model);
    this.parameters = new Parameters(model, isTolerant);
    this.takesBytes = OperationContract.takesBytes(model);
    JsonObject schema =
        model.getRequestBody() == null || takesBytes ? null : OperationContract.bodySchema(model);
    this.body = schema == null ? null : new SchemaValidator(schema);
    this.fields =
        schema == null
            ? Set.of()
            : Set.copyOf(schema.getJsonObject("properties", new JsonObject()).fieldNames());
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
  List<String> schemes() {
    return schemes;
  }

  /** The first scheme it takes that the caller satisfies; null when there is none. */
  @Nullable String schemeOf(Caller caller) {
    for (String scheme : schemes) {
      if (caller.satisfies(scheme)) {
        return scheme;
      }
    }
    return null;
  }

  /** Whether pages of other sites may not call it. */
  boolean isForOwnPages() {
    return isForOwnPages;
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
  ErrorFormat refusals() {
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
  @Nullable SchemaValidator body() {
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
