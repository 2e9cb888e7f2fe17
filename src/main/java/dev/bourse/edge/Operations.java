package dev.bourse.edge;

import dev.bourse.access.Principal;
import dev.bourse.access.SessionAuthenticator;
import dev.bourse.core.ApiException;
import dev.bourse.json.JsonRecord;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The handlers of the service's operations, by operationId. */
public final class Operations {
  /** Renders errors as pages. Called on event loops, so it must not block. */
  @FunctionalInterface
  public interface ErrorPages {
    /** Returns the page of an error, with its status and its {@code Retry-After}, if any. */
    Answer.RenderedPage render(ApiException refusal);
  }

  private final Map<String, Operation> byId = new LinkedHashMap<>();
  private final Map<String, Consumer<Call>> gates = new HashMap<>();
  private final List<SessionAuthenticator> sessions = new ArrayList<>();
  private @Nullable ErrorPages errorPages;
  private Function<String, Future<Void>> meeting = cluster -> Future.succeededFuture();
  private BiFunction<Principal, String, Future<Void>> authority =
      (caller, operationId) -> Future.succeededFuture();

  /** Binds a handler; each operationId once. */
  public Operations bind(String operationId, Operation operation) {
    if (byId.putIfAbsent(operationId, operation) != null) {
      throw new IllegalStateException("operation " + operationId + " is bound twice");
    }
    return this;
  }

  /** Binds a handler whose result is sent with 200. */
  public Operations ok(String operationId, Function<Call, Future<? extends JsonRecord>> work) {
    return bind(operationId, call -> work.apply(call).map(Answer::ok));
  }

  /** Binds a handler whose result is sent with 201. */
  public Operations created(String operationId, Function<Call, Future<? extends JsonRecord>> work) {
    return bind(operationId, call -> work.apply(call).map(Answer::created));
  }

  /** Binds a handler whose result is sent as JSON with 200. */
  public <T> Operations ok(
      String operationId, Function<Call, Future<T>> work, Function<? super T, JsonObject> json) {
    return bind(operationId, call -> work.apply(call).map(done -> Answer.ok(json.apply(done))));
  }

  /** Binds a handler whose result is sent as JSON with 201. */
  public <T> Operations created(
      String operationId, Function<Call, Future<T>> work, Function<? super T, JsonObject> json) {
    return bind(
        operationId, call -> work.apply(call).map(done -> Answer.created(json.apply(done))));
  }

  /**
   * Sets a gate that may reject requests by throwing, before their body is read, so that a rejected
   * request costs no parsing.
   */
  public Operations guard(String operationId, Consumer<Call> gate) {
    gates.put(operationId, gate);
    return this;
  }

  Consumer<Call> gate(String operationId) {
    return gates.getOrDefault(operationId, open -> {});
  }

  /**
   * Restricts every operation with a scope that creates authority.
   *
   * @param rule fails with the error, given the caller and the operation
   */
  public Operations holdAuthority(BiFunction<Principal, String, Future<Void>> rule) {
    authority = rule;
    return this;
  }

  /**
   * Prepares requests that name a cluster, in the path, the query, the body or by the caller's
   * binding. The operation runs after that has completed, on the request's context.
   *
   * @param rule receives the cluster's name
   */
  public Operations meetClusters(Function<String, Future<Void>> rule) {
    meeting = rule;
    return this;
  }

  /** Completes when the operation can start. */
  Future<Void> prepare(ReceivedRequest call) {
    Future<Void> ready = Future.succeededFuture();
    for (String cluster : call.clusters()) {
      Future<Void> met = meeting.apply(cluster);
      ready = ready.succeeded() ? met : ready.compose(done -> met);
    }
    return ready;
  }

  /** Returns the operation, restricted to callers that may create authority. */
  Operation withAuthority(String operationId, Operation operation) {
    return call ->
        authority.apply(call.principal(), operationId).compose(passed -> operation.handle(call));
  }

  /** Accepts the cookies of these sessions where a contract names their scheme. */
  public Operations admit(SessionAuthenticator authenticator) {
    sessions.add(authenticator);
    return this;
  }

  List<SessionAuthenticator> sessions() {
    return List.copyOf(sessions);
  }

  /** Renders errors of operations marked {@code x-errors: page}; without it they are JSON. */
  public Operations showErrors(ErrorPages renderer) {
    errorPages = renderer;
    return this;
  }

  @Nullable ErrorPages errorPages() {
    return errorPages;
  }

  Map<String, Operation> byId() {
    return byId;
  }
}
