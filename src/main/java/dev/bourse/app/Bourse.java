package dev.bourse.app;

import dev.bourse.access.MemberTokens;
import dev.bourse.access.NodeCredentials;
import dev.bourse.capacity.ClusterOwners;
import dev.bourse.capacity.Clusters;
import dev.bourse.jobs.BackgroundJob;
import dev.bourse.jobs.BackgroundJobs;
import dev.bourse.nodes.AgentAccess;
import dev.bourse.nodes.NodeProvider;
import dev.bourse.nodes.SimulatedNodes;
import dev.bourse.nodes.SshNodes;
import dev.bourse.signals.LoopSignals;
import dev.bourse.signals.ProcessSignals;
import dev.bourse.signals.Signals;
import dev.bourse.store.Database;
import dev.bourse.store.Migrations;
import dev.bourse.store.Timekeeper;
import dev.bourse.store.sqlite.SqliteConfig;
import dev.bourse.traces.Traces;
import dev.bourse.traces.otlp.OtlpTraces;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.internal.VertxInternal;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** One running service. Its parts start in order and stop in reverse order. */
public final class Bourse {
  private static final LongSupplier MONOTONIC = System::nanoTime;

  /** How often the certificate's two small files are read again. */
  private static final long CERTIFICATE_MILLIS = 10_000;

  /** How often the store's own old records are deleted. */
  private static final long PRUNE_MILLIS = 60_000;

  private final ShutdownHooks stops = new ShutdownHooks();
  private final KeysFiles files;
  private final StoreOpening store;
  private final long certificateMillis;
  private final ServiceContext context;
  private final Replication replication;
  private @Nullable Database database;
  private @Nullable ServiceCore core;
  private @Nullable HttpServers serving;

  public Bourse(Vertx vertx, Config config, boolean demo) {
    this(
        vertx,
        config,
        demo,
        SqliteConfig.defaults(),
        new Timekeeper(Clock.systemUTC(), MONOTONIC, config.confirmAfterMillis()),
        UnaryOperator.identity(),
        CERTIFICATE_MILLIS,
        ProgramVersion.jar());
  }

  /**
   * @param bounds the bounds of the embedded store
   * @param time the clock, not started yet
   * @param around wraps the engine of the store, for tests that record or fail its statements
   * @param certificateMillis the longest time until a renewed certificate is used
   * @param program the jar that is offered for installation
   */
  Bourse(
      Vertx vertx,
      Config config,
      boolean demo,
      SqliteConfig bounds,
      Timekeeper time,
      UnaryOperator<Database> around,
      long certificateMillis,
      Optional<Path> program) {
    this.certificateMillis = certificateMillis;
    SecureRandom random = new SecureRandom();
    Signals signals = new Signals();
    Traces traces = traces(vertx, config, time.clock(), random, signals);
    context =
        new ServiceContext(
            vertx,
            config,
            demo,
            time.clock(),
            time,
            MONOTONIC,
            random,
            new BackgroundJobs(
                vertx,
                time.clock(),
                time,
                MONOTONIC,
                random,
                config.billing().checkMillis(),
                signals),
            stops,
            program,
            signals,
            traces);
    // Closed last, so that the other parts can trace their stop.
    stops.push(traces::close);
    replication = new Replication(vertx, MONOTONIC);
    files = new KeysFiles(config, demo);
    store = new StoreOpening(context, bounds, around, files);
  }

  /** Loads the exporter only if traces are enabled. */
  private static Traces traces(
      Vertx vertx, Config config, Clock clock, SecureRandom random, Signals signals) {
    return config
        .traces()
        .map(
            to ->
                OtlpTraces.open(
                    vertx, to, ProgramVersion.text(), clock, MONOTONIC, random, signals))
        .orElse(Traces.OFF);
  }

  /** Creates the Vert.x instance for a service with these settings. */
  public static Vertx newVertx(Config config) {
    return Vertx.vertx(
        HttpServers.withoutTemporaryFiles(
            new VertxOptions().setEventLoopPoolSize(config.eventLoops())));
  }

  /** Starts all parts; the service answers when this succeeds. */
  public Future<Void> start() {
    ProcessSignals.registerMetrics(context.signals(), ProgramVersion.text());
    LoopSignals.registerMetrics(
        context.signals(),
        ((VertxInternal) context.vertx()).nettyEventLoopGroup(),
        context.nanoTime());
    HttpServers door = new HttpServers(context, files, certificateMillis);
    serving = door;
    return door.managed()
        .compose(managed -> store.open(replication))
        .compose(opened -> startOn(opened, door));
  }

  private Future<Void> startOn(Database opened, HttpServers door) {
    database = opened;
    opened.registerMetrics(context.signals());
    StoreWatch watch =
        new StoreWatch(opened, context.config().storeWatch(), context.nanoTime(), context.random());
    watch.jobs().forEach(context::keepProbing);
    watch.registerMetrics(context.signals());
    if (opened.isShared()) {
      context.keepUp(
          BackgroundJob.inEachProcess(
              "prune-commit-log", "deleting old groups of commits", PRUNE_MILLIS, opened::prune));
    }
    door.dependOn(watch::fault);
    Database notifying =
        new NotifyingDatabase(
            new ConfirmingDatabase(opened, context.nanoTime()), replication::changedHere);
    // If other processes write too, the in-memory state of this one ages.
    AccessControl access =
        AccessControl.of(
            context,
            notifying,
            door::baseUrl,
            opened.isShared()
                ? replication
                : FreshCredentials.Knowledge.complete(context.nanoTime()));
    return Migrations.readVersion(notifying)
        .compose(schema -> startOn(notifying, schema, door, access, opened.isShared()));
  }

  private Future<Void> startOn(
      Database notifying, long schema, HttpServers door, AccessControl access, boolean isShared) {
    door.describe("version %s, schema %d\n".formatted(ProgramVersion.text(), schema));
    return ServiceCore.start(context, notifying, access, ports(access), files)
        .compose(
            started -> {
              core = started;
              started.follow(replication);
              replication.registerMetrics(context.signals(), isShared);
              Features features = new Features(context, notifying, schema, started, door::baseUrl);
              return features
                  .start()
                  .compose(bound -> started.open())
                  .compose(
                      open ->
                          door.start(
                              features.operations(),
                              access.authenticator(),
                              features::reachedBy,
                              () -> access.writeMemberTokens(context, files)))
                  .onSuccess(
                      serving -> {
                        context.shutdown().push(features::endWaits);
                        features.warmUp();
                      });
            });
  }

  private ServiceCore.Ports ports(AccessControl access) {
    Map<String, NodeProvider> providers = new HashMap<>();
    providers.put(
        "simulated",
        new SimulatedNodes(context.vertx(), context.config().simulated(), context.random()));
    context
        .config()
        .ssh()
        .ifPresent(
            ssh ->
                providers.put(
                    "ssh",
                    new SshNodes(
                        context.vertx(),
                        ssh,
                        context.traces(),
                        context.clock(),
                        allocation -> agentAccess(access, allocation))));
    return new ServiceCore.Ports(
        Map.copyOf(providers), opened -> CheckpointServices.openBlobs(context, opened));
  }

  /** Machines do not reach the address that a service without a configured one has. */
  private Optional<AgentAccess> agentAccess(AccessControl access, String allocationId) {
    String baseUrl = context.config().edge().baseUrl();
    return baseUrl.isEmpty()
        ? Optional.empty()
        : access
            .nodeCredentials()
            .issue(allocationId)
            .map(credential -> new AgentAccess(baseUrl, credential));
  }

  /** Stops taking requests, completes those in flight, writes in-memory data, and closes. */
  public Future<Void> stop() {
    return stops.stopAll();
  }

  /** The port of health and metrics; known after the start. */
  int managementPort() {
    return Objects.requireNonNull(serving, "not started").managementPort();
  }

  /** Milliseconds by which a stop takes longer so that load balancers can notice it. */
  public long drainMillis() {
    return context.config().drainMillis();
  }

  /** The service's address for clients; known after the start. */
  public String baseUrl() {
    return Objects.requireNonNull(serving, "not started").baseUrl();
  }

  /** The store; open after the start. */
  Database database() {
    return Objects.requireNonNull(database, "not started");
  }

  /** Keeps the in-memory state in step with the store, and measures its age. */
  Replication replication() {
    return replication;
  }

  /** The metrics of {@code /metrics}. */
  Signals signals() {
    return context.signals();
  }

  /** The issuer of members' tokens; available after the start. */
  MemberTokens memberTokens() {
    return Objects.requireNonNull(core, "not started").access().memberTokens();
  }

  /** The credentials of nodes' agents; available after the start. */
  NodeCredentials nodeCredentials() {
    return Objects.requireNonNull(core, "not started").access().nodeCredentials();
  }

  /** The clusters as event loops read them; available after the start. */
  Clusters clusters() {
    return Objects.requireNonNull(core, "not started").clusters();
  }

  /** The owners of clusters; available after the start. */
  ClusterOwners owners() {
    return Objects.requireNonNull(core, "not started").owners();
  }
}
