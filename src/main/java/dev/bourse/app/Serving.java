package dev.bourse.app;

import dev.bourse.access.Authenticator;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.edge.Contract;
import dev.bourse.edge.Edge;
import dev.bourse.edge.EdgeMetrics;
import dev.bourse.edge.ManagementVerticle;
import dev.bourse.edge.Operations;
import dev.bourse.edge.Readiness;
import dev.bourse.edge.SharedBudgets;
import dev.bourse.edge.Sources;
import dev.bourse.store.StoreUnavailable;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Requests over HTTP: the API on its port, health and metrics on theirs. */
final class Serving {
  /** How long a client had better wait when the store cannot serve. */
  private static final long RETRY_STORE_MILLIS = 1_000;

  /** Health and metrics have no authentication, so only this machine sees them. */
  private static final String LOOPBACK = "127.0.0.1";

  private final Ground ground;
  private final KeysFiles files;
  private final Readiness readiness = new Readiness();
  private final Future<List<Contract>> loading;
  private @Nullable Edge edge;

  /**
   * Begins to read the contracts: one after the other, so that the opening of the store, which all
   * else waits for, has a core of its own.
   */
  Serving(Ground ground, KeysFiles files) {
    this.ground = ground;
    this.files = files;
    this.loading =
        ground
            .vertx()
            .executeBlocking(() -> Contract.SERVED.stream().map(Contract::load).toList(), false);
  }

  /**
   * Takes requests. When this succeeds, they are answered, and {@code /readyz} says so.
   *
   * @param built told of the API before its first request
   * @param addressed done once it is known where the service is served, before it says it is ready
   */
  Future<Void> start(
      Operations operations,
      Authenticator authenticator,
      Consumer<Edge> built,
      Supplier<Future<Void>> addressed) {
    EdgeMetrics metrics = ground.metrics();
    ManagementVerticle management =
        new ManagementVerticle(LOOPBACK, ground.config().managementPort(), readiness, metrics);
    return Future.all(loading, openSharedBudgets(metrics))
        .compose(
            ready -> {
              List<Contract> contracts = ready.resultAt(0);
              Edge api =
                  new Edge(
                      ground.config().edge(),
                      contracts,
                      operations,
                      authenticator,
                      Serving::translate,
                      metrics,
                      new Sources(ground.clock(), System::nanoTime, ground.random()),
                      ready.resultAt(1));
              edge = api;
              built.accept(api);
              return ground
                  .vertx()
                  .deployVerticle(
                      api::verticle,
                      new DeploymentOptions().setInstances(ground.config().eventLoops()));
            })
        .compose(
            id -> {
              ground.stops().push(() -> ground.vertx().undeploy(id));
              return ground.vertx().deployVerticle(management);
            })
        .compose(
            id -> {
              ground.stops().push(this::notReady);
              return noteBaseUrl(baseUrl());
            })
        .compose(noted -> addressed.get())
        .onSuccess(noted -> readiness.set(true));
  }

  /** Null when each process counts for itself. */
  private Future<@Nullable SharedBudgets> openSharedBudgets(EdgeMetrics metrics) {
    int perMinute = ground.config().edge().requestsPerMinute();
    if (ground.config().sharedBudgets().isEmpty() || perMinute == 0) {
      return Future.succeededFuture();
    }
    return SharedBudgets.open(
            ground.vertx(),
            ground.config().sharedBudgets().get(),
            perMinute,
            ground.clock(),
            metrics)
        .map(
            opened -> {
              ground.stops().push(opened::close);
              return opened;
            });
  }

  private Future<Void> notReady() {
    readiness.set(false);
    return Future.succeededFuture();
  }

  private Future<Void> noteBaseUrl(String baseUrl) {
    return ground
        .vertx()
        .executeBlocking(
            () -> {
              files.noteBaseUrl(baseUrl);
              return null;
            });
  }

  /** What clients call the service; once started. */
  String baseUrl() {
    return Objects.requireNonNull(edge, "not started").baseUrl();
  }

  /** A fault of the store as clients are told of it. */
  static Optional<ApiError> translate(Throwable fault) {
    Optional<ApiError> ofBlobs = Checkpoints.translate(fault);
    return ofBlobs.isPresent() ? ofBlobs : translateStore(fault);
  }

  private static Optional<ApiError> translateStore(Throwable fault) {
    return fault instanceof StoreUnavailable unavailable
        ? Optional.of(
            ApiError.retryLater(
                ErrorCode.OVERLOADED,
                unavailable.mayBeStored()
                    ? "the store went away before it answered; read the state before you retry,"
                        + " for the write may be stored"
                    : "the store cannot serve now; nothing was written",
                RETRY_STORE_MILLIS))
        : Optional.empty();
  }
}
