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
 * One operation of a contract, made ready for one event loop: what it demands of the caller, how
 * its parameters and its body are read, and what handles it.
 *
 * @param route its path, with names in place of values
 * @param gate lets requests pass before their bodies are read, or refuses them
 * @param schemes the kinds of caller it takes, by security scheme; empty when anybody may call
 * @param scopes what each kind of caller has to be allowed; none for any caller of that kind
 * @param mediaTypes in which its success can be answered; the first is the usual one
 * @param takesForm whether its body is an HTML form
 * @param isForOneSite whether an operator of one site may call it
 * @param isForOwnPages whether pages of other sites may not call it
 * @param bodyBytes how long its body may be beyond what all may; 0 for no longer
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

  /** The first scheme it takes that the caller satisfies; null when there is none. */
  @Nullable String schemeOf(Caller caller) {
    for (String scheme : schemes) {
      if (caller.satisfies(scheme)) {
        return scheme;
      }
    }
    return null;
  }

  /** The scope a kind of caller needs; null for any caller of that kind. */
  @Nullable Scope scope(String scheme) {
    return scopes.get(scheme);
  }

  /** The fields of a form, read by what the contract knows of them. */
  JsonObject form(byte[] bytes) {
    return Form.parse(bytes, inputs.fields(), inputs.isTolerant());
  }

  /** A body in JSON without the fields that are to be left out. */
  JsonObject known(JsonObject sent) {
    if (inputs.isTolerant()) {
      sent.fieldNames().retainAll(inputs.fields());
    }
    return sent;
  }
}
