package dev.bourse.app;

import static dev.bourse.jobs.BackgroundJob.inEachProcess;
import static dev.bourse.jobs.BackgroundJob.inOneProcess;
import static dev.bourse.jobs.BackgroundJob.onConfirmedTime;

import dev.bourse.access.NodeAgent;
import dev.bourse.access.Offboarding;
import dev.bourse.audit.AuditConfig;
import dev.bourse.audit.AuditStore;
import dev.bourse.audit.AuditedReads;
import dev.bourse.audit.ReadJournal;
import dev.bourse.audit.Sealer;
import dev.bourse.audit.TrailRetention;
import dev.bourse.billing.BillingService;
import dev.bourse.billing.HoldService;
import dev.bourse.billing.LimitedSpending;
import dev.bourse.blob.BlobStore;
import dev.bourse.capacity.CapacityService;
import dev.bourse.capacity.CapacityStore;
import dev.bourse.capacity.ClusterCorrection;
import dev.bourse.capacity.ClusterOwners;
import dev.bourse.capacity.Clusters;
import dev.bourse.capacity.OperatorCommands;
import dev.bourse.core.Ids;
import dev.bourse.events.ActivityRetention;
import dev.bourse.jobs.BackgroundJob.Place;
import dev.bourse.market.MarketConfig;
import dev.bourse.market.MarketEnvironment;
import dev.bourse.market.MarketService;
import dev.bourse.market.NodeStore;
import dev.bourse.nodes.NodeProvider;
import dev.bourse.notifications.Notifications;
import dev.bourse.org.OrgAdminService;
import dev.bourse.pools.Switches;
import dev.bourse.pools.settings.PoolService;
import dev.bourse.pools.settings.PoolStore;
import dev.bourse.pools.settings.SwitchService;
import dev.bourse.sshkeys.SshKeyOffboarding;
import dev.bourse.sshkeys.SshKeyPolicy;
import dev.bourse.sshkeys.SshKeyService;
import dev.bourse.sshkeys.SshKeyStore;
import dev.bourse.store.ClockCorrection;
import dev.bourse.store.Database;
import dev.bourse.store.Mirror;
import dev.bourse.trailstream.TrailStreams;
import dev.bourse.uploads.PublishPermission;
import dev.bourse.webhooks.Webhooks;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A process without its interfaces: the in-memory state, the owners of clusters, the markets,
 * money, trails, files, and background work. It knows nothing of HTTP, so that a simulation runs
 * all of it.
 */
final class ServiceCore {
  private static final Logger LOG = LoggerFactory.getLogger(ServiceCore.class);

  /** Keys rotate by days, and revocations are kept for hours. */
  private static final long KEYS_MILLIS = 3_600_000;

  /** The interval between searches for times in the future. */
  private static final long CORRECTION_MILLIS = 30_000;

  /**
   * How often clusters of retired organizations are checked. This bounds how long they can hold
   * capacity after a crash, a full queue or a failure of another process.
   */
  private static final long RELEASE_INTERVAL_MILLIS = 60_000;

  /** The folder, within the data folder, of the processes' journals of audited reads. */
  private static final String READ_JOURNALS = "audited-reads";

  private final ServiceContext context;
  private final Database database;
  private final Memory memory;
  private final ClusterOwners owners;
  private final MarketService market;
  private final CapacityService capacity;
  private final HoldService holds;
  private final BillingService billing;
  private final OrgAdminService orgs;
  private final CheckpointServices checkpoints;
  private final ClockCorrection correction;

  /** The in-memory state that exists before the owners of clusters. */
  private record Memory(
      AccessControl access,
      AuditedReads reads,
      Clusters clusters,
      SshKeyStore keyStore,
      SshKeyService keys,
      SwitchService switches,
      PoolService pools) {

    static Memory of(
        ServiceContext context, Database database, AccessControl access, Set<String> providers) {
      Clock clock = context.clock();
      Config config = context.config();
      AuditedReads reads =
          new AuditedReads(
              context.vertx(),
              new AuditStore(database),
              journal(context, database),
              clock,
              context.random());
      Clusters clusters =
          new Clusters(
              new Switches(
                  true,
                  config.capacity().spendLimitEnforced(),
                  config.capacity().billingHoldEnforced()),
              clock);
      SshKeyStore keyStore = new SshKeyStore(database);
      return new Memory(
          access,
          reads,
          clusters,
          keyStore,
          new SshKeyService(
              keyStore, new SshKeyPolicy(database), clusters, reads, clock, context.random()),
          new SwitchService(database, clusters, clock),
          new PoolService(database, clusters, providers, clock));
    }

    /** A journal for shared stores, which may be unreachable while this machine works. */
    private static Optional<ReadJournal> journal(ServiceContext context, Database database) {
      if (!database.isShared()) {
        return Optional.empty();
      }
      ReadJournal journal =
          new ReadJournal(
              context.config().data().resolve(READ_JOURNALS),
              Ids.next("arj", context.random()),
              context.clock());
      context
          .signals()
          .gauge(
              "bourse_audit_journal_bytes",
              "Audited reads on this machine's disk that the database has not taken yet.",
              journal::bytes);
      return Optional.of(journal);
    }

    Future<Void> load() {
      return Future.all(keys.load(), pools.load().compose(read -> switches.load())).mapEmpty();
    }
  }

  /**
   * The adapters of the core besides the store.
   *
   * @param providers the providers of machines, by their name in pools
   * @param blobs opens the store of published bytes
   */
  record Ports(Map<String, NodeProvider> providers, Function<Database, Future<BlobStore>> blobs) {}

  private ServiceCore(
      ServiceContext context,
      Database database,
      Memory memory,
      ClusterOwners owners,
      Map<String, NodeProvider> providers,
      BlobStore blobs) {
    this.context = context;
    this.database = database;
    this.memory = memory;
    this.owners = owners;
    memory.access.nodeCredentials().findHoldersBy(this::findAgent);
    holds = BillingSetup.holds(context, database, memory.clusters, owners);
    market = market(providers, holds);
    context.shutdown().push(market::stop);
    market.registerMetrics();
    owners.registerMetrics(context.signals());
    providers.values().forEach(provider -> provider.registerMetrics(context.signals()));
    capacity =
        new CapacityService(
            memory.clusters,
            owners,
            memory.keys::hasKeys,
            memory.reads,
            context.config().capacity(),
            market::preview,
            market::outlook,
            context.clock(),
            context.nanoTime());
    billing = BillingSetup.start(context, database, memory.clusters, holds);
    orgs =
        new OrgAdminService(
            database,
            memory.access.tokens(),
            memory.access.members(),
            offboardings(),
            cluster ->
                owners
                    .meetNamed(cluster)
                    .compose(met -> owners.submit(cluster, OperatorCommands.retire()))
                    .mapEmpty(),
            context.clock());
    checkpoints =
        CheckpointServices.start(
            context,
            database,
            new PublishPermission(
                memory.access.members(), memory.access.tokens(), memory.access.revocations()),
            blobs);
    keepUp();
    correction = correction();
    registerClockMetrics();
  }

  private Optional<NodeAgent> findAgent(String allocationId) {
    return memory
        .clusters
        .findHolder(allocationId)
        .map(view -> new NodeAgent(allocationId, view.cluster().orgId()));
  }

  /**
   * Reads the stored state and starts the owners of clusters; the market is not open yet.
   *
   * @param access identifies callers; not loaded yet
   * @param files receive the secrets created at a start
   */
  static Future<ServiceCore> start(
      ServiceContext context,
      Database database,
      AccessControl access,
      Ports ports,
      KeysFiles files) {
    Memory memory = Memory.of(context, database, access, ports.providers().keySet());
    memory.reads.start();
    context.shutdown().push(memory.reads::close);
    ports.providers().values().forEach(provider -> context.shutdown().push(provider::close));
    return Future.all(access.load(context, database, files), memory.load())
        .compose(
            loaded ->
                ClusterOwners.deploy(
                    context.vertx(),
                    memory.clusters,
                    new CapacityStore(database, context.random()),
                    new ClusterOwners.Clocks(context.clock(), context.time()),
                    context.config().eventLoops()))
        .compose(
            owners ->
                ports
                    .blobs()
                    .apply(database)
                    .map(
                        blobs ->
                            new ServiceCore(
                                context, database, memory, owners, ports.providers(), blobs)));
  }

  /** Starts to apply other processes' changes. */
  void follow(Replication replication) {
    replication.follow(mirrors());
    if (database.isShared()) {
      context.keepProbing(
          inEachProcess(
                  "compare-with-store",
                  "comparing the in-memory state with the store",
                  context.config().storeWatch().compareMillis(),
                  () -> replication.inspect().map(false))
              .afterFirstPeriod());
    }
  }

  /** Corrects times, releases the holdings of retired organizations, and opens the market. */
  Future<Void> open() {
    context.keepUp(
        inEachProcess(
                "release-retired-clusters",
                "releasing the nodes of retired organizations",
                RELEASE_INTERVAL_MILLIS,
                () -> orgs.releaseRetired().map(false))
            .afterFirstPeriod());
    return correctClock()
        .compose(corrected -> orgs.releaseRetired().otherwiseEmpty())
        .compose(released -> holds.start())
        .compose(put -> market.start())
        .onSuccess(opened -> context.divideJobs(database));
  }

  /** The in-memory state, by the topics of its changes. */
  Map<String, Mirror> mirrors() {
    Map<String, Mirror> mirrors = new HashMap<>(memory.access.mirrors());
    mirrors.put(PoolStore.CHANGED, memory.pools);
    mirrors.put(SwitchService.CHANGED, memory.switches);
    mirrors.put(CapacityStore.CHANGED, owners);
    mirrors.put(SshKeyStore.CHANGED, memory.keys);
    mirrors.put(NodeStore.CHANGED, market);
    return mirrors;
  }

  private MarketService market(Map<String, NodeProvider> providers, HoldService billingHolds) {
    MarketConfig config = context.config().market();
    return new MarketService(
        context.vertx(),
        providers,
        new MarketEnvironment(
            database,
            memory.clusters,
            owners,
            memory.keys,
            new LimitedSpending(
                database, memory.clusters, config.protectionMillis(), context.clock()),
            billingHolds,
            config,
            context.clock(),
            context.time(),
            context.nanoTime(),
            context.random(),
            context.jobs().process()),
        context.signals());
  }

  /** Starts the jobs on the store's records. */
  private void keepUp() {
    Clock clock = context.clock();
    AuditConfig audit = context.config().audit();
    Sealer sealer = new Sealer(context.vertx(), database, clock);
    TrailRetention trails = new TrailRetention(context.vertx(), database, audit, context.time());
    ActivityRetention activity =
        new ActivityRetention(database, audit.activityMillis(), context.time());
    long retention = audit.retentionIntervalMillis();
    context.keepUp(
        inOneProcess(
            "seal-audit-trail",
            "sealing the audit trail",
            audit.sealIntervalMillis(),
            sealer::step));
    context.keepUp(
        inOneProcess("delete-audit-rows", "deleting expired audit rows", retention, trails::step)
            .withConfirmedTime());
    context.keepUp(
        inOneProcess("delete-activity", "deleting expired activity", retention, activity::step)
            .withConfirmedTime());
    context.keepUp(
        onConfirmedTime(
            Place.EACH_PROCESS,
            "rotate-signing-keys",
            "rotating signing keys",
            KEYS_MILLIS,
            memory.access.signingKeys()::step));
    context.keepUp(
        inEachProcess(
            "reencrypt-secrets",
            "encrypting shared secrets with the first secret key",
            KEYS_MILLIS,
            context.secrets(database)::reencrypt));
    context.keepUp(
        onConfirmedTime(
            Place.EACH_PROCESS,
            "delete-read-marks",
            "deleting expired marks of audited reads",
            retention,
            memory.reads::forget));
    context.keepUp(
        onConfirmedTime(
            Place.EACH_PROCESS,
            "delete-revocations",
            "deleting expired revocations",
            KEYS_MILLIS,
            memory.access.revocations()::sweep));
  }

  private ClockCorrection correction() {
    ClusterCorrection clusters =
        new ClusterCorrection(
            context.vertx(),
            database,
            memory.clusters,
            owners,
            context.config().market().protectionMillis(),
            context.time());
    context
        .signals()
        .counter(
            "bourse_clock_corrections_total",
            "Clusters whose times lay in the future and were corrected.",
            clusters::count);
    return new ClockCorrection(
        Corrections.of(database, memory.access, clusters), context.time(), context.nanoTime());
  }

  private void registerClockMetrics() {
    context
        .signals()
        .counter(
            "bourse_clock_steps_total",
            "Steps of a clock, ahead or back, that this process has seen.",
            () -> context.time().view().stepsAhead() + context.time().view().stepsBack());
    context
        .signals()
        .gauge(
            "bourse_clock_skew_seconds",
            """
            By how much this machine's clock is ahead of the database's, negative when it is behind; \
            absent with the embedded store and while the database is not heard.\
            """,
            () -> {
              Long aheadMillis = context.time().view().aheadMillis();
              return aheadMillis == null ? Double.NaN : aheadMillis / 1e3;
            });
    context
        .signals()
        .gauge(
            "bourse_clock_confirmed",
            "1 while a clock is confirmed; while it is 0 nothing is posted or deleted by its age.",
            () -> context.time().confirmedMillis().isPresent() ? 1 : 0);
  }

  /**
   * Corrects times in the future before the service answers, if time is confirmed already. A
   * failure does not stop the start, and the correction is retried.
   */
  private Future<Void> correctClock() {
    return correction
        .step()
        .onFailure(e -> LOG.warn("some of the store's times could not be corrected", e))
        .otherwiseEmpty()
        .onSuccess(
            corrected ->
                context.keepUp(
                    inEachProcess(
                            "correct-future-times",
                            "correcting times that lie in the future",
                            Math.min(CORRECTION_MILLIS, context.config().billing().checkMillis()),
                            correction::step)
                        .withConfirmedTime()))
        .mapEmpty();
  }

  AccessControl access() {
    return memory.access;
  }

  /** The recorder of audited reads. */
  AuditedReads reads() {
    return memory.reads;
  }

  /** The clusters as event loops read them. */
  Clusters clusters() {
    return memory.clusters;
  }

  SshKeyService keys() {
    return memory.keys;
  }

  /** The services whose items end with their author. */
  List<Offboarding> offboardings() {
    return List.of(
        new SshKeyOffboarding(memory.keyStore, memory.keys),
        Webhooks.offboarding(database),
        TrailStreams.offboarding(database),
        Notifications.offboarding());
  }

  SwitchService switches() {
    return memory.switches;
  }

  PoolService pools() {
    return memory.pools;
  }

  /** The owners of clusters. */
  ClusterOwners owners() {
    return owners;
  }

  MarketService market() {
    return market;
  }

  CapacityService capacity() {
    return capacity;
  }

  HoldService holds() {
    return holds;
  }

  BillingService billing() {
    return billing;
  }

  OrgAdminService orgs() {
    return orgs;
  }

  CheckpointServices checkpoints() {
    return checkpoints;
  }
}
