package dev.bourse.faults;

import dev.bourse.core.Ports;
import dev.bourse.faults.FaultyProxy.Fault;
import dev.bourse.testing.Certificates;
import dev.bourse.testing.PostgresServer;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Two replicas on PostgreSQL, each behind a network of its own to it, and the faults that alerts
 * tell of there. The first has a clock that can be set, the second speaks TLS.
 */
final class AlertReplicas {
  /** As by default: on a busy machine a shorter one would be lost for no fault. */
  private static final int LEASE_SECONDS = 10;

  /**
   * The defaults by which the rules were chosen, shorter as those are ({@link AlertRules#SHORTER}),
   * and never so short that a busy machine alone would be late.
   */
  private static final List<String> SETTINGS =
      List.of(
          "market.tick=500ms",
          "market.lease=" + LEASE_SECONDS + "s",
          "store.probe-interval=500ms",
          "store.away-after=6s",
          "store.stale-after=8s",
          "store.compare-interval=2s",
          "store.connect-timeout=5s",
          "store.acquire-timeout=5s",
          "store.query-timeout=10s");

  /** What else may be so while processes are killed and started: a busy machine is slow at it. */
  static final Set<String> AT_STARTS =
      Set.of("BourseDown", "BourseMarketUntended", "BourseLoopHangs");

  /** The same while prices are refused: after a slow start those from before it are old as well. */
  private static final Set<String> AT_STARTS_WITHOUT_PRICES =
      Set.of("BourseDown", "BourseMarketUntended", "BourseLoopHangs", "BourseMarketLate");

  /**
   * What else may be so of a process that stood still, or a loop of it: it may have run the market,
   * and had a commit under way that nobody heard the answer to; a scrape may meet it before it is
   * up with what it missed.
   */
  private static final Set<String> STANDING_STILL =
      Set.of(
          "BourseMarketUntended",
          "BourseLoopHangs",
          "BourseStoreAway",
          "BourseKnowledgeStale",
          "BourseCommitsFail",
          "BourseOutcomeUnknown");

  private static final int CERTIFICATE_DAYS = 90;

  /** Less than the 14 that the rule asks for. */
  private static final int ENDING_DAYS = 5;

  /** Far from the five seconds of the rule, and less than any lease may be given for. */
  private static final int CLOCK_AHEAD_SECONDS = 60;

  private final PostgresServer server;
  private final FaultWorld world;
  private final String url;
  private final List<FaultyProxy> networks = new ArrayList<>();
  private final List<Integer> ports = new ArrayList<>();
  private final ServiceProcess first;
  private final ServiceProcess second;
  private final LibfaketimeClock clock;
  private final Certificates.Pem certificate;
  private final Path certificates;
  private int reserveCents = 100;
  private @Nullable StoppedLoop stopped;

  AlertReplicas(Run run, String name) throws IOException, SQLException {
    server = run.postgres();
    world = new FaultWorld(run, name);
    url = server.newDatabase();
    certificates = Files.createDirectories(world.folder().resolve("tls"));
    certificate = Certificates.make("EC", CERTIFICATE_DAYS);
    first = add("first", run.seed());
    second = add("second", run.seed() + 1, certificate.write(certificates));
    clock = new LibfaketimeClock(world.folder(), first);
  }

  private ServiceProcess add(String name, long seed, String... more) throws IOException {
    FaultyProxy network = new FaultyProxy(server.port(), seed);
    networks.add(network);
    int port = Ports.free();
    ports.add(port);
    List<String> settings = new ArrayList<>(SETTINGS);
    settings.addAll(List.of(more));
    settings.add("management.port=" + port);
    settings.add("store.url=" + url.replace(":" + server.port(), ":" + network.port()));
    return world.add(name, settings);
  }

  void start() throws IOException, InterruptedException {
    world.startProcesses();
  }

  /** Where the processes tell their numbers. */
  List<Integer> ports() {
    return ports;
  }

  /** Faults of the database and of the network to it. */
  List<AlertTrial> databaseTrials() {
    return List.of(
        AlertTrial.of(
            "ticks' prices refused by the database, both replicas killed and started",
            Set.of("BourseMarketSilent", "BourseTicksFail"),
            AT_STARTS_WITHOUT_PRICES,
            () -> {
              refusePrices();
              first.kill();
              second.kill();
              // Whoever has to wait for the lease computes prices meanwhile, and has them then.
              LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(LEASE_SECONDS + 1));
              first.start();
              second.start();
            },
            this::takePrices),
        AlertTrial.of(
            "ticks' prices refused by the database",
            Set.of("BourseTicksFail", "BourseMarketLate"),
            Set.of(),
            this::refusePrices,
            this::takePrices),
        new AlertTrial(
            "PostgreSQL stopped",
            Set.of(
                "BourseStoreAway", "BourseMarketUntended", "BourseKnowledgeStale", "BourseErrors"),
            Set.of("BourseCommitsFail", "BourseOutcomeUnknown", "BourseTicksFail"),
            server::stop,
            () -> ask("GET", "/api/market/feed"),
            server::startAgain),
        new AlertTrial(
            "a database slow to flush, and a network that breaks meanwhile",
            Set.of("BourseOutcomeUnknown"),
            Set.of("BourseCommitsFail", "BourseMarketUntended", "BourseTicksFail"),
            this::slowCommits,
            this::breakNetwork,
            () -> server.execute(url, "DROP TRIGGER linger ON probe; DROP FUNCTION linger()")));
  }

  /** Faults of a process, its clock and its files. */
  List<AlertTrial> processTrials() {
    return List.of(
        AlertTrial.of(
            "a clock of one replica set a minute ahead",
            Set.of("BourseClockApart"),
            Set.of(),
            () -> clock.set(CLOCK_AHEAD_SECONDS),
            () -> clock.set(0)),
        AlertTrial.of(
            "a process frozen (SIGSTOP)",
            Set.of("BourseDown"),
            STANDING_STILL,
            second::freeze,
            second::thaw),
        AlertTrial.of(
            "an event loop's thread stopped",
            Set.of("BourseLoopHangs"),
            STANDING_STILL,
            () -> stopped = StoppedLoop.of(second, this::isScraped),
            () -> {
              if (stopped != null) {
                stopped.letGo();
              }
            }),
        AlertTrial.of(
            "a certificate of " + ENDING_DAYS + " days put in place of one of " + CERTIFICATE_DAYS,
            Set.of("BourseCertificateEnds"),
            Set.of(),
            () -> Certificates.make("EC", ENDING_DAYS).write(certificates),
            () -> certificate.write(certificates)),
        AlertTrial.of(
            "a token revoked in the database, past the service",
            Set.of("BourseChangesUntold"),
            Set.of(),
            () ->
                server.execute(
                    url,
                    "UPDATE token SET revoked_at = 1"
                        + " WHERE org_id = 'openlab' AND name = 'readonly'"),
            AlertTrial.Step.NONE),
        AlertTrial.of(
            "the newest commits gone from the log, as after a fail-over that lost them",
            Set.of("BourseStoreSetBack"),
            Set.of(),
            () -> server.execute(url, "DELETE FROM commit_log"),
            AlertTrial.Step.NONE));
  }

  /** What the market has to store is refused, and it has something to store. */
  private void refusePrices() throws SQLException {
    // As long as prices are taken: whoever the market is.
    reserveCents += 10;
    server.execute(
        url,
        """
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'refused'; END $$;
        CREATE TRIGGER refuse BEFORE INSERT ON price_point EXECUTE FUNCTION refuse()
        """);
    Http.ok(
        String.valueOf(first.baseUrl()),
        "PATCH",
        "/api/operator/pools/demo-h100",
        world.operatorToken(),
        new JsonObject().put("reserve_price_per_gpu_hour", reserveCents / 1e2));
  }

  private void takePrices() throws SQLException {
    server.execute(url, "DROP TRIGGER refuse ON price_point; DROP FUNCTION refuse()");
  }

  /** Asks the first something, whatever it answers. */
  private void ask(String method, String path) throws IOException {
    Http.send(String.valueOf(first.baseUrl()), method, path, world.token("acme"), null);
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200));
  }

  /** So that a commit of a look at the store is under way more often than not. */
  private void slowCommits() throws SQLException {
    server.execute(
        url,
        """
        CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_sleep(0.3); RETURN NULL; END $$;
        CREATE CONSTRAINT TRIGGER linger AFTER INSERT ON probe DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION linger()
        """);
  }

  private void breakNetwork() {
    networks.get(0).set(Fault.RESET);
    networks.get(0).set(Fault.NONE);
    LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(2));
  }

  /** Whether the second still tells its numbers: else the loop is the one that does. */
  private boolean isScraped() {
    try {
      HttpURLConnection asked =
          (HttpURLConnection)
              URI.create("http://127.0.0.1:" + ports.get(1) + "/metrics").toURL().openConnection();
      int patient = (int) (5_000 * FaultWorld.PATIENCE);
      asked.setConnectTimeout(patient);
      asked.setReadTimeout(patient);
      return asked.getResponseCode() == 200;
    } catch (IOException silent) {
      return false;
    }
  }
}
