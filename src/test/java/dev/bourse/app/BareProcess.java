package dev.bourse.app;

import dev.bourse.access.Authenticator;
import dev.bourse.access.MemberToken;
import dev.bourse.access.MemberTokens;
import dev.bourse.access.Members;
import dev.bourse.access.OperatorTokenService;
import dev.bourse.access.Scope;
import dev.bourse.access.Tokens;
import dev.bourse.audit.SealService;
import dev.bourse.audit.TrailStore;
import dev.bourse.billing.BillingAdminService;
import dev.bourse.billing.BillingService;
import dev.bourse.blob.BlobStore;
import dev.bourse.capacity.AlertService;
import dev.bourse.capacity.CapacityService;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterAdminService;
import dev.bourse.capacity.Clusters;
import dev.bourse.checkpoint.CheckpointService;
import dev.bourse.checkpoint.ContentService;
import dev.bourse.core.Settings;
import dev.bourse.jobs.BackgroundJobs;
import dev.bourse.market.MarketService;
import dev.bourse.market.NodeService;
import dev.bourse.market.RetirementService;
import dev.bourse.nodes.NodeProvider;
import dev.bourse.org.OrgAdminService;
import dev.bourse.org.RosterService;
import dev.bourse.org.TokenService;
import dev.bourse.pools.settings.PoolService;
import dev.bourse.pools.settings.SwitchService;
import dev.bourse.signals.Signals;
import dev.bourse.sshkeys.SshKeyService;
import dev.bourse.store.Database;
import dev.bourse.store.Mirror;
import dev.bourse.store.Timekeeper;
import dev.bourse.traces.Traces;
import dev.bourse.uploads.DirectUploadService;
import dev.bourse.uploads.UploadSessionService;
import dev.bourse.world.Seeding;
import dev.bourse.world.WorldFile;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.StringReader;
import java.nio.file.Path;
import java.time.Clock;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * A process of the service without its interfaces: the same core, assembled as by {@link Bourse},
 * on a given store, machines, bytes, clocks and randomness.
 */
public final class BareProcess {
  /**
   * The environment of a process.
   *
   * @param data its data folder
   * @param settings in the form of a configuration file or {@code --set}
   * @param wall the wall clock
   * @param nanoTime the monotonic clock
   */
  public record Platform(
      Vertx vertx,
      Path data,
      Map<String, String> settings,
      Clock wall,
      LongSupplier nanoTime,
      RandomGenerator random,
      Map<String, NodeProvider> providers,
      Supplier<Future<BlobStore>> blobs) {}

  private static final long MEMBER_TOKEN_MILLIS = 3_600_000;

  private final ServiceContext context;
  private final Database database;
  private final Replication replication;
  private final ServiceCore core;
  private final NodeService nodes;

  private BareProcess(
      ServiceContext context, Database database, Replication replication, ServiceCore core) {
    this.context = context;
    this.database = database;
    this.replication = replication;
    this.core = core;
    nodes = new NodeService(database, core.clusters(), core.market(), context.clock());
  }

  /** Stores the contents of a world file. */
  public static Future<Void> seed(Platform platform, Database database, String world) {
    try {
      return new Seeding(database, platform.wall(), platform.random())
          .prepare(WorldFile.read("world", new StringReader(world)))
          .compose(Seeding::commit)
          .mapEmpty();
    } catch (java.io.IOException e) {
      return Future.failedFuture(e);
    }
  }

  /** Starts the core; the market is open when this succeeds. */
  public static Future<BareProcess> start(Platform platform, Database opened) {
    Config config;
    try {
      config = Config.from(new Settings(platform.settings(), Map.of()), platform.data(), List.of());
    } catch (Config.InvalidConfigException e) {
      return Future.failedFuture(e);
    }
    Timekeeper time =
        new Timekeeper(platform.wall(), platform.nanoTime(), config.confirmAfterMillis());
    Signals signals = new Signals();
    ServiceContext context =
        new ServiceContext(
            platform.vertx(),
            config,
            false,
            time.clock(),
            time,
            platform.nanoTime(),
            platform.random(),
            new BackgroundJobs(
                platform.vertx(),
                time.clock(),
                time,
                platform.nanoTime(),
                platform.random(),
                config.billing().checkMillis(),
                signals),
            new ShutdownHooks(),
            Optional.empty(),
            signals,
            Traces.OFF);
    Replication replication = new Replication(platform.vertx(), platform.nanoTime());
    opened.listen(replication);
    Database notifying =
        new NotifyingDatabase(
            new ConfirmingDatabase(opened, platform.nanoTime()), replication::changedHere);
    return time.start(opened)
        .compose(
            started -> {
              context.keepUp(StoreOpening.watchOf(time));
              return ServiceCore.start(
                  context,
                  notifying,
                  AccessControl.of(context, notifying, () -> "http://bourse.invalid", replication),
                  new ServiceCore.Ports(platform.providers(), store -> platform.blobs().get()),
                  new KeysFiles(config, false));
            })
        .compose(
            core -> {
              core.follow(replication);
              return core.open().map(new BareProcess(context, notifying, replication, core));
            });
  }

  /** Stops in order, like a service. */
  public Future<Void> stop() {
    return context.shutdown().stopAll();
  }

  public AlertService alerts() {
    return new AlertService(Cluster.Kind.VM, core.clusters(), core.owners());
  }

  public CapacityService capacity() {
    return core.capacity();
  }

  public Clusters clusters() {
    return core.clusters();
  }

  public SshKeyService keys() {
    return core.keys();
  }

  public Tokens tokens() {
    return core.access().tokens();
  }

  public TokenService tokenService() {
    return new TokenService(database, tokens(), context.clock(), context.random());
  }

  /** Identifies callers by their tokens, as the interfaces do. */
  public Authenticator authenticator() {
    return core.access().authenticator();
  }

  /** The members who may act. */
  public Members members() {
    return core.access().members();
  }

  /** A member's access token for an application, valid for an hour. */
  public String issueMemberToken(String orgId, String username) {
    MemberTokens memberTokens = core.access().memberTokens();
    return memberTokens.issue(
        new MemberToken(
            orgId,
            username,
            memberTokens.restAudience(),
            EnumSet.allOf(Scope.class),
            "simulation",
            "",
            MEMBER_TOKEN_MILLIS));
  }

  public OperatorTokenService operatorTokens() {
    return new OperatorTokenService(
        database, core.access().operators(), context.clock(), context.random());
  }

  public RosterService roster() {
    AccessControl access = core.access();
    return new RosterService(
        database,
        access.tokens(),
        access.members(),
        access.revocations(),
        core.offboardings(),
        context.clock());
  }

  public CheckpointService checkpoints() {
    return core.checkpoints().checkpoints();
  }

  public DirectUploadService directUploads() {
    return core.checkpoints().direct();
  }

  public UploadSessionService uploadSessions() {
    return core.checkpoints().sessions();
  }

  public ContentService contents() {
    return core.checkpoints().contents();
  }

  /** The in-memory state, by topic. */
  public SortedMap<String, Mirror> mirrors() {
    return new TreeMap<>(core.mirrors());
  }

  /** Whether records are deleted by their age now. */
  public boolean isTimeConfirmed() {
    return context.time().confirmedMillis().isPresent();
  }

  public PoolService pools() {
    return core.pools();
  }

  public SwitchService switches() {
    return core.switches();
  }

  public MarketService market() {
    return core.market();
  }

  public BillingService billing() {
    return core.billing();
  }

  public BillingAdminService billingAdmin() {
    return new BillingAdminService(database, core.billing(), core.holds(), context.clock());
  }

  public ClusterAdminService clusterAdmin() {
    return new ClusterAdminService(core.clusters(), core.owners(), core.holds(), context.clock());
  }

  public NodeService nodes() {
    return nodes;
  }

  public RetirementService retirement() {
    return new RetirementService(database, core.owners(), nodes, context.clock());
  }

  public OrgAdminService orgs() {
    return core.orgs();
  }

  public TrailStore trails() {
    return new TrailStore(database);
  }

  public SealService seals() {
    return new SealService(context.vertx(), database);
  }

  /** The number of changes that the change feed missed. */
  public long missedChanges() {
    return replication.missedChanges();
  }

  /** See {@link Replication#knownAsOfNanos}. */
  public long knownAsOfNanos() {
    return replication.knownAsOfNanos();
  }
}
