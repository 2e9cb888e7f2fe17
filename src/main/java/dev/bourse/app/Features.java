package dev.bourse.app;

import dev.bourse.access.LimitStore;
import dev.bourse.access.ServiceSecrets;
import dev.bourse.audit.SealService;
import dev.bourse.audit.TrailStore;
import dev.bourse.billing.BillingAdminService;
import dev.bourse.billing.BillingRoutes;
import dev.bourse.billing.SpendLimitService;
import dev.bourse.capacity.AlertRoutes;
import dev.bourse.capacity.AlertService;
import dev.bourse.capacity.BidderEvents;
import dev.bourse.capacity.CapacityRoutes;
import dev.bourse.capacity.CapacityService;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterAdminService;
import dev.bourse.capacity.Clusters;
import dev.bourse.capacity.K8sRoutes;
import dev.bourse.capacity.SelfService;
import dev.bourse.console.ClusterRoutes;
import dev.bourse.console.SpendingRoutes;
import dev.bourse.edge.Edge;
import dev.bourse.edge.Operations;
import dev.bourse.events.ActivityService;
import dev.bourse.events.ActivityStore;
import dev.bourse.events.ChangeWaits;
import dev.bourse.events.EventRoutes;
import dev.bourse.events.EventService;
import dev.bourse.events.HistoryStore;
import dev.bourse.feed.FeedRoutes;
import dev.bourse.hardware.HardwareMetrics;
import dev.bourse.hardware.HardwareRoutes;
import dev.bourse.install.InstallRoutes;
import dev.bourse.install.ProgramJar;
import dev.bourse.jobs.BackgroundJob;
import dev.bourse.jobs.JobService;
import dev.bourse.mail.MailSender;
import dev.bourse.market.HeldNodeRoutes;
import dev.bourse.market.MarketRoutes;
import dev.bourse.market.MarketStatus;
import dev.bourse.market.NodeService;
import dev.bourse.market.NoticePolls;
import dev.bourse.market.RetirementService;
import dev.bourse.notifications.Notifications;
import dev.bourse.oauth.AuthorizationServer;
import dev.bourse.operator.AuditAdminRoutes;
import dev.bourse.operator.BillingAdminRoutes;
import dev.bourse.operator.ClockRoutes;
import dev.bourse.operator.ClusterAdminRoutes;
import dev.bourse.operator.JobRoutes;
import dev.bourse.operator.NodeAdminRoutes;
import dev.bourse.operator.PoolAdminRoutes;
import dev.bourse.operator.StatusRoutes;
import dev.bourse.operator.SwitchRoutes;
import dev.bourse.org.Directory;
import dev.bourse.org.DomainProof;
import dev.bourse.org.JoinRuleService;
import dev.bourse.org.LocalDirectory;
import dev.bourse.org.OrgRoutes;
import dev.bourse.org.OrgService;
import dev.bourse.org.RosterService;
import dev.bourse.org.ScimDirectory;
import dev.bourse.org.WhoamiView;
import dev.bourse.pages.PageTemplates;
import dev.bourse.roadmap.Roadmap;
import dev.bourse.roadmap.RoadmapRoutes;
import dev.bourse.schemas.org.ServedVersionJson;
import dev.bourse.scrape.ScrapeRoutes;
import dev.bourse.signin.SignIn;
import dev.bourse.sshkeys.SshKeyRoutes;
import dev.bourse.status.StatusService;
import dev.bourse.store.Database;
import dev.bourse.trailstream.TrailStreams;
import dev.bourse.webhooks.Webhooks;
import io.vertx.core.Future;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Binds the operations of all interfaces to the services of the core. */
final class Features {
  /** Codes and grants live for minutes to days. */
  private static final long SWEEP_MILLIS = 3_600_000;

  /** A revoked credential ends within a second in every process; so does one of a lost node. */
  private static final long CREDENTIALS_MILLIS = 1_000;

  /** How soon an endpoint with too long a queue is switched off. */
  private static final long WEBHOOKS_MILLIS = 60_000;

  /** How soon a member gets a mail about an event: as soon as the next tick would tell. */
  private static final long NOTIFICATIONS_MILLIS = 10_000;

  /** How soon after its last day a rotated secret is deleted. */
  private static final long TRAIL_STREAMS_MILLIS = 60_000;

  private final ServiceContext context;
  private final Database database;
  private final long schema;
  private final ServiceCore core;
  private final Supplier<String> baseUrl;
  private final AccessControl access;
  private final Operations operations = new Operations();
  private volatile @Nullable McpServer mcp;
  private volatile @Nullable ChangeWaits waits;
  private volatile @Nullable NoticePolls polls;
  private volatile @Nullable HardwareMetrics hardware;
  private volatile @Nullable PageTemplates templates;
  private volatile Roadmap roadmap = Roadmap.EMPTY;

  /**
   * @param schema the version of the store's schema
   * @param baseUrl the service's address for clients; read when requests are served
   */
  Features(
      ServiceContext context,
      Database database,
      long schema,
      ServiceCore core,
      Supplier<String> baseUrl) {
    this.context = context;
    this.database = database;
    this.schema = schema;
    this.core = core;
    this.baseUrl = baseUrl;
    access = core.access();
  }

  /** Binds the operations; pages are compiled off the event loop in parallel. */
  Future<Void> start() {
    Future<PageTemplates> compiling =
        context
            .vertx()
            .executeBlocking(
                () ->
                    new PageTemplates(
                        Stream.of(
                                SignIn.TEMPLATES,
                                AuthorizationServer.TEMPLATES,
                                FeedRoutes.TEMPLATES,
                                Notifications.TEMPLATES,
                                InstallRoutes.TEMPLATES)
                            .flatMap(List::stream)
                            .toList()),
                false);
    operations.holdAuthority(new LimitStore(database)::requireNone);
    operations.meetClusters(core.owners()::meetNamed);
    CapacityService k8s = bindTenants();
    OrgService org = bindOrganization();
    bindOperators();
    new BillingRoutes(core.billing()).bind(operations);
    AuthorizationServer oauth =
        new AuthorizationServer(
            context.vertx(),
            context.config().oauth(),
            database,
            new AuthorizationServer.TokenIssuer(
                access.signingKeys(),
                access.memberTokens(),
                access.members(),
                access.revocations()),
            baseUrl,
            context.clock(),
            context.random());
    context.shutdown().push(oauth::close);
    context.keepUp(
        BackgroundJob.onConfirmedTime(
            BackgroundJob.Place.ONE_PROCESS,
            "delete-oauth-grants",
            "deleting expired codes and grants",
            SWEEP_MILLIS,
            oauth::sweep));
    context.keepUp(
        BackgroundJob.inOneProcess(
            "end-publishing-credentials",
            "ending publishing credentials whose node is reclaimed",
            CREDENTIALS_MILLIS,
            oauth::endCredentials));
    return readRoadmap()
        .compose(read -> Future.all(compiling, bindTools(k8s, org)))
        .compose(ready -> bindMembers(ready.resultAt(0), oauth, org));
  }

  private Future<Void> readRoadmap() {
    return context
        .vertx()
        .executeBlocking(
            () -> {
              Optional<Path> file = context.config().roadmap();
              if (file.isEmpty()) {
                return Roadmap.EMPTY;
              }
              try (Reader reader = Files.newBufferedReader(file.get())) {
                return Roadmap.read(file.get().toString(), reader);
              }
            },
            false)
        .onSuccess(
            read -> {
              roadmap = read;
              new RoadmapRoutes(read).bind(operations);
            })
        .mapEmpty();
  }

  /** Binds the operations of members, and all pages. */
  private Future<Void> bindMembers(PageTemplates pages, AuthorizationServer oauth, OrgService org) {
    templates = pages;
    MailSender mail = MemberSignIn.mail(context, database);
    bindWebhooks(mail);
    bindTrailStreams(mail);
    Future<Void> notifications = bindNotifications(mail);
    core.checkpoints()
        .bind(
            context.vertx(),
            operations,
            context.config().checkpoints(),
            context.clock(),
            pages,
            baseUrl);
    boolean isInstallable = bindInstallation(pages);
    return notifications
        .compose(
            started ->
                MemberSignIn.start(
                    context,
                    operations,
                    database,
                    access.members(),
                    oauth.applications(),
                    pages,
                    mail,
                    baseUrl,
                    isInstallable))
        .map(
            signIn -> {
              oauth.bind(operations, signIn.sessions(), pages);
              RosterService roster = roster();
              JoinRuleService rules = joinRules(signIn);
              MemberConsole.start(
                  context,
                  operations,
                  database,
                  access,
                  org,
                  roster,
                  rules,
                  signIn,
                  oauth.applications());
              OrgAdministration.start(
                  context,
                  operations,
                  database,
                  access,
                  roster,
                  rules,
                  core.orgs(),
                  billingAdmin(),
                  baseUrl);
              return null;
            });
  }

  /** Offers the command line, if this process runs from a jar; returns whether it does. */
  private boolean bindInstallation(PageTemplates pages) {
    Optional<ProgramJar> jar =
        context.config().installEnabled()
            ? context.program().flatMap(ProgramJar::open)
            : Optional.empty();
    jar.ifPresent(
        open ->
            context
                .shutdown()
                .push(
                    () -> {
                      open.close();
                      return Future.succeededFuture();
                    }));
    new InstallRoutes(context.vertx(), jar, ProgramVersion.text(), pages, baseUrl).bind(operations);
    return jar.isPresent();
  }

  private RosterService roster() {
    return new RosterService(
        database,
        access.tokens(),
        access.members(),
        access.revocations(),
        core.offboardings(),
        context.clock());
  }

  private JoinRuleService joinRules(SignIn signIn) {
    DomainProof proof =
        new DomainProof(
            context.vertx(), context.config().signIn().dnsServer(), DomainProof.TIMEOUT_MILLIS);
    context.shutdown().push(proof::close);
    return new JoinRuleService(database, context.clock(), context.random(), signIn.links(), proof);
  }

  private void bindWebhooks(MailSender mail) {
    Webhooks webhooks =
        Webhooks.start(
            context.vertx(),
            context.config().webhooks(),
            database,
            core.clusters(),
            new Webhooks.Ports(
                context.secrets(database),
                mail,
                baseUrl,
                context.clock(),
                context.nanoTime(),
                context.random(),
                context.jobs(),
                context.traces()));
    context.shutdown().push(webhooks::stop);
    webhooks.bind(operations);
    context.keepUp(
        BackgroundJob.onConfirmedTime(
            BackgroundJob.Place.ONE_PROCESS,
            "end-webhooks",
            "ending expired webhooks and deliveries",
            WEBHOOKS_MILLIS,
            webhooks::step));
    webhooks.registerMetrics(context.signals());
  }

  private Future<Void> bindNotifications(MailSender mail) {
    Notifications notifications =
        new Notifications(
            database,
            core.clusters(),
            new ServiceSecrets(database, context.secrets(database), context.random()),
            mail,
            baseUrl,
            context.clock(),
            context.time());
    notifications.bind(operations, Objects.requireNonNull(templates, "not started"));
    context.keepUp(
        BackgroundJob.inOneProcess(
            "mail-members",
            "mailing members the events that they chose",
            NOTIFICATIONS_MILLIS,
            notifications::step));
    context.keepUp(
        BackgroundJob.onConfirmedTime(
            BackgroundJob.Place.ONE_PROCESS,
            "delete-mail-choices",
            "deleting mail choices of members who left",
            SWEEP_MILLIS,
            notifications::prune));
    return notifications.start();
  }

  private void bindTrailStreams(MailSender mail) {
    TrailStreams streams =
        TrailStreams.start(
            context.vertx(),
            database,
            new TrailStreams.Ports(
                context.config().webhooks().privateHosts(),
                context.config().webhooks().retryMillis(),
                context.secrets(database),
                mail,
                baseUrl,
                context.clock(),
                context.nanoTime(),
                context.random(),
                context.jobs(),
                context.traces()));
    context.shutdown().push(streams::stop);
    streams.bind(operations);
    context.keepUp(
        BackgroundJob.onConfirmedTime(
            BackgroundJob.Place.ONE_PROCESS,
            "end-trail-streams",
            "ending expired trail streams",
            TRAIL_STREAMS_MILLIS,
            streams::step));
    streams.registerMetrics(context.signals());
  }

  /** Binds the tools of models. */
  private Future<Void> bindTools(CapacityService k8s, OrgService org) {
    return McpServer.start(
            context,
            database,
            new McpServer.Services(
                core.capacity(),
                Objects.requireNonNull(waits, "not started"),
                k8s,
                core.clusters(),
                Objects.requireNonNull(hardware, "not started"),
                core.market(),
                core.billing(),
                core.keys(),
                org,
                whoami(),
                core.checkpoints().checkpoints(),
                roadmap,
                core.owners()::meetNamed),
            operations)
        .onSuccess(server -> mcp = server)
        .mapEmpty();
  }

  /** Binds the operations of organizations' tokens on clusters and markets. */
  private CapacityService bindTenants() {
    Clusters clusters = core.clusters();
    new CapacityRoutes(core.capacity()).bind(operations);
    new SshKeyRoutes(core.keys()).bind(operations);
    ActivityStore activity = new ActivityStore(database);
    EventService events = new EventService(clusters, activity, core.reads(), context.clock());
    events.start();
    context.shutdown().push(events::stop);
    ChangeWaits changes = new ChangeWaits(events, clusters, activity, System::nanoTime);
    waits = changes;
    context
        .signals()
        .gauge("bourse_waits_running", "Waits for a change of a cluster.", changes::running);
    HistoryStore history = new HistoryStore(database);
    for (Cluster.Kind surface : Cluster.Kind.values()) {
      new AlertRoutes(surface, new AlertService(surface, clusters, core.owners())).bind(operations);
      new EventRoutes(
              surface,
              events,
              new ActivityService(surface, clusters, activity, history, context.clock()))
          .bind(operations);
    }
    new MarketRoutes(core.market()).bind(operations);
    NoticePolls notices =
        NoticePolls.start(
            context.vertx(),
            clusters,
            context.clock(),
            context.nanoTime(),
            // Half of the connections that streams leave to requests, and less than half of those
            // of one address, because the nodes of a site may share one.
            Math.max(1, context.config().edge().limits().room().connections() / 10));
    notices.registerMetrics(context.signals());
    polls = notices;
    new HeldNodeRoutes(database, clusters, notices).bind(operations);
    CapacityService k8s = core.capacity().on(Cluster.Kind.K8S);
    HardwareMetrics measured = new HardwareMetrics(clusters, context.clock(), context.nanoTime());
    hardware = measured;
    measured.registerMetrics(context.signals());
    new HardwareRoutes(measured).bind(operations);
    new ScrapeRoutes(context.vertx(), core.capacity(), k8s, measured, core.billing())
        .bind(operations);
    new K8sRoutes(k8s, measured::utilisation).bind(operations);
    return k8s;
  }

  private OrgService bindOrganization() {
    OrgService org =
        new OrgService(
            database, new TrailStore(database), directory(), access.tokens(), context.clock());
    new OrgRoutes(org, whoami()).bind(operations);
    return org;
  }

  private WhoamiView whoami() {
    return new WhoamiView(
        context.config().edge().requestsPerMinute(),
        new ServedVersionJson(ProgramVersion.text(), schema),
        cluster -> core.clusters().find(cluster).map(view -> view.prices().toJson()));
  }

  /** Binds the operators' operations, except those of {@link OrgAdministration}. */
  private void bindOperators() {
    Clusters clusters = core.clusters();
    ClusterAdminService clusterAdmin =
        new ClusterAdminService(clusters, core.owners(), core.holds(), context.clock());
    new ClusterAdminRoutes(clusterAdmin).bind(operations);
    BidderEvents bidders = new BidderEvents(database);
    context.keepUp(
        BackgroundJob.onConfirmedTime(
            BackgroundJob.Place.ONE_PROCESS,
            "delete-bidder-events",
            "deleting expired events of bidders",
            context.config().audit().retentionIntervalMillis(),
            bidders::deleteSome));
    new PoolAdminRoutes(core.pools(), bidders, context.clock()).bind(operations);
    NodeService nodes = new NodeService(database, clusters, core.market(), context.clock());
    new NodeAdminRoutes(
            nodes, new RetirementService(database, core.owners(), nodes, context.clock()))
        .bind(operations);
    JobService jobs = new JobService(database, context.jobs(), context.clock());
    new StatusRoutes(status(clusters), context.time()::view, jobs).bind(operations);
    new SwitchRoutes(core.switches()).bind(operations);
    new JobRoutes(jobs).bind(operations);
    new ClockRoutes(context.time()::view).bind(operations);
    new AuditAdminRoutes(new TrailStore(database), new SealService(context.vertx(), database))
        .bind(operations);
    BillingAdminService billingAdmin = billingAdmin();
    new BillingAdminRoutes(billingAdmin).bind(operations);
    bindSelfService(clusterAdmin, billingAdmin);
  }

  private BillingAdminService billingAdmin() {
    return new BillingAdminService(database, core.billing(), core.holds(), context.clock());
  }

  private StatusService status(Clusters clusters) {
    return new StatusService(
        database,
        new MarketStatus(database, clusters, context.clock()),
        new StatusService.ServingProcess(
            ProgramVersion.text(),
            core.market().processId(),
            () ->
                context
                    .vertx()
                    .executeBlocking(() -> DataFolder.disk(context.config().data()), false),
            context.time()::view));
  }

  /** Binds the operations by which members create and retire clusters themselves. */
  private void bindSelfService(ClusterAdminService clusterAdmin, BillingAdminService billingAdmin) {
    Config config = context.config();
    new ClusterRoutes(
            new SelfService(
                database,
                core.clusters(),
                core.owners(),
                clusterAdmin,
                config.capacity().maxClusters(),
                context.clock()))
        .bind(operations);
    new SpendingRoutes(
            new SpendLimitService(
                database,
                core.clusters(),
                billingAdmin,
                new SpendLimitService.Periods(
                    config.billing(),
                    config.market().protectionMillis(),
                    config.market().tickMillis()),
                context.clock()))
        .bind(operations);
  }

  /** The operations; complete after the start. */
  Operations operations() {
    return operations;
  }

  /** Receives the API that serves them, before its first request. */
  void reachedBy(Edge edge) {
    try {
      roadmap.requireOperations(
          edge.contracts().stream()
              .flatMap(contract -> contract.operationIds().stream())
              .collect(Collectors.toSet()));
    } catch (IOException unknown) {
      throw new UncheckedIOException(unknown);
    }
    Objects.requireNonNull(mcp, "not started").reachedBy(edge);
  }

  /** Answers all waiting requests, because the service stops. */
  Future<Void> endWaits() {
    Objects.requireNonNull(waits, "not started").end();
    Objects.requireNonNull(polls, "not started").end();
    return Future.succeededFuture();
  }

  /** Prepares work that the first callers would otherwise wait for. */
  void warmUp() {
    Objects.requireNonNull(templates, "not started").warmUp(context.vertx());
    McpServer tools = Objects.requireNonNull(mcp, "not started");
    context
        .vertx()
        .executeBlocking(
            () -> {
              tools.warmUp();
              return null;
            },
            false);
  }

  private Directory directory() {
    Directory directory =
        context
            .config()
            .scim()
            .<Directory>map(scim -> new ScimDirectory(context.vertx(), scim, context.clock()))
            .orElseGet(LocalDirectory::new);
    context.shutdown().push(directory::close);
    return directory;
  }
}
