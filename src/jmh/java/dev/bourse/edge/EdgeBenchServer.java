package dev.bourse.edge;

import dev.bourse.access.Authenticator;
import dev.bourse.access.Caller;
import dev.bourse.access.NodeAgent;
import dev.bourse.access.Organization;
import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.contract.Contract;
import dev.bourse.edge.limits.EdgeLimits;
import dev.bourse.signals.Signals;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerOptions;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Two servers for {@code wrk -t1 -c64}, each on one event loop: a bare one, and the edge with a
 * token check, both budgets, validation and a 1.5 KB answer encoded before. The ratio of the two is
 * what the edge costs. Run with the arguments {@code bare} or {@code edge} and a port.
 */
public final class EdgeBenchServer {
  private static final Buffer ANSWER = Buffer.buffer("{\"padding\":\"" + "x".repeat(1_500) + "\"}");

  private EdgeBenchServer() {}

  public static void main(String[] arguments) {
    int port = Integer.parseInt(arguments[1]);
    Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
    if (arguments[0].equals("bare")) {
      vertx
          .createHttpServer(new HttpServerOptions().setHttp2ClearTextEnabled(false))
          .requestHandler(
              request ->
                  request.response().putHeader("content-type", "application/json").end(ANSWER))
          .listen(port, "127.0.0.1")
          .await();
    } else {
      vertx.deployVerticle(edge(port).verticle()).await();
    }
    System.out.println("ready");
  }

  private static Edge edge(int port) {
    Principal caller =
        new Principal(
            new Organization("org_1", "Acme", "standard"),
            "token:bench",
            "bench",
            EnumSet.allOf(Scope.class),
            null,
            null);
    Operations operations = new Operations();
    List<Contract> contracts = Contract.SERVED.stream().map(Contract::load).toList();
    contracts.stream()
        .flatMap(contract -> contract.model().operations().stream())
        .forEach(
            model ->
                operations.bind(
                    model.getOperationId(),
                    call -> Future.succeededFuture(Answer.encoded(ANSWER, "\"v1\""))));
    return new Edge(
        new EdgeConfig(
            "127.0.0.1",
            port,
            "",
            1_000_000_000,
            1_000_000_000,
            1_000_000_000,
            Set.of(),
            EdgeLimits.standard()),
        contracts,
        operations,
        authenticator(caller),
        failure -> Optional.empty(),
        new Signals(),
        Sources.system());
  }

  /** Whoever calls is this one. */
  private static Authenticator authenticator(Principal caller) {
    return new Authenticator() {
      @Override
      public Caller authenticate(@Nullable String header) {
        return caller;
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
        return true;
      }
    };
  }
}
