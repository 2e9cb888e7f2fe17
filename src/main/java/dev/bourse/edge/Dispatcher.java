package dev.bourse.edge;

import dev.bourse.access.InsufficientScopeException;
import dev.bourse.access.Operator;
import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.blob.ByteSource;
import dev.bourse.contract.Contract;
import dev.bourse.contract.OperationContract;
import dev.bourse.contract.PercentEncoding;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Text;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Calls operations from within the service like a request: with the same parameters, validation,
 * scopes and errors. Only reads: operations that answer a GET of an organization's API token in
 * JSON, except those about the calling token itself ({@code x-of-token}).
 */
public final class Dispatcher {
  /** The extension of an operation about the calling token, which needs one. */
  private static final String OF_TOKEN = "x-of-token";

  /**
   * An operation that can be called.
   *
   * @param path the path, with parameters in braces
   * @param scope the scope that a member needs
   */
  public record ReadOperation(String operationId, String path, String summary, Scope scope) {}

  private record Route(ReadOperation reading, Pattern pattern, Endpoint endpoint) {}

  private final List<Route> entries;

  Dispatcher(List<Contract> contracts, Operations operations, EdgeMetrics metrics) {
    List<Route> found = new ArrayList<>();
    for (Contract contract : contracts) {
      for (io.vertx.openapi.contract.Operation model : contract.model().operations()) {
        if (isRead(model)) {
          found.add(entry(contract, model, operations, metrics));
        }
      }
    }
    found.sort(Comparator.comparing(entry -> entry.reading().path()));
    entries = List.copyOf(found);
  }

  private static boolean isRead(io.vertx.openapi.contract.Operation model) {
    return model.getHttpMethod().name().equals("GET")
        && !model.getOpenAPIModel().getBoolean(OF_TOKEN, false)
        && demands(model, Principal.SCHEME)
        && demands(model, Principal.MEMBER_SCHEME)
        && OperationContract.answersJson(model);
  }

  private static boolean demands(io.vertx.openapi.contract.Operation model, String scheme) {
    return OperationContract.demands(model).stream()
        .anyMatch(demand -> demand.scheme().equals(scheme));
  }

  private static Route entry(
      Contract contract,
      io.vertx.openapi.contract.Operation model,
      Operations operations,
      EdgeMetrics metrics) {
    String id = model.getOperationId();
    Endpoint endpoint = Endpoint.of(contract, model, operations, metrics);
    String path = model.getAbsoluteOpenAPIPath();
    return new Route(
        new ReadOperation(
            id,
            path,
            model.getOpenAPIModel().getString("summary"),
            // As over HTTP, members need this scope even if API tokens may read without one.
            Objects.requireNonNull(endpoint.scope(Principal.MEMBER_SCHEME), id)),
        Pattern.compile(path.replaceAll("\\{[^/}]+}", "[^/]+")),
        endpoint);
  }

  /** Returns the callable operations, ordered by path. */
  public List<ReadOperation> list() {
    return entries.stream().map(Route::reading).toList();
  }

  /** Returns the operation of a path and query; empty if it is not callable. */
  public Optional<ReadOperation> find(String target) {
    return route(target).map(Route::reading);
  }

  private Optional<Route> route(String target) {
    int question = target.indexOf('?');
    String path = question < 0 ? target : target.substring(0, question);
    return entries.stream()
        .filter(entry -> PercentEncoding.isNormal(path) && entry.pattern().matcher(path).matches())
        .findFirst();
  }

  /**
   * Returns the operation's encoded response to a caller.
   *
   * <p>Fails or throws the operation's errors; {@code forbidden} for a caller without the scope;
   * {@code not-found} for an unknown path.
   */
  public Future<Buffer> call(Principal caller, String target) {
    Route entry =
        route(target)
            .orElseThrow(
                () -> ApiException.of(ErrorCode.NOT_FOUND, "no route " + Text.shown(target)));
    Scope scope = entry.reading().scope();
    InsufficientScopeException.require(caller, scope);
    int question = target.indexOf('?');
    Map<String, Object> parameters =
        question < 0
            ? entry.endpoint().inputs().parameters().read(target, null)
            : entry
                .endpoint()
                .inputs()
                .parameters()
                .read(target.substring(0, question), target.substring(question + 1));
    return entry
        .endpoint()
        .operation()
        .handle(new Inner(caller, parameters))
        .map(answer -> json(entry, answer));
  }

  private static Buffer json(Route entry, Answer answer) {
    if (answer instanceof Answer.Whole whole) {
      return whole.body();
    }
    throw new IllegalStateException(
        "operation " + entry.reading().operationId() + " did not answer in JSON");
  }

  /** A call without an HTTP request. */
  private record Inner(Principal principal, Map<String, Object> parameters) implements Call {
    @Override
    public Operator operator() {
      throw new IllegalStateException("internal calls have no operator");
    }

    @Override
    public ByteSource bytes() {
      throw new IllegalStateException("a read has no body");
    }

    @Override
    public Future<byte[]> readJson(int maxBytes) {
      throw new IllegalStateException("a read has no body");
    }

    @Override
    public Optional<String> header(String name) {
      return Optional.empty();
    }

    @Override
    public Optional<String> cookie(String name) {
      return Optional.empty();
    }

    @Override
    public String target() {
      return "";
    }

    @Override
    public String clientKey() {
      return "";
    }

    @Override
    public String mediaType() {
      return OperationContract.JSON;
    }

    @Override
    public Optional<String> findText(String parameter) {
      return Optional.ofNullable((String) value(parameter));
    }

    @Override
    public Optional<Long> findInteger(String parameter) {
      return Optional.ofNullable((Long) value(parameter));
    }

    @Override
    public Optional<Double> findNumber(String parameter) {
      return Optional.ofNullable((Double) value(parameter));
    }

    private @Nullable Object value(String parameter) {
      return parameters.get(parameter);
    }

    @Override
    public JsonObject body() {
      throw new IllegalStateException("a read has no body");
    }
  }
}
