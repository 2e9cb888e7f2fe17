package dev.bourse.edge;

import dev.bourse.access.Authenticator;
import dev.bourse.access.NodeAgent;
import dev.bourse.access.Organization;
import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.contract.Contract;
import dev.bourse.contract.ContractFiles;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.edge.limits.DownloadPace;
import dev.bourse.edge.limits.EdgeLimits;
import dev.bourse.edge.limits.ProcessLimits;
import dev.bourse.edge.limits.SharedBudgetConfig;
import dev.bourse.edge.limits.SharedBudgets;
import dev.bourse.signals.Signals;
import dev.bourse.traces.Traces;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.StringReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A real server on a free port, serving the real contracts with operations made for the test. */
public final class EdgeFixture implements AutoCloseable {
  static final List<String> OPERATION_IDS =
      contracts().stream()
          .flatMap(contract -> contract.model().operations().stream())
          .map(io.vertx.openapi.contract.Operation::getOperationId)
          .toList();

  /** Bearer tokens of the fake authenticator, and their permissions. */
  private static final Map<String, Set<Scope>> TOKENS =
      Map.of(
          "all", EnumSet.allOf(Scope.class),
          "readonly", EnumSet.of(Scope.CAPACITY_READ),
          "member", EnumSet.of(Scope.CHECKPOINTS_READ, Scope.CHECKPOINTS_WRITE),
          "bare", EnumSet.noneOf(Scope.class));

  /** An exception of another package. */
  static final class StoreUnreachableException extends RuntimeException {}

  final Vertx vertx = Vertx.vertx();
  public final Edge edge;
  final Signals signals = new Signals();
  final Operations operations = new Operations();
  private final @Nullable SharedBudgets shared;
  final HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofMinutes(1))
          .build();

  /** The handler of the next operations; by default each echoes its input. */
  private volatile Operation behaviour = EdgeFixture::echo;

  EdgeFixture(EdgeConfig config) {
    this(config, Sources.system());
  }

  EdgeFixture(EdgeConfig config, Sources sources) {
    this(config, sources, null);
  }

  /** With budgets of tokens shared through a server. */
  EdgeFixture(EdgeConfig config, Sources sources, @Nullable SharedBudgetConfig sharing) {
    this(config, sources, sharing, List.of());
  }

  /** With contracts of the test's own beside the service's. */
  EdgeFixture(
      EdgeConfig config,
      Sources sources,
      @Nullable SharedBudgetConfig sharing,
      List<Contract> more) {
    List<Contract> all = new ArrayList<>(contracts());
    all.addAll(more);
    shared =
        sharing == null
            ? null
            : SharedBudgets.open(
                    vertx, sharing, config.requestsPerMinute(), sources.clock(), signals)
                .await();
    all.stream()
        .flatMap(contract -> contract.model().operations().stream())
        .forEach(model -> operations.bind(model.getOperationId(), call -> behaviour.handle(call)));
    edge =
        new Edge(
            config,
            all,
            operations,
            authenticator(),
            failure ->
                failure instanceof StoreUnreachableException
                    ? Optional.of(
                        ApiException.retryLater(ErrorCode.OVERLOADED, "the store is away", 1_000))
                    : Optional.empty(),
            signals,
            sources,
            shared,
            Traces.OFF);
    vertx.deployVerticle(edge::verticle, new DeploymentOptions().setInstances(2)).await();
  }

  public static List<Contract> contracts() {
    return Contract.SERVED.stream().map(Contract::load).toList();
  }

  /** Enough for a client in this process to read a refusal. */
  static final long LINGER_MILLIS = 500;

  /** The defaults on a free port of the loopback, without budgets. */
  static EdgeConfig unlimited() {
    EdgeLimits limits = EdgeLimits.standard().withLinger(LINGER_MILLIS);
    return new EdgeConfig("127.0.0.1", 0, "", 0, 0, 0, Set.of(), limits);
  }

  /** Without budgets too; clients that are slow are cut off within two seconds. */
  static EdgeConfig hasty() {
    return new EdgeConfig(
        "127.0.0.1",
        0,
        "",
        0,
        0,
        0,
        Set.of(),
        new EdgeLimits(
            ProcessLimits.ofProcess().withConnections(100, 100),
            800,
            1_600,
            800,
            512,
            65_536,
            LINGER_MILLIS,
            DownloadPace.standard()));
  }

  /** A contract that lists every error code, as all that are served must. */
  static Contract contract(String name, String yaml) {
    JsonObject document = new JsonObject(ContractFiles.json(new StringReader(yaml)));
    JsonArray codes = new JsonArray();
    for (ErrorCode code : ErrorCode.values()) {
      codes.add(code.code());
    }
    JsonObject listed = new JsonObject().put("enum", codes);
    document.put(
        "components", new JsonObject().put("schemas", new JsonObject().put("ErrorCode", listed)));
    return Contract.parse(name, document.encode());
  }

  static Authenticator authenticator() {
    return new Authenticator() {
      @Override
      public Principal authenticate(@Nullable String header) {
        return principal(header);
      }

      @Override
      public Future<Void> confirm(@Nullable String header, long sinceNanos) {
        return Future.succeededFuture();
      }

      @Override
      public Optional<NodeAgent> findNode(@Nullable String header) {
        return Optional.empty();
      }

      @Override
      public boolean isAgents(@Nullable String header) {
        return header != null && !header.equals("Bearer member");
      }
    };
  }

  private static Principal principal(@Nullable String header) {
    Set<Scope> scopes =
        header != null && header.startsWith("Bearer ") ? TOKENS.get(header.substring(7)) : null;
    if (header == null || scopes == null) {
      throw ApiException.of(
          ErrorCode.UNAUTHORIZED, "send Authorization as Bearer and an API token");
    }
    String token = header.substring(7);
    return new Principal(
        new Organization("org_1", "Acme", "standard"),
        "token:" + token,
        token,
        scopes,
        null,
        null,
        token.equals("member") ? "alice" : null,
        token.equals("member") ? "org_1/alice/1" : null,
        token.equals("member")
            ? Principal.CredentialKind.MEMBER_TOKEN
            : Principal.CredentialKind.API_TOKEN);
  }

  static Future<Answer> echo(Call call) {
    JsonObject seen = new JsonObject();
    for (String name : List.of("cluster", "who", "org", "key_id")) {
      call.findText(name).ifPresent(value -> seen.put(name, value));
    }
    call.findInteger("page").ifPresent(value -> seen.put("page", value));
    call.findNumber("hours").ifPresent(value -> seen.put("hours", value));
    return Future.succeededFuture(Answer.ok(seen.put("actor", call.principal().actor())));
  }

  /** An operation that answers the body it was given, as text. */
  static Future<Answer> echoBody(Call call) {
    return Future.succeededFuture(Answer.ok(new JsonObject().put("text", call.body().toString())));
  }

  void behave(Operation operation) {
    behaviour = operation;
  }

  public int port() {
    return edge.actualPort();
  }

  HttpResponse<String> send(
      String method, String target, @Nullable String body, String... headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + target))
            .timeout(Duration.ofMinutes(1))
            .method(
                method,
                body == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(body));
    for (int i = 0; i < headers.length; i += 2) {
      request.header(headers[i], headers[i + 1]);
    }
    try {
      return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  HttpResponse<String> get(String target) {
    return send("GET", target, null, "Authorization", "Bearer all");
  }

  HttpResponse<String> put(String body) {
    return send(
        "PUT",
        "/api/vm/capacity",
        body,
        "Authorization",
        "Bearer all",
        "Content-Type",
        "application/json");
  }

  static JsonObject json(HttpResponse<String> answer) {
    return new JsonObject(answer.body());
  }

  static String header(HttpResponse<?> answer, String name) {
    return answer.headers().firstValue(name).orElse("");
  }

  static Answer encoded(String json, String etag) {
    return Answer.encoded(Buffer.buffer(json), etag);
  }

  @Override
  public void close() {
    if (shared != null) {
      shared.close().await();
    }
    vertx.close().await();
  }
}
