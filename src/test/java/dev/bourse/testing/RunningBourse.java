package dev.bourse.testing;

import dev.bourse.app.EmbeddedService;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.SegmentReads;
import dev.bourse.audit.TrailEntry;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Command;
import dev.bourse.core.Secrets;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import dev.bourse.store.sqlite.SqliteConfig;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.sql.SQLException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A whole service in this process, on a free port and a temporary data folder, with the waits of a
 * real one shortened and its budgets off unless a test sets them.
 */
public final class RunningBourse implements AutoCloseable {
  private static final long DEADLINE_SECONDS = 60;

  /** How an operator's row ends. */
  private static final Pattern OPERATOR_TOKEN =
      Pattern.compile(" ?operator_token=[0-9A-Za-z]{12}$");

  private static final Map<String, String> SETTINGS =
      Map.ofEntries(
          Map.entry("port", "0"),
          // Otherwise all tests that name the API's port would want 8081, two processes at a time.
          Map.entry("management.port", "0"),
          Map.entry("event-loops", "2"),
          Map.entry("drain-delay", "0"),
          Map.entry("market.tick", "50ms"),
          Map.entry("market.protection", "1h"),
          // Nodes change hands within two ticks; what notice does is tested where it is set.
          Map.entry("market.notice", "0"),
          Map.entry("capacity.write-cadence", "0"),
          Map.entry("nodes.simulated.provision-delay", "20ms"),
          Map.entry("nodes.simulated.reclaim-delay", "20ms"),
          Map.entry("limits.requests-per-minute", "0"),
          Map.entry("limits.edge-per-minute", "0"));

  private final Path data;
  private final Clock clock;
  private final String[] settings;
  private final StatementRecord record;
  private final String storeUrl;
  private final EmbeddedService service;
  private final JsonObject orgs;
  private final AtomicInteger marketsTaken = new AtomicInteger();
  private boolean stopped;

  private RunningBourse(@Nullable String world, SqliteConfig store, String... settings) {
    this(world, store, Clock.systemUTC(), settings);
  }

  private RunningBourse(
      @Nullable String world, SqliteConfig store, Clock clock, String... settings) {
    this(
        newFolder(),
        world,
        store,
        clock,
        new StatementRecord(ReplayedOnPostgres.Switch.isOn()),
        settings);
  }

  private RunningBourse(
      Path data,
      @Nullable String world,
      SqliteConfig store,
      Clock clock,
      StatementRecord record,
      String... settings) {
    this.record = record;
    this.clock = clock;
    this.data = data;
    this.settings = settings.clone();
    try {
      Map<String, String> values = new LinkedHashMap<>(SETTINGS);
      // Else nothing would be posted or swept for minutes.
      values.put("time.confirm-after", "0");
      for (String setting : settings) {
        String[] pair = setting.split("=", 2);
        values.put(pair[0], pair[1]);
      }
      if (!values.containsKey("store.url")) {
        values.put("store.url", TestStore.url(data));
      }
      for (String setting : TestStore.patience()) {
        String[] pair = setting.split("=", 2);
        values.putIfAbsent(pair[0], pair[1]);
      }
      storeUrl = Objects.requireNonNull(values.get("store.url"));
      if (storeUrl.equals("sqlite")) {
        TestStore.create(data.resolve("bourse.db"));
      }
      if (world != null) {
        values.put("world", Files.writeString(data.resolve("world.yaml"), world).toString());
      }
      // A clock of the test's own that does not step is believed on every engine.
      boolean asksServer = !(clock instanceof SteppingClock own) || own.asksServer();
      service =
          new EmbeddedService(
              values, data, world == null, store, clock, asksServer, record::around);
      await(service.start());
      Path keys = data.resolve(world == null ? "demo.json" : "world.json");
      orgs = new JsonObject(Files.readString(keys)).getJsonObject("orgs");
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** The demo world. */
  public static RunningBourse demo(String... settings) {
    return new RunningBourse(null, SqliteConfig.defaults(), settings);
  }

  /** A world of so many markets, one for each test that needs a market to itself. */
  public static RunningBourse withMarkets(int markets, String... settings) {
    return withMarkets(markets, SqliteConfig.defaults(), settings);
  }

  public static RunningBourse withMarkets(int markets, SqliteConfig store, String... settings) {
    return new RunningBourse(TestMarket.world(markets), store, settings);
  }

  /** The same by a clock of the test's own. */
  public static RunningBourse withMarkets(int markets, Clock clock, String... settings) {
    return new RunningBourse(TestMarket.world(markets), SqliteConfig.defaults(), clock, settings);
  }

  /** A world of the test's own, by a clock of its own. */
  public static RunningBourse world(String world, Clock clock, String... settings) {
    return new RunningBourse(world, SqliteConfig.defaults(), clock, settings);
  }

  /** A world of the test's own. */
  public static RunningBourse world(String world, String... settings) {
    return new RunningBourse(world, SqliteConfig.defaults(), settings);
  }

  /** The demo world by a clock of the test's own. */
  public static RunningBourse demo(Clock clock, String... settings) {
    return new RunningBourse(null, SqliteConfig.defaults(), clock, settings);
  }

  /** The demo world of a data folder that another process left behind. */
  public static RunningBourse over(Path data, String... settings) {
    return new RunningBourse(
        data,
        null,
        SqliteConfig.defaults(),
        Clock.systemUTC(),
        new StatementRecord(false),
        settings);
  }

  /** Stops the service and starts it anew on the same data, with the same world. */
  public RunningBourse restarted() {
    return restartedWith(settings);
  }

  /** The same with other settings. */
  public RunningBourse restartedWith(String... others) {
    stop();
    try {
      Path world = data.resolve("world.yaml");
      return new RunningBourse(
          data,
          Files.exists(world) ? Files.readString(world) : null,
          SqliteConfig.defaults(),
          clock,
          record,
          others);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public static Path newFolder() {
    try {
      return Files.createTempDirectory("bourse-test");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A market no other test has. */
  public TestMarket market() {
    return TestMarket.of(this, marketsTaken.incrementAndGet());
  }

  /** A client with one of an organization's tokens. */
  public ApiClient as(String org, String token) {
    return with(secret(org, token));
  }

  /** The text of one of an organization's tokens. */
  public String secret(String org, String token) {
    return Objects.requireNonNull(
        orgs.getJsonObject(org).getJsonObject("tokens").getString(token), org + " " + token);
  }

  /** A client with a member's token. */
  public ApiClient asMember(String org, String username) {
    return with(memberToken(org, username));
  }

  /** The text of a member's token. */
  public String memberToken(String org, String username) {
    return Objects.requireNonNull(
        orgs.getJsonObject(org)
            .getJsonObject("members")
            .getJsonObject(username)
            .getString("member_token"),
        org + " " + username);
  }

  /** A browser in which a member has signed in just now, with what its pages send. */
  public ApiClient inSession(String org, String username) {
    return inSession(startSession(org, username));
  }

  /** A browser that has a session's cookie, with what its pages send. */
  public ApiClient inSession(String secret) {
    return new ApiClient(
        service.baseUrl(),
        null,
        "Cookie",
        "bourse=" + secret,
        "X-CSRF-Token",
        Secrets.derived(secret, "csrf"));
  }

  /** A browser in which the first operator has signed in just now, with what its pages send. */
  public ApiClient inOperatorSession() {
    return inOperatorSession(startOperatorSession());
  }

  /** A browser that has the cookie of an operator's session, with what its pages send. */
  public ApiClient inOperatorSession(String secret) {
    return new ApiClient(
        service.baseUrl(),
        null,
        "Cookie",
        "bourse-operator=" + secret,
        "X-CSRF-Token",
        Secrets.derived(secret, "csrf"));
  }

  /** The secret of a new session of the first operator. */
  public String startOperatorSession() {
    return sessionSecret(signInOperator(operatorToken()));
  }

  /** What whoever has this operator's token is answered at the sign-in. */
  public HttpAnswer signInOperator(String token) {
    return with(null).post("/api/operator/session", new JsonObject().put("token", token));
  }

  /** The secret of the session that such an answer begins. */
  public static String sessionSecret(HttpAnswer signedIn) {
    signedIn.ok();
    String cookie = signedIn.header("set-cookie");
    return cookie.substring(cookie.indexOf('=') + 1, cookie.indexOf(';'));
  }

  /** The secret of a new session of a member. */
  public String startSession(String org, String username) {
    String secret = Secrets.next(new SecureRandom());
    long now = clock.millis();
    await(
        database()
            .commit(
                List.of(
                    Statement.of(
                        "INSERT INTO member_session (session_sha256, org_id, username, created_at,"
                            + " seen_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
                        Secrets.stored(secret),
                        org,
                        username,
                        now,
                        now,
                        now + TimeUnit.DAYS.toMillis(7)))));
    return secret;
  }

  /** The files of uploads or blobs that are on the disk. */
  public List<String> files(String area) {
    return paths(area).stream().map(file -> String.valueOf(file.getFileName())).toList();
  }

  /** The file on the disk that holds the bytes of an item of a single file. */
  public Path blob(String itemId) {
    return paths("blobs").stream()
        .filter(file -> String.valueOf(file.getFileName()).startsWith(itemId))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no bytes of " + itemId));
  }

  /** Names alone are read: a file may go while its folder is looked at. */
  private List<Path> paths(String area) {
    List<Path> found = new ArrayList<>();
    Path all = data.resolve("checkpoints").resolve(area);
    for (String folder : Objects.requireNonNull(all.toFile().list(), all.toString())) {
      Path inside = all.resolve(folder);
      for (String name : Objects.requireNonNull(inside.toFile().list(), folder)) {
        found.add(inside.resolve(name));
      }
    }
    return found;
  }

  /** A client with the first operator's token. */
  public ApiClient operator() {
    return with(operatorToken());
  }

  /** The first operator's token. */
  public String operatorToken() {
    try {
      return new JsonObject(Files.readString(data.resolve("operator.json")))
          .getString("operator_token");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The credential of the agent of the first node that a cluster holds. */
  public String nodeCredential(String cluster) {
    Allocation held =
        service.clusters().find(cluster).orElseThrow().cluster().allocations().stream()
            .filter(Allocation::isOpen)
            .findFirst()
            .orElseThrow();
    return service.nodeCredentials().issue(held.allocationId()).orElseThrow();
  }

  /** A client with this token, or with none. */
  public ApiClient with(@Nullable String token) {
    return new ApiClient(service.baseUrl(), token);
  }

  /** What {@code /readyz} answers: empty when it is ready, else why not. */
  public String unready() {
    ApiClient monitor = new ApiClient("http://127.0.0.1:" + service.managementPort(), null);
    HttpResponse<byte[]> answer = monitor.fetch("GET", "/readyz");
    return answer.statusCode() == 200 ? "" : new String(answer.body(), StandardCharsets.UTF_8);
  }

  public EmbeddedService service() {
    return service;
  }

  public Path data() {
    return data;
  }

  /** Returns the store, for a test's own statements. */
  public Database database() {
    return record.forTest();
  }

  /** What the service runs on. */
  public Vertx vertx() {
    return service.vertx();
  }

  /** Where the rows are. */
  public String storeUrl() {
    return storeUrl;
  }

  /** Has an operator's command carried out on a cluster. */
  public Cluster steer(String cluster, Command command) {
    return await(service.owners().submit(cluster, command).map(ClusterView::cluster));
  }

  /**
   * An organization's audit rows of writes, or of reads, oldest first, but for those of the tokens
   * its world file lists; those of operators without the token that each names, which is another at
   * each start of a store.
   */
  public List<AuditRow> audit(String orgId, boolean reads) {
    List<TrailEntry> rows =
        await(
            database()
                .read(
                    "SELECT id, ts, actor, action, subject, detail FROM audit"
                        + " WHERE org_id = ? AND is_read = ? AND actor <> 'system:operator'",
                    List.of(orgId, reads),
                    row ->
                        new TrailEntry(
                            row.integer("id"),
                            row.integer("ts"),
                            row.text("actor"),
                            row.text("action"),
                            row.text("subject"),
                            row.text("detail"))));
    List<List<TrailEntry>> segments =
        reads
            ? await(
                database()
                    .read(
                        SegmentReads.SELECT + "WHERE org_id = ?",
                        List.of(orgId),
                        SegmentReads::entries))
            : List.of();
    return Stream.concat(rows.stream(), segments.stream().flatMap(List::stream))
        .sorted(Comparator.comparingLong(TrailEntry::id))
        .map(
            e ->
                new AuditRow(
                    e.atMillis(),
                    orgId,
                    e.actor(),
                    e.action(),
                    e.subject(),
                    OPERATOR_TOKEN.matcher(e.detail()).replaceFirst("")))
        .toList();
  }

  /** Polls until the condition holds. */
  public static void until(String what, BooleanSupplier condition) {
    Polls.until(what, condition);
  }

  public static <T> T await(Future<T> future) {
    try {
      return future
          .toCompletionStage()
          .toCompletableFuture()
          .get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  /** A fresh public key, in the form clients register. */
  public static String keyLine() {
    try {
      byte[] encoded =
          KeyPairGenerator.getInstance("Ed25519").generateKeyPair().getPublic().getEncoded();
      byte[] kind = "ssh-ed25519".getBytes(StandardCharsets.US_ASCII);
      ByteBuffer wire =
          ByteBuffer.allocate(8 + kind.length + 32)
              .putInt(kind.length)
              .put(kind)
              .putInt(32)
              .put(encoded, encoded.length - 32, 32);
      return "ssh-ed25519 " + Base64.getEncoder().encodeToString(wire.array()) + " test";
    } catch (GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }

  /** Stops the service in order; the data folder stays until {@link #close}. */
  public void stop() {
    if (!stopped) {
      stopped = true;
      await(service.stop());
    }
  }

  /** Nothing this service ran may read the whole of a table that grows, or differ on PostgreSQL. */
  private void checkStatements() {
    try {
      List<String> faults = new ArrayList<>(StatementPlans.faults(record.texts(), storeUrl, data));
      if (record.isReplayed() && storeUrl.equals("sqlite")) {
        faults.addAll(PostgresReplay.differences(record, data));
      }
      if (!faults.isEmpty()) {
        throw new AssertionError(String.join("\n", faults));
      }
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() {
    stop();
    checkStatements();
    TestStore.drop(data);
    try {
      TestStore.delete(data);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
