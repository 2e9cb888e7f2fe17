package dev.bourse.app;

import dev.bourse.access.Authenticator;
import dev.bourse.contract.Contract;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.edge.Edge;
import dev.bourse.edge.ManagementVerticle;
import dev.bourse.edge.Operations;
import dev.bourse.edge.Readiness;
import dev.bourse.edge.Sources;
import dev.bourse.edge.limits.SharedBudgets;
import dev.bourse.store.StoreUnavailable;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Requests over HTTP: the API on its port, health and metrics on theirs. */
final class Serving {
  /** How long a client had better wait when the store cannot serve. */
  private static final long RETRY_STORE_MILLIS = 1_000;

  /** Somebody has to make room first; who asks again sooner only adds to the load. */
  /** A proxy with work asks on each connection it keeps within that; it stops using the rest. */
  private static final long LAST_ANSWERS_MILLIS = 1_000;

  private static final long RETRY_FULL_MILLIS = 60_000;

  private static final Logger LOG = LoggerFactory.getLogger(Serving.class);

  private final ServiceContext context;
  private final KeysFiles files;
  private final long certificateMillis;
  private final Readiness readiness = new Readiness();
  private final ManagementVerticle management;
  private final Future<Void> managing;
  private final Future<List<Contract>> loading;
  private @Nullable Edge edge;

  /**
   * @param certificateMillis how soon a renewed certificate is in use
   */
  Serving(ServiceContext context, KeysFiles files, long certificateMillis) {
    this.certificateMillis = certificateMillis;
    this.context = context;
    this.files = files;
    this.loading = context.vertx().executeBlocking(Contract::served, false);
    this.management =
        new ManagementVerticle(
            context.config().management(), readiness, context.signals(), context.clock());
    this.managing = manage();
  }

  /**
   * Says that the process lives, and is not ready, from now to the very end of its stop; on an
   * event loop of its own, so that it says so whatever becomes of the API's.
   */
  private Future<Void> manage() {
    Vertx own =
        Vertx.vertx(
            withoutTemporaryFiles(
                new VertxOptions()
                    .setEventLoopPoolSize(1)
                    .setWorkerPoolSize(1)
                    .setInternalBlockingPoolSize(1)));
    context.shutdown().push(own::close);
    return own.deployVerticle(management)
        .onSuccess(
            id ->
                LOG.info(
                    "health and metrics are on {}:{}",
                    context.config().management().host(),
                    management.actualPort()))
        .mapEmpty();
  }

  /** Nothing is served off the class path by name, so no copies of it are kept on the disk. */
  static VertxOptions withoutTemporaryFiles(VertxOptions options) {
    return options.setFileSystemOptions(
        new FileSystemOptions().setFileCachingEnabled(false).setClassPathResolvingEnabled(false));
  }

  /**
   * Fails at once when the port of health and metrics is another's, before anything else begins.
   */
  Future<Void> managed() {
    return managing;
  }

  /** Has {@code /readyz} tell what is served. */
  void describe(String description) {
    readiness.describe(description);
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
    return Future.all(loading, openSharedBudgets())
        .compose(
            ready -> {
              List<Contract> contracts = ready.resultAt(0);
              Edge api =
                  new Edge(
                      context.config().edge(),
                      contracts,
                      operations,
                      authenticator,
                      Serving::translate,
                      context.signals(),
                      new Sources(context.clock(), System::nanoTime, context.random()),
                      ready.resultAt(1),
                      context.traces());
              edge = api;
              built.accept(api);
              return context
                  .vertx()
                  .deployVerticle(
                      api::verticle,
                      new DeploymentOptions().setInstances(context.config().eventLoops()));
            })
        .compose(
            id -> {
              context.shutdown().push(() -> context.vertx().undeploy(id));
              context.shutdown().push(this::drain);
              return noteBaseUrl(baseUrl());
            })
        .compose(noted -> addressed.get())
        .onSuccess(
            noted -> {
              watchCertificate();
              readiness.set(true);
            });
  }

  private void watchCertificate() {
    Edge api = Objects.requireNonNull(edge, "not started");
    context.config().edge().tls().ifPresent(tls -> warnOfOthers(tls.key().path()));
    if (context.config().edge().tls().isPresent()) {
      context.keepUp(
          "taking a certificate that was renewed",
          certificateMillis,
          () ->
              Future.join(api.renewCertificate(context.vertx()), management.renewCertificate())
                  .map(false));
    }
  }

  /** Tells the log when others on the machine may read the certificate's key, and goes on. */
  private void warnOfOthers(Path key) {
    context
        .vertx()
        .executeBlocking(() -> DataFolder.wider(key.toRealPath()), false)
        .onSuccess(told -> told.forEach(LOG::warn));
  }

  /** Has readiness depend on something that comes and goes. */
  void dependOn(Supplier<Optional<String>> fault) {
    readiness.dependOn(fault);
  }

  /** Null when each process counts for itself. */
  private Future<@Nullable SharedBudgets> openSharedBudgets() {
    int perMinute = context.config().edge().requestsPerMinute();
    if (context.config().sharedBudgets().isEmpty() || perMinute == 0) {
      return Future.succeededFuture();
    }
    return SharedBudgets.open(
            context.vertx(),
            context.config().sharedBudgets().get(),
            perMinute,
            context.clock(),
            context.signals())
        .map(
            opened -> {
              context.shutdown().push(opened::close);
              return opened;
            });
  }

  /**
   * Tells load balancers to go elsewhere and goes on as before for as long as they may take to
   * notice; open connections stay, so that a proxy has little reason to open others. Then no more
   * are taken, and those that are open are each told with their next answer, for which they have a
   * moment: what a connection brings at the very time that it is closed would be lost.
   */
  private Future<Void> drain() {
    readiness.set(false);
    Edge api = Objects.requireNonNull(edge, "not started");
    long drainMillis = context.config().drainMillis();
    return drainMillis == 0
        ? api.drain()
        : after(drainMillis).compose(v -> api.drain()).compose(v -> after(LAST_ANSWERS_MILLIS));
  }

  private Future<Void> after(long millis) {
    return context.vertx().timer(millis, TimeUnit.MILLISECONDS).mapEmpty();
  }

  private Future<Void> noteBaseUrl(String baseUrl) {
    return context
        .vertx()
        .executeBlocking(
            () -> {
              files.noteBaseUrl(baseUrl);
              return null;
            });
  }

  /** Where health and metrics are served; once started. */
  int managementPort() {
    return management.actualPort();
  }

  /** What clients call the service; once started. */
  String baseUrl() {
    return Objects.requireNonNull(edge, "not started").baseUrl();
  }

  /** A fault of the store as clients are told of it. */
  static Optional<ApiError> translate(Throwable fault) {
    Optional<ApiError> ofBlobs = CheckpointServices.translate(fault);
    return ofBlobs.isPresent() ? ofBlobs : translateStore(fault);
  }

  private static Optional<ApiError> translateStore(Throwable fault) {
    if (!(fault instanceof StoreUnavailable unavailable)) {
      return Optional.empty();
    }
    if (unavailable.isFull()) {
      return Optional.of(
          ApiError.retryLater(
              ErrorCode.STORAGE_FULL,
              "the store has no room left; nothing was written, and reads go on",
              RETRY_FULL_MILLIS));
    }
    return Optional.of(
        ApiError.retryLater(
            ErrorCode.OVERLOADED,
            unavailable.mayBeStored()
                ? """
                the store went away before it answered; read the state before you retry, for \
                the write may be stored\
                """
                : "the store cannot serve now; nothing was written",
            RETRY_STORE_MILLIS));
  }
}
