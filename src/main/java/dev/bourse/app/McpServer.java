package dev.bourse.app;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.access.ServiceSecrets;
import dev.bourse.billing.BillingService;
import dev.bourse.capacity.CapacityService;
import dev.bourse.capacity.Clusters;
import dev.bourse.checkpoint.CheckpointService;
import dev.bourse.core.Lazy;
import dev.bourse.edge.Dispatcher;
import dev.bourse.edge.Edge;
import dev.bourse.edge.Operations;
import dev.bourse.events.ChangeWaits;
import dev.bourse.hardware.HardwareMetrics;
import dev.bourse.jobs.BackgroundJob;
import dev.bourse.market.MarketService;
import dev.bourse.mcp.BidWriteTool;
import dev.bourse.mcp.BillingReadTool;
import dev.bourse.mcp.CapacityReadTool;
import dev.bourse.mcp.CheckpointReadTool;
import dev.bourse.mcp.CheckpointWriteTool;
import dev.bourse.mcp.ConfirmTokens;
import dev.bourse.mcp.GridApiTool;
import dev.bourse.mcp.HandshakeSessions;
import dev.bourse.mcp.HardwareReadTool;
import dev.bourse.mcp.MarketReadTool;
import dev.bourse.mcp.McpRoutes;
import dev.bourse.mcp.McpService;
import dev.bourse.mcp.McpStore;
import dev.bourse.mcp.RestReads;
import dev.bourse.mcp.RoadmapReadTool;
import dev.bourse.mcp.ServiceDescription;
import dev.bourse.mcp.SkillReadTool;
import dev.bourse.mcp.SshKeyWriteTool;
import dev.bourse.mcp.Tool;
import dev.bourse.mcp.WhoamiTool;
import dev.bourse.org.OrgService;
import dev.bourse.org.WhoamiView;
import dev.bourse.roadmap.Roadmap;
import dev.bourse.sshkeys.SshKeyService;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Assembles the MCP server, by which language models act for members. */
final class McpServer {
  /** The contracts with reads offered by the tools; checkpoints have tools of their own. */
  private static final Set<String> READABLE = Set.of("vm", "org", "market", "billing", "k8s");

  private static final long SWEEP_MILLIS = 600_000;

  /**
   * The features that tools call.
   *
   * @param capacity of the VM surface
   * @param k8s of the Kubernetes surface
   * @param meeting see {@link dev.bourse.capacity.ClusterOwners#meetNamed}
   */
  record Services(
      CapacityService capacity,
      ChangeWaits waits,
      CapacityService k8s,
      Clusters clusters,
      HardwareMetrics hardware,
      MarketService market,
      BillingService billing,
      SshKeyService keys,
      OrgService org,
      WhoamiView whoami,
      CheckpointService checkpoints,
      Roadmap roadmap,
      Function<String, Future<Void>> meeting) {}

  private final ServiceContext context;
  private final Services services;
  private final ConfirmTokens confirms;
  private final HandshakeSessions sessions;
  private volatile @Nullable Lazy<McpService> service;

  private McpServer(
      ServiceContext context,
      Services services,
      ConfirmTokens confirms,
      HandshakeSessions sessions) {
    this.context = context;
    this.services = services;
    this.confirms = confirms;
    this.sessions = sessions;
  }

  /** Binds the operations; they work once {@link #reachedBy} was called. */
  static Future<McpServer> start(
      ServiceContext context, Database database, Services services, Operations operations) {
    McpStore store = new McpStore(database);
    ServiceSecrets secrets =
        new ServiceSecrets(database, context.secrets(database), context.random());
    context.keepUp(
        BackgroundJob.onConfirmedTime(
            BackgroundJob.Place.ONE_PROCESS,
            "delete-confirm-tokens",
            "deleting used confirm tokens",
            SWEEP_MILLIS,
            store::sweep));
    return Future.all(secrets.get("mcp-confirm"), secrets.get("mcp-session"))
        .map(
            both -> {
              McpServer server =
                  new McpServer(
                      context,
                      services,
                      new ConfirmTokens(both.resultAt(0), store, context.clock(), context.random()),
                      new HandshakeSessions(
                          both.resultAt(1), store, context.clock(), context.random()));
              new McpRoutes(server::service).bind(operations);
              return server;
            });
  }

  private McpService service() {
    return Objects.requireNonNull(service, "not reached yet").get();
  }

  /**
   * Receives the API for the tools' descriptions and calls. The long descriptions are composed by
   * {@link #warmUp}, or by the first call.
   */
  void reachedBy(Edge edge) {
    ServiceDescription reference = new ServedDescription(context.vertx(), edge);
    service =
        new Lazy<>(
            () ->
                new McpService(
                    tools(edge, reference),
                    reference,
                    sessions,
                    version(),
                    services.meeting(),
                    HttpServers::translate));
  }

  /** Composes the tools' descriptions. Blocks. */
  void warmUp() {
    service();
  }

  private static String version() {
    return Optional.ofNullable(McpServer.class.getPackage().getImplementationVersion()).orElse("0");
  }

  private List<Tool> tools(Edge edge, ServiceDescription reference) {
    List<Tool> tools = new ArrayList<>();
    tools.add(new WhoamiTool(services.org(), services.whoami()));
    tools.add(new CapacityReadTool(services.capacity(), services.waits(), services.k8s()));
    tools.add(new BidWriteTool(services.capacity(), services.k8s(), confirms));
    tools.add(new SshKeyWriteTool(services.keys(), confirms));
    tools.add(new MarketReadTool(services.market()));
    tools.add(new BillingReadTool(services.billing()));
    tools.add(new HardwareReadTool(services.clusters(), services.hardware()));
    if (services.checkpoints().config().enabled()) {
      tools.add(new CheckpointReadTool(services.checkpoints()));
      tools.add(new CheckpointWriteTool(services.checkpoints(), confirms));
    }
    tools.add(new SkillReadTool(reference));
    tools.add(new RoadmapReadTool(services.roadmap()));
    tools.add(new GridApiTool(grid(edge.dispatcher(READABLE))));
    return tools;
  }

  private static RestReads grid(Dispatcher reads) {
    return new RestReads() {
      @Override
      public List<String> list() {
        return reads.list().stream()
            .map(reading -> reading.path() + ": " + reading.summary())
            .toList();
      }

      @Override
      public Optional<Scope> findScope(String target) {
        return reads.find(target).map(Dispatcher.ReadOperation::scope);
      }

      @Override
      public Future<Buffer> call(Principal caller, String target) {
        return reads.call(caller, target);
      }
    };
  }
}
