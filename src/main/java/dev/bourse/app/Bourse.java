package dev.bourse.app;

import dev.bourse.access.AccessStore;
import dev.bourse.access.Authenticator;
import dev.bourse.access.Credentials;
import dev.bourse.access.Operators;
import dev.bourse.access.Tokens;
import dev.bourse.audit.AuditConfig;
import dev.bourse.audit.AuditStore;
import dev.bourse.audit.AuditedReads;
import dev.bourse.audit.SealService;
import dev.bourse.audit.Sealer;
import dev.bourse.audit.TrailRetention;
import dev.bourse.audit.TrailStore;
import dev.bourse.capacity.ActivityRetention;
import dev.bourse.capacity.ActivityStore;
import dev.bourse.capacity.CapacityRoutes;
import dev.bourse.capacity.CapacityService;
import dev.bourse.capacity.CapacityStore;
import dev.bourse.capacity.ClusterAdminService;
import dev.bourse.capacity.ClusterOwners;
import dev.bourse.capacity.Clusters;
import dev.bourse.capacity.HistoryStore;
import dev.bourse.capacity.PoolService;
import dev.bourse.capacity.SshKeyService;
import dev.bourse.capacity.SshKeyStore;
import dev.bourse.capacity.SwitchService;
import dev.bourse.capacity.Switches;
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
import dev.bourse.market.MarketRoutes;
import dev.bourse.market.MarketService;
import dev.bourse.market.MarketStore;
import dev.bourse.market.NodeService;
import dev.bourse.nodes.NodeProvider;
import dev.bourse.nodes.SimulatedNodes;
import dev.bourse.nodes.SshNodes;
import dev.bourse.operator.AuditAdminRoutes;
import dev.bourse.operator.ClusterAdminRoutes;
import dev.bourse.operator.NodeAdminRoutes;
import dev.bourse.operator.PoolAdminRoutes;
import dev.bourse.operator.SwitchRoutes;
import dev.bourse.org.Directory;
import dev.bourse.org.LocalDirectory;
import dev.bourse.org.OrgRoutes;
import dev.bourse.org.OrgService;
import dev.bourse.org.OrgStore;
import dev.bourse.org.ScimDirectory;
import dev.bourse.store.Database;
import dev.bourse.store.PostgresConfig;
import dev.bourse.store.PostgresDatabase;
import dev.bourse.store.SqliteDatabase;
import dev.bourse.store.StoreConfig;
import dev.bourse.store.StoreUnavailable;
import dev.bourse.store.Upkeep;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** One running service: builds the parts, starts them in order, stops them in reverse. */
final class Bourse {
  /** How long a client had better wait when the store cannot serve. */
  private static final long RETRY_STORE_MILLIS = 1_000;

  /** Health and metrics have no authentication, so only this machine sees them. */
  private static final String LOOPBACK = "127.0.0.1";

  /** Where the embedded store is in the data folder, and the engines' schemas on the class path. */
  static final String SQLITE_FILE = "bourse.db";

  static final String SQLITE_SCHEMA = "db/sqlite";
  static final String POSTGRES_SCHEMA = "db/postgres";

  private static final List<String> CONTRACTS = List.of("vm", "org", "market", "operator");

  private final Vertx vertx;
  private final Config config;
  private final boolean demo;
  private final StoreConfig store;
  private final Clock clock = Clock.systemUTC();
  private final RandomGenerator random = new SecureRandom();

  /** What to stop, the last started first. */
  private final Deque<Supplier<Future<?>>> stops = new ArrayDeque<>();

  private final Replication replication = new Replication();
  private final Readiness readiness = new Readiness();
  private @Nullable Edge edge;
  private @Nullable Database database;
  private @Nullable Clusters clusters;
  private @Nullable ClusterOwners owners;

  Bourse(Vertx vertx, Config config, boolean demo) {
    this(vertx, config, demo, StoreConfig.defaults());
  }

  /**
   * @param store the bounds of the embedded store
   */
  Bourse(Vertx vertx, Config config, boolean demo, StoreConfig store) {
    this.vertx = vertx;
    this.config = config;
    this.demo = demo;
    this.store = store;
  }

  /** Starts everything; the service answers when this succeeds. */
  Future<Void> start() {
    return openStore().compose(database -> seed(database).compose(seeded -> startParts(database)));
  }

  /** Stops taking requests, finishes those under way, writes what is in memory, closes. */
  synchronized Future<Void> stop() {
    Supplier<Future<?>> next = stops.poll();
    return next == null
        ? Future.succeededFuture()
        : next.get().otherwiseEmpty().compose(stopped -> stop());
  }

  private Future<Database> openStore() {
    Future<? extends Database> opening =
        config.postgres().isPresent()
            ? PostgresDatabase.open(vertx, config.postgres().get(), POSTGRES_SCHEMA, clock, random)
            : SqliteDatabase.open(
                vertx, config.data().resolve(SQLITE_FILE), store, SQLITE_SCHEMA, clock);
    return opening.map(
        opened -> {
          stops.push(opened::close);
          opened.listen(replication);
          database = opened;
          return opened;
        });
  }

  private Future<Void> seed(Database database) {
    Future<Void> seeded = Future.succeededFuture();
    if (demo) {
      seeded = seed(database, "demo", () -> resource("/world/demo.yaml"));
    }
    if (config.world().isPresent()) {
      Path world = config.world().get();
      seeded =
          seeded.compose(done -> seed(database, "world", () -> Files.newBufferedReader(world)));
    }
    return seeded;
  }

  /** Opens a world file. */
  private interface WorldSource {
    Reader open() throws IOException;
  }

  private Future<Void> seed(Database database, String name, WorldSource source) {
    return vertx
        .executeBlocking(
            () -> {
              try (Reader reader = source.open()) {
                return World.read(name, reader);
              }
            })
        .compose(
            world ->
                seed(database, name, world)
                    // Another process that starts on the same store may have been first.
                    .recover(e -> database.isShared() ? seed(database, name, world) : failed(e)));
  }

  /** The secrets are told before they are stored: a crash between leaves useless ones, not none. */
  private Future<Void> seed(Database database, String name, World world) {
    return new Seeding(database, clock, random)
        .prepare(world)
        .compose(
            seeding ->
                vertx
                    .executeBlocking(() -> keysFile(name).merge(seeding.keys()))
                    .compose(
                        before ->
                            seeding
                                .commit()
                                .recover(
                                    e ->
                                        vertx
                                            .executeBlocking(() -> keysFile(name).restore(before))
                                            .compose(restored -> failed(e)))));
  }

  private static Future<Void> failed(Throwable cause) {
    return Future.failedFuture(cause);
  }

  private KeysFile keysFile(String name) {
    return new KeysFile(config.data().resolve(name + ".json"));
  }

  private static Reader resource(String name) throws IOException {
    InputStream stream = Bourse.class.getResourceAsStream(name);
    if (stream == null) {
      throw new IOException("the jar lacks " + name);
    }
    return new InputStreamReader(stream, StandardCharsets.UTF_8);
  }

  private Future<Void> startParts(Database database) {
    Future<List<Contract>> contracts =
        vertx.executeBlocking(() -> CONTRACTS.stream().map(Contract::load).toList(), false);
    AccessStore access = new AccessStore(database);
    Tokens tokens = new Tokens(access, clock);
    stops.push(tokens::flush);
    Operators operators = new Operators(access, clock);
    Credentials credentials = new Credentials(tokens, operators);
    AuditedReads reads = new AuditedReads(new AuditStore(database));
    reads.start(vertx);
    stops.push(reads::flush);
    Clusters clusters =
        new Clusters(
            new Switches(
                true,
                config.capacity().spendLimitEnforced(),
                config.capacity().billingHoldEnforced()));
    this.clusters = clusters;
    SshKeyStore keyStore = new SshKeyStore(database);
    SshKeyService keys = new SshKeyService(keyStore, clusters, reads, clock, random);
    SwitchService switches = new SwitchService(database, clusters, clock);
    PoolService pools =
        new PoolService(
            database,
            clusters,
            config.ssh().isPresent() ? Set.of("simulated", "ssh") : Set.of("simulated"),
            clock);
    Supplier<Future<Void>> terms = () -> pools.load().compose(read -> switches.load().mapEmpty());
    Future<Void> operatorsLoaded =
        operators
            .load()
            .compose(
                loaded ->
                    new FirstOperator(vertx, database, clock, random)
                        .mint(operators, operatorFiles()));
    return Future.all(tokens.start(vertx), operatorsLoaded, keys.load(), terms.get())
        .compose(
            loaded ->
                ClusterOwners.deploy(
                    vertx, clusters, new CapacityStore(database), clock, config.eventLoops()))
        .compose(
            owners -> {
              this.owners = owners;
              MarketService market = market(database, clusters, owners, keys, keyStore);
              replication.follow(
                  new Replication.Parts(owners, keys, tokens, operators, market, terms));
              stops.push(market::stop);
              CapacityService capacity =
                  new CapacityService(
                      clusters,
                      owners,
                      keys,
                      new ActivityStore(database),
                      new HistoryStore(database),
                      reads,
                      config.capacity(),
                      clock);
              Operations operations = new Operations();
              new CapacityRoutes(capacity, keys).bind(operations);
              new MarketRoutes(market).bind(operations);
              OrgService org =
                  new OrgService(
                      new OrgStore(database), new TrailStore(database), directory(), tokens, clock);
              new OrgRoutes(org, config.edge().requestsPerMinute()).bind(operations);
              new ClusterAdminRoutes(new ClusterAdminService(database, clusters, owners, clock))
                  .bind(operations);
              new PoolAdminRoutes(pools).bind(operations);
              new NodeAdminRoutes(new NodeService(database, clusters, market, clock))
                  .bind(operations);
              new SwitchRoutes(switches).bind(operations);
              new AuditAdminRoutes(new TrailStore(database), new SealService(vertx, database))
                  .bind(operations);
              keepUp(database);
              return OrgAdministration.start(
                      vertx, operations, database, tokens, operators, owners, clock, random)
                  .compose(bound -> market.start())
                  .compose(opened -> serve(operations, credentials, contracts));
            });
  }

  private Directory directory() {
    Directory directory =
        config
            .scim()
            .<Directory>map(scim -> new ScimDirectory(vertx, scim, clock))
            .orElseGet(LocalDirectory::new);
    stops.push(directory::close);
    return directory;
  }

  private List<KeysFile> operatorFiles() {
    return demo ? List.of(keysFile("operator"), keysFile("demo")) : List.of(keysFile("operator"));
  }

  /** Starts what is done to the store's records behind everybody's back. */
  private void keepUp(Database database) {
    AuditConfig audit = config.audit();
    long settleMillis =
        Sealer.settleMillis(config.postgres().map(PostgresConfig::queryMillis).orElse(0L));
    Sealer sealer = new Sealer(vertx, database, clock, System::nanoTime, settleMillis);
    TrailRetention trails = new TrailRetention(vertx, database, audit, clock);
    ActivityRetention activity = new ActivityRetention(database, audit.activityMillis(), clock);
    long retention = audit.retentionIntervalMillis();
    for (Upkeep upkeep :
        List.of(
            upkeep("sealing the audit trail", audit.sealIntervalMillis(), sealer::step),
            upkeep("deleting audit rows past their time", retention, trails::step),
            upkeep("deleting activity past its time", retention, activity::step))) {
      upkeep.start();
      stops.push(upkeep::stop);
    }
  }

  private Upkeep upkeep(String name, long intervalMillis, Supplier<Future<Boolean>> step) {
    return new Upkeep(vertx, name, intervalMillis, System::nanoTime, step);
  }

  private MarketService market(
      Database database,
      Clusters clusters,
      ClusterOwners owners,
      SshKeyService keys,
      SshKeyStore keyStore) {
    Map<String, NodeProvider> providers = new HashMap<>();
    providers.put("simulated", new SimulatedNodes(vertx, config.simulated(), random));
    config.ssh().ifPresent(ssh -> providers.put("ssh", new SshNodes(vertx, ssh)));
    providers.values().forEach(provider -> stops.push(provider::close));
    return new MarketService(
        vertx,
        clusters,
        owners,
        keys,
        keyStore,
        new MarketStore(database),
        providers,
        config.market(),
        clock,
        random);
  }

  private Future<Void> serve(
      Operations operations, Authenticator authenticator, Future<List<Contract>> loading) {
    EdgeMetrics metrics = new EdgeMetrics();
    ManagementVerticle management =
        new ManagementVerticle(LOOPBACK, config.managementPort(), readiness, metrics);
    return Future.all(loading, openSharedBudgets(metrics))
        .compose(
            ready -> {
              List<Contract> contracts = ready.resultAt(0);
              Edge built =
                  new Edge(
                      config.edge(),
                      contracts,
                      operations,
                      authenticator,
                      Bourse::translate,
                      metrics,
                      new Sources(clock, System::nanoTime, random),
                      ready.resultAt(1));
              edge = built;
              return vertx.deployVerticle(
                  built::verticle, new DeploymentOptions().setInstances(config.eventLoops()));
            })
        .compose(
            id -> {
              stops.push(() -> vertx.undeploy(id));
              return vertx.deployVerticle(management);
            })
        .compose(
            id -> {
              stops.push(this::notReady);
              return noteBaseUrl();
            })
        .onSuccess(noted -> readiness.set(true));
  }

  /** Null when each process counts for itself. */
  private Future<@Nullable SharedBudgets> openSharedBudgets(EdgeMetrics metrics) {
    int perMinute = config.edge().requestsPerMinute();
    if (config.sharedBudgets().isEmpty() || perMinute == 0) {
      return Future.succeededFuture();
    }
    return SharedBudgets.open(vertx, config.sharedBudgets().get(), perMinute, clock, metrics)
        .map(
            opened -> {
              stops.push(opened::close);
              return opened;
            });
  }

  private Future<Void> notReady() {
    readiness.set(false);
    return Future.succeededFuture();
  }

  private Future<Void> noteBaseUrl() {
    return vertx.executeBlocking(
        () -> {
          if (keysFile("operator").exists()) {
            keysFile("operator").noteBaseUrl(baseUrl());
          }
          if (demo) {
            keysFile("demo").noteBaseUrl(baseUrl());
          }
          if (config.world().isPresent()) {
            keysFile("world").noteBaseUrl(baseUrl());
          }
          return null;
        });
  }

  /** What clients call the service. */
  String baseUrl() {
    return Objects.requireNonNull(edge, "not started").baseUrl();
  }

  /** The store; once started. */
  Database database() {
    return Objects.requireNonNull(database, "not started");
  }

  /** What the event loops read; once started. */
  Clusters clusters() {
    return Objects.requireNonNull(clusters, "not started");
  }

  /** The way to the clusters' owners; once started. */
  ClusterOwners owners() {
    return Objects.requireNonNull(owners, "not started");
  }

  /** A fault of the store as clients are told of it. */
  private static Optional<ApiError> translate(Throwable fault) {
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
