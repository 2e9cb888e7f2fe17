package dev.bourse.app;

import dev.bourse.access.Authenticator;
import dev.bourse.contract.Contract;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.edge.Edge;
import dev.bourse.edge.ManagementVerticle;
import dev.bourse.edge.Operations;
import dev.bourse.edge.Readiness;
import dev.bourse.edge.Sources;
import dev.bourse.edge.limits.SharedBudgets;
import dev.bourse.jobs.BackgroundJob;
import dev.bourse.store.StoreUnavailableException;
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

/** Serves HTTP: the API on its port, and health and metrics on another. */
final class HttpServers {
  /** The wait suggested to clients when the store cannot serve. */
  private static final long RETRY_STORE_MILLIS = 1_000;

  /**
   * How long open connections get a last answer that closes them. A busy proxy uses each of its
   * connections within this time.
   */
  private static final long LAST_ANSWERS_MILLIS = 1_000;

  /** An operator has to free space first; earlier retries would only add load. */
  private static final long RETRY_FULL_MILLIS = 60_000;

  private static final Logger LOG = LoggerFactory.getLogger(HttpServers.class);

  private final ServiceContext context;
  private final KeysFiles files;
  private final long certificateMillis;
  private final Readiness readiness = new Readiness();
  private final ManagementVerticle management;
  private final Future<Void> managing;
  private final Future<List<Contract>> loading;
  private @Nullable Edge edge;

  /**
   * @param certificateMillis the longest time until a renewed certificate is used
   */
  HttpServers(ServiceContext context, KeysFiles files, long certificateMillis) {
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
   * Serves liveness and readiness (not ready at first) until the end of the process's stop, on an
   * event loop of its own, which works even if the API's are stuck.
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

  /** Disables copies of class path files on disk, because none are served by name. */
  static VertxOptions withoutTemporaryFiles(VertxOptions options) {
    return options.setFileSystemOptions(
        new FileSystemOptions().setFileCachingEnabled(false).setClassPathResolvingEnabled(false));
  }

  /** Fails at once if the management port is taken, before anything else starts. */
  Future<Void> managed() {
    return managing;
  }

  /** Sets the description in the answer of {@code /readyz}. */
  void describe(String description) {
    readiness.describe(description);
  }

  /**
   * Starts to take requests. When this succeeds, requests are answered and {@code /readyz} reports
   * ready.
   *
   * @param built receives the API before its first request
   * @param addressed runs when the service's address is known, before readiness
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
                      HttpServers::translate,
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
          BackgroundJob.inEachProcess(
              "reload-certificate",
              "reloading the certificate",
              certificateMillis,
              () ->
                  Future.join(api.renewCertificate(context.vertx()), management.renewCertificate())
                      .map(false)));
    }
  }

  /** Logs a warning if other users of the machine can read the certificate's key. */
  private void warnOfOthers(Path key) {
    context
        .vertx()
        .executeBlocking(() -> DataFolder.wider(key.toRealPath()), false)
        .onSuccess(warnings -> warnings.forEach(LOG::warn));
  }

  /** Adds a condition to readiness. */
  void dependOn(Supplier<Optional<String>> fault) {
    readiness.dependOn(fault);
  }

  /** Null if each process counts requests by itself. */
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
   * Announces the stop to load balancers and continues to serve for as long as they may need to
   * notice; open connections stay, so that proxies do not open new ones. Then no connections are
   * accepted, and each open one gets a last answer that closes it, for which it has a moment,
   * because a request sent to a connection that is being closed would be lost.
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

  /** The port of health and metrics; known after the start. */
  int managementPort() {
    return management.actualPort();
  }

  /** The service's address for clients; known after the start. */
  String baseUrl() {
    return Objects.requireNonNull(edge, "not started").baseUrl();
  }

  /** The refusal for a failure of the store. */
  static Optional<ApiException> translate(Throwable fault) {
    Optional<ApiException> ofBlobs = CheckpointServices.translate(fault);
    return ofBlobs.isPresent() ? ofBlobs : translateStore(fault);
  }

  private static Optional<ApiException> translateStore(Throwable fault) {
    if (!(fault instanceof StoreUnavailableException unavailable)) {
      return Optional.empty();
    }
    if (unavailable.isFull()) {
      return Optional.of(
          ApiException.retryLater(
              ErrorCode.STORAGE_FULL,
              "the store has no room left; nothing was written, and reads go on",
              RETRY_FULL_MILLIS));
    }
    return Optional.of(
        unavailable.mayBeStored()
            ? ApiException.retryLater(
                ErrorCode.OUTCOME_UNKNOWN,
                """
                the store was lost before it answered, so the write may be stored; read the state \
                to find out before you write again\
                """,
                RETRY_STORE_MILLIS)
            : ApiException.retryLater(
                ErrorCode.OVERLOADED,
                "the store cannot serve now; nothing was written",
                RETRY_STORE_MILLIS));
  }
}
