package dev.bourse.app;

import dev.bourse.access.Authenticator;
import dev.bourse.access.MemberTokens;
import dev.bourse.audit.AuditConfig;
import dev.bourse.audit.AuditStore;
import dev.bourse.audit.AuditedReads;
import dev.bourse.audit.SealService;
import dev.bourse.audit.Sealer;
import dev.bourse.audit.TrailRetention;
import dev.bourse.audit.TrailStore;
import dev.bourse.billing.BillingService;
import dev.bourse.billing.HoldService;
import dev.bourse.billing.LimitedSpending;
import dev.bourse.capacity.ActivityRetention;
import dev.bourse.capacity.ActivityStore;
import dev.bourse.capacity.CapacityRoutes;
import dev.bourse.capacity.CapacityService;
import dev.bourse.capacity.CapacityStore;
import dev.bourse.capacity.ClockCorrection;
import dev.bourse.capacity.ClusterAdminService;
import dev.bourse.capacity.ClusterOwners;
import dev.bourse.capacity.Clusters;
import dev.bourse.capacity.EventRoutes;
import dev.bourse.capacity.EventService;
import dev.bourse.capacity.HistoryStore;
import dev.bourse.capacity.Holds;
import dev.bourse.capacity.PoolService;
import dev.bourse.capacity.PoolStore;
import dev.bourse.capacity.Previewing;
import dev.bourse.capacity.SshKeyService;
import dev.bourse.capacity.SshKeyStore;
import dev.bourse.capacity.SwitchService;
import dev.bourse.capacity.Switches;
import dev.bourse.checkpoint.Standing;
import dev.bourse.edge.Edge;
import dev.bourse.edge.Operations;
import dev.bourse.k8s.K8sRoutes;
import dev.bourse.k8s.K8sService;
import dev.bourse.market.MarketRoutes;
import dev.bourse.market.MarketService;
import dev.bourse.market.MarketStore;
import dev.bourse.market.NodeService;
import dev.bourse.market.RetirementService;
import dev.bourse.nodes.NodeProvider;
import dev.bourse.nodes.SimulatedNodes;
import dev.bourse.nodes.SshNodes;
import dev.bourse.oauth.AuthorizationServer;
import dev.bourse.operator.AuditAdminRoutes;
import dev.bourse.operator.ClockRoutes;
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
import dev.bourse.store.Mirror;
import dev.bourse.store.PostgresConfig;
import dev.bourse.store.Upkeep;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The features, put together: what is in memory, who owns it, and the operations they answer. */
final class Features {
  /** Keys rotate by days, revocations are kept for hours. */
  private static final long KEYS_MILLIS = 3_600_000;

  private final Ground ground;
  private final Database database;
  private final Supplier<String> baseUrl;
  private final Callers callers;
  private final AuditedReads reads;
  private final Clusters clusters;
  private final SshKeyStore keyStore;
  private final SshKeyService keys;
  private final SwitchService switches;
  private final PoolService pools;
  private final Operations operations = new Operations();
  private @Nullable ClusterOwners owners;
  private volatile @Nullable McpServer mcp;

  /**
   * @param baseUrl what clients call the service; asked for once requests are served
   * @param lastKnownNanos when it was last sure that nothing others stored has gone unheard
   */
  Features(
      Ground ground, Database database, Supplier<String> baseUrl, LongSupplier lastKnownNanos) {
    this.ground = ground;
    this.baseUrl = baseUrl;
    this.database = database;
    Clock clock = ground.clock();
    Config config = ground.config();
    callers = Callers.of(ground, database, baseUrl, lastKnownNanos);
    reads = new AuditedReads(new AuditStore(database), clock, ground.random());
    clusters =
        new Clusters(
            new Switches(
                true,
                config.capacity().spendLimitEnforced(),
                config.capacity().billingHoldEnforced()),
            clock);
    keyStore = new SshKeyStore(database);
    keys = new SshKeyService(keyStore, clusters, reads, clock, ground.random());
    switches = new SwitchService(database, clusters, clock);
    pools =
        new PoolService(
            database,
            clusters,
            config.ssh().isPresent() ? Set.of("simulated", "ssh") : Set.of("simulated"),
            clock);
  }

  /**
   * Reads what is stored, starts the owners of clusters, binds the operations and opens the market.
   *
   * @param files where the secrets made at a start are told
   */
  Future<Void> start(Replication replication, KeysFiles files) {
    reads.start(ground.vertx());
    ground.stops().push(reads::flush);
    return Future.all(callers.load(ground, database, files), keys.load(), loadTerms())
        .compose(
            loaded ->
                ClusterOwners.deploy(
                    ground.vertx(),
                    clusters,
                    new CapacityStore(database),
                    ground.clock(),
                    ground.config().eventLoops()))
        .compose(running -> open(running, replication));
  }

  /** Tells the demo's members their tokens; once it is known where the service is served. */
  Future<Void> noteMemberTokens(KeysFiles files) {
    return callers.noteMemberTokens(ground, files);
  }

  private Future<Void> loadTerms() {
    return pools.load().compose(read -> switches.load().mapEmpty());
  }

  /** What is held in memory of the store, by the topics that others tell its changes by. */
  private Map<String, Mirror> mirrors(ClusterOwners running, MarketService market) {
    Map<String, Mirror> mirrors = new HashMap<>(callers.mirrors());
    mirrors.put(PoolStore.CHANGED, pools);
    mirrors.put(SwitchService.CHANGED, switches);
    mirrors.put(CapacityStore.CHANGED, running);
    mirrors.put(SshKeyStore.CHANGED, keys);
    mirrors.put(MarketStore.CHANGED, market);
    return mirrors;
  }

  private Future<Void> open(ClusterOwners running, Replication replication) {
    owners = running;
    MarketService market = market(running);
    replication.follow(mirrors(running, market), database.isShared());
    ground
        .metrics()
        .count(
            "bourse_changes_untold_total",
            "Changes of other processes that were found in the store though nobody told of them.",
            replication::untold);
    if (database.isShared()) {
      replication.showAge(ground.metrics());
    }
    ground.stops().push(market::stop);
    Tenants tenants = bindTenants(running, market);
    HoldService holds = Billing.holds(ground, database, clusters, running);
    bindOperators(running, market, holds);
    BillingService billing = Billing.start(ground, operations, database, clusters, holds);
    AuthorizationServer oauth =
        new AuthorizationServer(
            ground.vertx(),
            ground.config().oauth(),
            database,
            callers.signingKeys(),
            callers.memberTokens(),
            callers.members(),
            callers.revocations(),
            baseUrl,
            ground.clock(),
            ground.random());
    ground.stops().push(oauth::close);
    keepUp(oauth);
    correctClock(running);
    return MemberSignIn.start(
            ground, operations, database, callers.members(), oauth.applications(), baseUrl)
        .compose(signIn -> oauth.bind(operations, signIn.sessions()).map(signIn))
        .compose(
            signIn ->
                OrgAdministration.start(
                    ground, operations, database, callers, signIn.links(), running))
        .compose(
            bound ->
                Checkpoints.start(
                    ground,
                    operations,
                    database,
                    new Standing(callers.members(), callers.tokens()),
                    baseUrl))
        .compose(
            checkpoints ->
                McpServer.start(
                    ground,
                    database,
                    new McpServer.Services(
                        tenants.capacity(),
                        tenants.k8s(),
                        market,
                        billing,
                        tenants.org(),
                        checkpoints),
                    callers,
                    baseUrl,
                    operations))
        .compose(
            server -> {
              mcp = server;
              return holds.start().compose(put -> market.start());
            });
  }

  private record Tenants(CapacityService capacity, K8sService k8s, OrgService org) {}

  /** What organizations' tokens call. */
  private Tenants bindTenants(ClusterOwners running, MarketService market) {
    CapacityService capacity =
        new CapacityService(
            clusters,
            running,
            keys,
            new ActivityStore(database),
            new HistoryStore(database),
            reads,
            ground.config().capacity(),
            market::forecast,
            ground.clock());
    new CapacityRoutes(capacity, keys).bind(operations);
    EventService events =
        new EventService(clusters, new ActivityStore(database), reads, ground.clock());
    events.start();
    ground.stops().push(events::stop);
    new EventRoutes(events).bind(operations);
    new MarketRoutes(market).bind(operations);
    Previewing previews =
        new Previewing(clusters, capacity::terms, market::forecast, ground.clock());
    K8sService k8s = new K8sService(clusters, running, capacity::terms, previews);
    new K8sRoutes(k8s).bind(operations);
    OrgService org =
        new OrgService(
            new OrgStore(database),
            new TrailStore(database),
            directory(),
            callers.tokens(),
            ground.clock());
    new OrgRoutes(org, ground.config().edge().requestsPerMinute()).bind(operations);
    return new Tenants(capacity, k8s, org);
  }

  /** What operators call, but for what {@link OrgAdministration} binds. */
  private void bindOperators(ClusterOwners running, MarketService market, Holds holds) {
    new ClusterAdminRoutes(
            new ClusterAdminService(database, clusters, running, holds, ground.clock()))
        .bind(operations);
    new PoolAdminRoutes(pools).bind(operations);
    ground
        .metrics()
        .gauges(
            "bourse_nodes",
            "Nodes of the pools whose market this process runs, by whether they answer.",
            List.of("pool", "reachability"),
            market::countNodes);
    NodeService nodes = new NodeService(database, clusters, market, ground.clock());
    new NodeAdminRoutes(nodes, new RetirementService(database, running, nodes, ground.clock()))
        .bind(operations);
    new SwitchRoutes(switches).bind(operations);
    new ClockRoutes(ground.time()::view).bind(operations);
    new AuditAdminRoutes(new TrailStore(database), new SealService(ground.vertx(), database))
        .bind(operations);
  }

  /** The operations; all of them once started. */
  Operations operations() {
    return operations;
  }

  /** The API that serves them is there, and not yet asked. */
  void reachedBy(Edge edge) {
    Objects.requireNonNull(mcp, "not started").reachedBy(edge);
  }

  /** Issues and reads members' tokens. */
  MemberTokens memberTokens() {
    return callers.memberTokens();
  }

  /** Tells callers from their tokens. */
  Authenticator authenticator() {
    return callers.authenticator();
  }

  /** What the event loops read. */
  Clusters clusters() {
    return clusters;
  }

  /** The way to the clusters' owners; once started. */
  ClusterOwners owners() {
    return Objects.requireNonNull(owners, "not started");
  }

  private Directory directory() {
    Directory directory =
        ground
            .config()
            .scim()
            .<Directory>map(scim -> new ScimDirectory(ground.vertx(), scim, ground.clock()))
            .orElseGet(LocalDirectory::new);
    ground.stops().push(directory::close);
    return directory;
  }

  /** Starts what is done to the store's records behind everybody's back. */
  private void keepUp(AuthorizationServer oauth) {
    Clock clock = ground.clock();
    Vertx vertx = ground.vertx();
    AuditConfig audit = ground.config().audit();
    long settleMillis =
        Sealer.settleMillis(ground.config().postgres().map(PostgresConfig::queryMillis).orElse(0L));
    Sealer sealer = new Sealer(vertx, database, clock, System::nanoTime, settleMillis);
    TrailRetention trails = new TrailRetention(vertx, database, audit, ground.time());
    ActivityRetention activity =
        new ActivityRetention(database, audit.activityMillis(), ground.time());
    long retention = audit.retentionIntervalMillis();
    for (Upkeep upkeep :
        List.of(
            upkeep("sealing the audit trail", audit.sealIntervalMillis(), sealer::step),
            upkeep("deleting audit rows past their time", retention, trails::step),
            upkeep("deleting activity past its time", retention, activity::step),
            upkeep(
                "deleting codes and grants past their time",
                KEYS_MILLIS,
                ground.asFarAsConfirmed(oauth::sweep)),
            upkeep(
                "rotating signing keys",
                KEYS_MILLIS,
                ground.asFarAsConfirmed(callers.signingKeys()::step)),
            upkeep(
                "forgetting revocations past their time",
                KEYS_MILLIS,
                ground.asFarAsConfirmed(callers.revocations()::sweep)))) {
      upkeep.start();
      ground.stops().push(upkeep::stop);
    }
  }

  /** Whatever a clock that was ahead has left is put right within so long. */
  private static final long CORRECTION_MILLIS = 30_000;

  private void correctClock(ClusterOwners running) {
    ClockCorrection correction =
        new ClockCorrection(
            database,
            clusters,
            running,
            ground.config().market().protectionMillis(),
            ground.time());
    ground
        .metrics()
        .count(
            "bourse_clock_corrections_total",
            "Clusters with times that lay ahead, which were put right.",
            correction::count);
    ground
        .metrics()
        .count(
            "bourse_clock_steps_total",
            "Steps of a clock, ahead or back, that this process has seen.",
            () -> ground.time().view().stepsAhead() + ground.time().view().stepsBack());
    ground
        .metrics()
        .gauge(
            "bourse_clock_confirmed",
            "1 while a clock is confirmed; while it is 0 nothing is posted or deleted by its age.",
            () -> ground.time().confirmedMillis().isPresent() ? 1 : 0);
    Upkeep upkeep =
        upkeep(
            "putting right what a clock that was ahead has left",
            Math.min(CORRECTION_MILLIS, ground.config().billing().checkMillis()),
            correction::step);
    upkeep.start();
    ground.stops().push(upkeep::stop);
  }

  private Upkeep upkeep(String name, long intervalMillis, Supplier<Future<Boolean>> step) {
    return new Upkeep(ground.vertx(), name, intervalMillis, System::nanoTime, step);
  }

  private MarketService market(ClusterOwners running) {
    Map<String, NodeProvider> providers = new HashMap<>();
    providers.put(
        "simulated",
        new SimulatedNodes(ground.vertx(), ground.config().simulated(), ground.random()));
    ground.config().ssh().ifPresent(ssh -> providers.put("ssh", new SshNodes(ground.vertx(), ssh)));
    providers.values().forEach(provider -> ground.stops().push(provider::close));
    return new MarketService(
        ground.vertx(),
        clusters,
        running,
        keys,
        keyStore,
        new MarketStore(database),
        new HistoryStore(database),
        providers,
        new LimitedSpending(
            database, clusters, ground.config().market().protectionMillis(), ground.clock()),
        ground.config().market(),
        ground.clock(),
        ground.time(),
        ground.random());
  }
}
