package dev.bourse.app;

import dev.bourse.access.AccessConfig;
import dev.bourse.audit.AuditConfig;
import dev.bourse.billing.BillingConfig;
import dev.bourse.capacity.CapacityConfig;
import dev.bourse.checkpoint.CheckpointConfig;
import dev.bourse.core.BaseUrl;
import dev.bourse.core.IpAddress;
import dev.bourse.core.Settings;
import dev.bourse.edge.EdgeConfig;
import dev.bourse.edge.ManagementConfig;
import dev.bourse.edge.limits.DownloadPace;
import dev.bourse.edge.limits.EdgeLimits;
import dev.bourse.edge.limits.IpNetwork;
import dev.bourse.edge.limits.ProcessLimits;
import dev.bourse.edge.limits.SharedBudgetConfig;
import dev.bourse.edge.tls.TlsConfig;
import dev.bourse.keyring.SecretConfig;
import dev.bourse.logs.LogConfig;
import dev.bourse.mail.MailConfig;
import dev.bourse.market.MarketConfig;
import dev.bourse.nodes.IdRange;
import dev.bourse.nodes.SimulatedConfig;
import dev.bourse.nodes.SshConfig;
import dev.bourse.oauth.OAuthConfig;
import dev.bourse.org.ScimConfig;
import dev.bourse.scrub.ScrubConfig;
import dev.bourse.signin.SignInConfig;
import dev.bourse.store.postgres.PostgresConfig;
import dev.bourse.store.postgres.PostgresUrl;
import dev.bourse.traces.TraceConfig;
import dev.bourse.webhooks.WebhookConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;

/**
 * The configuration of a process.
 *
 * @param data the data folder
 * @param log how the log is written
 * @param traces where traces are sent; empty for none
 * @param settingsSummary the given settings in the form for the log
 * @param postgres the server that keeps the store; empty for the embedded one
 * @param acceptedDamage {@code store.accept-wal-damage}: the accepted damage of the embedded
 *     store's log, as the refusal to start names it; empty for none
 * @param confirmAfterMillis {@code time.confirm-after}: how long a clock must run steadily before
 *     irreversible work trusts it, in milliseconds
 * @param eventLoops {@code event-loops}: one for each core by default
 * @param edge how the API is served
 * @param sharedBudgets the server that counts tokens' requests for several processes
 * @param management where health and metrics are served
 * @param loopTimeoutMillis an event loop that is silent for this many milliseconds ends the
 *     process; 0 for never
 * @param drainMillis how long requests are still taken after a stop is announced, in milliseconds
 * @param storeWatch when a store counts as away, and data read from it as stale
 * @param secret the keys that encrypt shared secrets
 * @param access how members' tokens are signed
 * @param audit how records are sealed and how long they are kept
 * @param capacity the capacity feature
 * @param market the market
 * @param billing money
 * @param checkpoints published files
 * @param blobs where their bytes are stored
 * @param scrub the check of their stored bytes
 * @param simulated simulated machines
 * @param ssh real machines, when {@code nodes.ssh.identity-file} is set
 * @param scim the directory of members, when {@code directory.kind} is {@code scim}
 * @param mail how mail is sent
 * @param signIn how members sign in
 * @param oauth how applications are identified
 * @param webhooks how webhooks are sent
 * @param installEnabled {@code install.enabled}: whether the command line is served for
 *     installation
 * @param world a world file to seed the store from
 * @param roadmap {@code roadmap.file}: the operator's roadmap
 */
public record Config(
    Path data,
    LogConfig log,
    Optional<TraceConfig> traces,
    String settingsSummary,
    Optional<PostgresConfig> postgres,
    String acceptedDamage,
    long confirmAfterMillis,
    int eventLoops,
    EdgeConfig edge,
    Optional<SharedBudgetConfig> sharedBudgets,
    ManagementConfig management,
    long loopTimeoutMillis,
    long drainMillis,
    StoreWatchConfig storeWatch,
    SecretConfig secret,
    AccessConfig access,
    AuditConfig audit,
    CapacityConfig capacity,
    MarketConfig market,
    BillingConfig billing,
    CheckpointConfig checkpoints,
    BlobSettings blobs,
    ScrubConfig scrub,
    SimulatedConfig simulated,
    Optional<SshConfig> ssh,
    Optional<ScimConfig> scim,
    MailConfig mail,
    SignInConfig signIn,
    OAuthConfig oauth,
    WebhookConfig webhooks,
    boolean installEnabled,
    Optional<Path> world,
    Optional<Path> roadmap) {

  /** The burst of an address is a quarter of its minute: 300 of 1,200. */
  private static final int BURSTS_PER_MINUTE = 4;

  private static final int MAX_BUDGET = 1_000_000_000;
  private static final Duration MAX_WAIT = Duration.ofHours(1);
  private static final int MAX_CONNECTIONS = 1_000_000;

  /** The settings are not usable; the message lists every fault. */
  public static final class InvalidConfigException extends Exception {
    private static final long serialVersionUID = 1;

    InvalidConfigException(List<String> faults) {
      super(String.join("\n", faults));
    }
  }

  /** The name of the data folder as a store. */
  public static final String LOCAL_BLOBS = BlobSettings.LOCAL;

  /** The names of all stores that may hold the bytes of checkpoints. */
  public List<String> blobStores() {
    return blobs.names();
  }

  /**
   * Maps settings onto records.
   *
   * @param found faults of the file they come from, reported together with theirs
   * @throws InvalidConfigException listing all faults
   */
  public static Config from(Settings settings, Path data, List<String> found)
      throws InvalidConfigException {
    List<String> faults = new ArrayList<>(found);
    LogConfig log = LogConfig.from(settings);
    Optional<TraceConfig> traces = TraceConfig.from(settings);
    SecretConfig secret = SecretConfig.from(settings, data);
    AccessConfig access = AccessConfig.from(settings);
    AuditConfig audit = AuditConfig.from(settings);
    CapacityConfig capacity = CapacityConfig.from(settings);
    MarketConfig market =
        MarketConfig.from(settings, capacity.tickMillis(), capacity.swapFreshnessMillis());
    BillingConfig billing = BillingConfig.from(settings);
    CheckpointConfig checkpoints = CheckpointConfig.from(settings);
    BlobSettings blobs = BlobSettings.from(settings);
    ScrubConfig scrub = ScrubConfig.from(settings);
    SimulatedConfig simulated = simulated(settings);
    int cores = Runtime.getRuntime().availableProcessors();
    long confirmAfterMillis =
        settings.millis(
            "time.confirm-after", Duration.ofMinutes(10), Duration.ZERO, Duration.ofHours(24));
    int eventLoops = settings.integer("event-loops", cores, 1, 1_024);
    int port = settings.integer("port", 8080, 0, 65_535);
    Optional<TlsConfig> tls = TlsConfig.from(settings);
    ManagementConfig management = ManagementConfig.from(settings, port == 0 ? 0 : 8081, tls);
    long loopTimeoutMillis =
        settings.millis("event-loop-timeout", Duration.ofMinutes(1), Duration.ZERO, MAX_WAIT);
    long drainMillis =
        settings.millis("drain-delay", Duration.ofSeconds(2), Duration.ZERO, MAX_WAIT);
    StoreWatchConfig storeWatch = StoreWatchConfig.from(settings);
    Optional<EdgeConfig> edge =
        checked(
            faults, () -> edge(settings, port, tls, checkpoints.contentUrl(), log.slowMillis()));
    Optional<SharedBudgetConfig> sharedBudgets = SharedBudgetConfig.from(settings);
    Optional<Optional<SshConfig>> ssh = checked(faults, () -> ssh(settings));
    Optional<PostgresConfig> postgres = PostgresConfig.from(settings);
    String acceptedDamage = settings.text("store.accept-wal-damage", "");
    checkStoreUrl(settings);
    Optional<ScimConfig> scim = ScimConfig.from(settings);
    MailConfig mail = MailConfig.from(settings);
    SignInConfig signIn = SignInConfig.from(settings);
    OAuthConfig oauth = OAuthConfig.from(settings);
    WebhookConfig webhooks = WebhookConfig.from(settings);
    boolean installEnabled = settings.flag("install.enabled", true);
    String world = settings.text("world", "");
    String roadmap = settings.text("roadmap.file", "");
    faults.addAll(settings.faults());
    if (!faults.isEmpty()) {
      throw new InvalidConfigException(faults);
    }
    return new Config(
        data,
        log,
        traces,
        settings.summary(),
        postgres,
        acceptedDamage,
        confirmAfterMillis,
        eventLoops,
        edge.orElseThrow(),
        sharedBudgets,
        management,
        loopTimeoutMillis,
        drainMillis,
        storeWatch,
        secret,
        access,
        audit,
        capacity,
        market,
        billing,
        checkpoints,
        blobs,
        scrub,
        simulated,
        ssh.orElseThrow(),
        scim,
        mail,
        signIn,
        oauth,
        webhooks,
        installEnabled,
        world.isEmpty() ? Optional.empty() : Optional.of(Path.of(world)),
        roadmap.isEmpty() ? Optional.empty() : Optional.of(Path.of(roadmap)));
  }

  private static void checkStoreUrl(Settings settings) {
    String store = settings.text("store.url", "sqlite");
    if (!store.equals("sqlite") && !PostgresUrl.isOne(store)) {
      settings.fault(
          "store.url",
          store,
          "sqlite, the embedded store in the data folder, or postgres://user@host:port/database");
    }
  }

  private static EdgeConfig edge(
      Settings settings, int port, Optional<TlsConfig> tls, String contentUrl, long slowMillis) {
    String baseUrl = baseUrl(settings, tls.isPresent());
    int perMinute = settings.integer("limits.edge-per-minute", 1_200, 0, MAX_BUDGET);
    Set<String> proxies = new TreeSet<>();
    for (String proxy : settings.text("proxies", "").split("[, ]+", -1)) {
      if (IpAddress.canonical(proxy).isPresent() || IpNetwork.parse(proxy).isPresent()) {
        proxies.add(proxy);
      } else if (!proxy.isEmpty()) {
        settings.fault(
            "proxies",
            proxy,
            "IP addresses, or networks such as 10.0.0.0/8, with commas between them");
      }
    }
    boolean isProxied = settings.flag("proxy.protocol", false);
    if (isProxied && proxies.isEmpty()) {
      settings.fault(
          "proxies", "", "the addresses of the connecting proxies, because proxy.protocol is true");
    }
    return new EdgeConfig(
        settings.text("host", "127.0.0.1"),
        port,
        baseUrl,
        contentHost(settings, contentUrl, baseUrl),
        settings.integer("limits.requests-per-minute", 300, 0, MAX_BUDGET),
        perMinute,
        settings.integer(
            "limits.edge-burst", Math.max(1, perMinute / BURSTS_PER_MINUTE), 1, MAX_BUDGET),
        proxies,
        isProxied && !proxies.isEmpty(),
        EdgeLimits.in(room(settings, tls.isPresent())).withPace(pace(settings)),
        slowMillis,
        tls);
  }

  private static DownloadPace pace(Settings settings) {
    DownloadPace usual = DownloadPace.standard();
    return new DownloadPace(
        (int) settings.bytes("limits.download-rate", usual.minBytesPerSecond(), 0, MAX_BUDGET),
        settings.millis(
            "limits.download-window",
            Duration.ofMillis(usual.windowMillis()),
            Duration.ofSeconds(1),
            Duration.ofHours(1)));
  }

  private static ProcessLimits room(Settings settings, boolean isSecure) {
    ProcessLimits fit = ProcessLimits.ofProcess(isSecure);
    int connections = settings.integer("limits.connections", fit.connections(), 1, MAX_CONNECTIONS);
    return fit.withConnections(
        connections,
        settings.integer(
            "limits.connections-per-address",
            Math.max(1, connections / ProcessLimits.SHARES),
            1,
            MAX_CONNECTIONS));
  }

  /**
   * Browsers send cookies to all ports of a host, so strangers' bytes need a host name of their
   * own.
   */
  private static String contentHost(Settings settings, String contentUrl, String baseUrl) {
    if (contentUrl.isEmpty()) {
      return "";
    }
    String host = BaseUrl.hostOf(contentUrl);
    String pages = baseUrl.isEmpty() ? "localhost" : BaseUrl.hostOf(baseUrl);
    if (host.equals(pages)) {
      settings.fault(
          "checkpoints.content-url",
          contentUrl,
          "an address at another host than base-url's, " + pages);
    }
    return host;
  }

  private static String baseUrl(Settings settings, boolean isSecure) {
    String url = settings.text("base-url", "");
    if (isSecure && BaseUrl.isOne(url) && !url.startsWith("https:")) {
      settings.fault("base-url", url, "an https:// address, because tls.cert is set");
      return "";
    }
    if (url.isEmpty() || BaseUrl.isOne(url)) {
      return url;
    }
    settings.fault("base-url", url, BaseUrl.ACCEPTED);
    return "";
  }

  private static SimulatedConfig simulated(Settings settings) {
    return new SimulatedConfig(
        settings.millis(
            "nodes.simulated.provision-delay",
            Duration.ofSeconds(5),
            Duration.ZERO,
            Duration.ofHours(1)),
        settings.millis(
            "nodes.simulated.reclaim-delay",
            Duration.ofSeconds(3),
            Duration.ZERO,
            Duration.ofHours(1)),
        settings.fraction("nodes.simulated.failure-rate", 0));
  }

  private static Optional<SshConfig> ssh(Settings settings) {
    String identityFile = settings.text("nodes.ssh.identity-file", "");
    SshConfig usual = SshConfig.defaults(Path.of(identityFile));
    SshConfig ssh =
        new SshConfig(
            settings.text("nodes.ssh.admin-user", usual.adminUser()),
            Path.of(identityFile),
            settings.text("nodes.ssh.tenant-user", usual.tenantUser()),
            settings.flag("nodes.ssh.own-ids", usual.hasOwnIds()),
            IdRange.parse(settings.text("nodes.ssh.id-range", usual.idRange().toString())),
            settings.text("nodes.ssh.authorized-keys-path", usual.authorizedKeysPath()),
            settings.text("nodes.ssh.mark-path", usual.markPath()),
            usual.runPath(),
            settings.text("nodes.ssh.prepare-command", usual.prepareCommand()),
            settings.text("nodes.ssh.end-sessions-command", usual.endSessionsCommand()),
            settings.text("nodes.ssh.wipe-command", usual.wipeCommand()),
            settings.text("nodes.ssh.reimage-command", usual.reimageCommand()),
            settings.millis(
                "nodes.ssh.reimage-timeout",
                Duration.ofMillis(usual.reimageTimeoutMillis()),
                Duration.ofMillis(100),
                Duration.ofDays(1)),
            settings.flag("nodes.ssh.check-hardware", usual.checksHardware()),
            settings.text("nodes.ssh.check-command", usual.checkCommand()),
            settings.millis(
                "nodes.ssh.connect-timeout",
                Duration.ofMillis(usual.connectTimeoutMillis()),
                Duration.ofMillis(100),
                Duration.ofMinutes(2)),
            settings.millis(
                "nodes.ssh.command-timeout",
                Duration.ofMillis(usual.commandTimeoutMillis()),
                Duration.ofMillis(100),
                Duration.ofHours(2)),
            settings.integer("nodes.ssh.attempts", usual.attempts(), 1, 10),
            settings.millis(
                "nodes.ssh.retry-delay",
                Duration.ofMillis(usual.retryDelayMillis()),
                Duration.ofMillis(1),
                Duration.ofMinutes(1)),
            settings.integer("nodes.ssh.max-concurrent", usual.maxConcurrent(), 1, 256),
            usual.maxWaiting());
    return identityFile.isEmpty() ? Optional.empty() : Optional.of(ssh);
  }

  /** A record rejects its values with a message that names the faulty one. */
  private static <T> Optional<T> checked(List<String> faults, Supplier<T> make) {
    try {
      return Optional.of(make.get());
    } catch (IllegalArgumentException refused) {
      faults.add(refused.getMessage());
      return Optional.empty();
    }
  }
}
