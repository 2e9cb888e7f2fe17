package dev.bourse.app;

import dev.bourse.access.MemberTokens;
import dev.bourse.capacity.ClusterOwners;
import dev.bourse.capacity.Clusters;
import dev.bourse.nodes.NodeProvider;
import dev.bourse.nodes.SimulatedNodes;
import dev.bourse.nodes.SshNodes;
import dev.bourse.signals.LoopSignals;
import dev.bourse.signals.ProcessSignals;
import dev.bourse.signals.Signals;
import dev.bourse.store.Database;
import dev.bourse.store.Migrations;
import dev.bourse.store.Timekeeper;
import dev.bourse.store.UpkeepShares;
import dev.bourse.store.sqlite.SqliteConfig;
import dev.bourse.traces.Traces;
import dev.bourse.traces.otlp.OtlpTraces;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.internal.VertxInternal;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** One running service: its parts in the order of their start, and stopped in reverse. */
public final class Bourse {
  private static final LongSupplier MONOTONIC = System::nanoTime;

  /** How often the certificate is read again; it is two small files. */
  private static final long CERTIFICATE_MILLIS = 10_000;

  private final ShutdownHooks stops = new ShutdownHooks();
  private final KeysFiles files;
  private final StoreOpening store;
  private final long certificateMillis;
  private final ServiceContext context;
  private final Replication replication;
  private @Nullable Database database;
  private @Nullable ServiceCore core;
  private @Nullable Serving serving;

  public Bourse(Vertx vertx, Config config, boolean demo) {
    this(
        vertx,
        config,
        demo,
        SqliteConfig.defaults(),
        new Timekeeper(Clock.systemUTC(), MONOTONIC, config.confirmAfterMillis()),
        UnaryOperator.identity(),
        CERTIFICATE_MILLIS);
  }

  /**
   * @param bounds those of the embedded store
   * @param time the time; it is not started
   * @param around wraps the engine of the store, for tests that record or fail its statements
   * @param certificateMillis how soon a renewed certificate is in use
   */
  Bourse(
      Vertx vertx,
      Config config,
      boolean demo,
      SqliteConfig bounds,
      Timekeeper time,
      UnaryOperator<Database> around,
      long certificateMillis) {
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
            new UpkeepShares(config.billing().checkMillis(), MONOTONIC),
            stops,
            signals,
            traces);
    // The last that ends: what ends before may be traced.
    stops.push(traces::close);
    replication = new Replication(vertx, MONOTONIC, config.storeWatch().compareMillis());
    files = new KeysFiles(config, demo);
    store = new StoreOpening(context, bounds, around, files);
  }

  /** Nothing of what sends them is loaded unless there are to be any. */
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

  /** What a service with these settings runs on. */
  public static Vertx newVertx(Config config) {
    return Vertx.vertx(
        Serving.withoutTemporaryFiles(
            new VertxOptions().setEventLoopPoolSize(config.eventLoops())));
  }

  /** Starts everything; the service answers when this succeeds. */
  public Future<Void> start() {
    ProcessSignals.show(context.signals(), ProgramVersion.text());
    LoopSignals.show(
        context.signals(),
        ((VertxInternal) context.vertx()).nettyEventLoopGroup(),
        context.nanoTime());
    Serving door = new Serving(context, files, certificateMillis);
    serving = door;
    return door.managed()
        .compose(managed -> store.open(replication))
        .compose(opened -> startOn(opened, door));
  }

  private Future<Void> startOn(Database opened, Serving door) {
    database = opened;
    opened.show(context.signals());
    StoreWatch watch =
        new StoreWatch(
            context.vertx(),
            opened,
            context.config().storeWatch(),
            context.nanoTime(),
            context.random());
    watch.start();
    watch.show(context.signals());
    context.shutdown().push(watch::stop);
    door.dependOn(watch::fault);
    Database told = new NotifyingDatabase(opened, replication::changedHere);
    // Once other processes write too, what this one knows ages.
    AccessControl access =
        AccessControl.of(
            context,
            told,
            door::baseUrl,
            opened.isShared() ? replication::knownAsOfNanos : context.nanoTime());
    return Migrations.readVersion(told)
        .compose(schema -> startOn(told, schema, door, access, opened.isShared()));
  }

  private Future<Void> startOn(
      Database told, long schema, Serving door, AccessControl access, boolean isShared) {
    door.describe("version %s, schema %d\n".formatted(ProgramVersion.text(), schema));
    return ServiceCore.start(context, told, access, ports(), files)
        .compose(
            started -> {
              core = started;
              started.follow(replication);
              replication.show(context.signals(), isShared);
              Features features = new Features(context, told, schema, started, door::baseUrl);
              return features
                  .start()
                  .compose(bound -> started.open())
                  .compose(
                      open ->
                          door.start(
                              features.operations(),
                              access.authenticator(),
                              features::reachedBy,
                              () -> access.noteMemberTokens(context, files)))
                  .onSuccess(
                      serving -> {
                        context.shutdown().push(features::endWaits);
                        features.warmUp();
                      });
            });
  }

  private ServiceCore.Ports ports() {
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
                    "ssh", new SshNodes(context.vertx(), ssh, context.traces(), context.clock())));
    return new ServiceCore.Ports(
        Map.copyOf(providers), opened -> CheckpointServices.openBlobs(context, opened));
  }

  /** ShutdownHooks taking requests, finishes those under way, writes what is in memory, closes. */
  public Future<Void> stop() {
    return stops.stopAll();
  }

  /** Where health and metrics are served; once started. */
  int managementPort() {
    return Objects.requireNonNull(serving, "not started").managementPort();
  }

  /** How much longer a stop takes for those who have to learn of it first. */
  public long drainMillis() {
    return context.config().drainMillis();
  }

  /** What clients call the service; once started. */
  public String baseUrl() {
    return Objects.requireNonNull(serving, "not started").baseUrl();
  }

  /** The store; once started. */
  Database database() {
    return Objects.requireNonNull(database, "not started");
  }

  /** Keeps what is in memory in step with the store, and knows how old it is. */
  Replication replication() {
    return replication;
  }

  /** What is counted, as {@code /metrics} tells it. */
  Signals signals() {
    return context.signals();
  }

  /** Issues members' tokens; once started. */
  MemberTokens memberTokens() {
    return Objects.requireNonNull(core, "not started").access().memberTokens();
  }

  /** What the event loops read; once started. */
  Clusters clusters() {
    return Objects.requireNonNull(core, "not started").clusters();
  }

  /** The way to the clusters' owners; once started. */
  ClusterOwners owners() {
    return Objects.requireNonNull(core, "not started").owners();
  }
}
