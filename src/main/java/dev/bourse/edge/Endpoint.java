package dev.bourse.edge;

import dev.bourse.access.Caller;
import dev.bourse.access.Scope;
import dev.bourse.contract.Contract;
import dev.bourse.contract.ErrorFormat;
import dev.bourse.contract.Form;
import dev.bourse.contract.Inputs;
import dev.bourse.contract.OperationContract;
import dev.bourse.contract.RoutingModel;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An operation of a contract, prepared for one event loop: its rules for callers, the parsing of
 * its parameters and body, and its handler.
 *
 * @param route its path, with names in place of values
 * @param gate admits or rejects requests before their bodies are read
 * @param schemes the accepted kinds of callers, by security scheme; empty if anybody may call
 * @param scopes the scope that each kind of caller needs; no entry if it needs none
 * @param mediaTypes the media types of its success response; the first is the default
 * @param takesForm whether its body is an HTML form
 * @param isForOneSite whether an operator of one site may call it
 * @param isForOwnPages whether pages of other sites are rejected
 * @param bodyBytes the length its body may have beyond the general limit; 0 for none
 */
record Endpoint(
    String id,
    String route,
    Operation operation,
    Consumer<Call> gate,
    List<String> schemes,
    Map<String, Scope> scopes,
    List<String> mediaTypes,
    Inputs inputs,
    boolean takesForm,
    boolean isForOneSite,
    boolean isForOwnPages,
    ErrorFormat refusals,
    int bodyBytes,
    EdgeMetrics.Series series) {

  static Endpoint of(
      Contract contract,
      io.vertx.openapi.contract.Operation model,
      Operations operations,
      EdgeMetrics metrics) {
    String id = model.getOperationId();
    Operation bound = operations.byId().get(id);
    if (bound == null) {
      throw new IllegalStateException("operation " + id + " has no handler");
    }
    List<OperationContract.Demand> demands = OperationContract.demands(model);
    Map<String, Scope> scopes = new HashMap<>();
    demands.forEach(
        demand ->
            demand.scopes().stream()
                .findFirst()
                .flatMap(Scope::find)
                .ifPresent(scope -> scopes.put(demand.scheme(), scope)));
    JsonObject source = model.getOpenAPIModel();
    return new Endpoint(
        id,
        model.getAbsoluteOpenAPIPath(),
        scopes.values().stream().anyMatch(Scope::createsAuthority)
            ? operations.withAuthority(id, bound)
            : bound,
        operations.gate(id),
        demands.stream().map(OperationContract.Demand::scheme).distinct().toList(),
        scopes,
        OperationContract.mediaTypes(model),
        contract.inputs(model),
        source.getBoolean(RoutingModel.FORM_BODY, false),
        OperationContract.isForOneSite(model),
        source.getBoolean(OperationContract.OWN_ORIGIN, false),
        ErrorFormat.find(source.getString(ErrorFormat.EXTENSION))
            .orElseThrow(IllegalStateException::new),
        source.getInteger(OperationContract.BODY_BYTES, 0),
        metrics.series(id));
  }

  /** Returns the first scheme of the operation that the caller satisfies; null if there is none. */
  @Nullable String schemeOf(Caller caller) {
    for (String scheme : schemes) {
      if (caller.satisfies(scheme)) {
        return scheme;
      }
    }
    return null;
  }

  /** Returns the scope a kind of caller needs; null if it needs none. */
  @Nullable Scope scope(String scheme) {
    return scopes.get(scheme);
  }

  /** Parses the fields of a form with the contract's schema. */
  JsonObject form(byte[] bytes) {
    return Form.parse(bytes, inputs.fields(), inputs.isTolerant());
  }

  /** Returns a JSON body without the fields that are to be ignored. */
  JsonObject known(JsonObject sent) {
    if (inputs.isTolerant()) {
      sent.fieldNames().retainAll(inputs.fields());
    }
    return sent;
  }
}
