package dev.bourse.faults;

import dev.bourse.history.History;
import dev.bourse.history.History.Row;
import dev.bourse.history.History.State;
import dev.bourse.history.History.Stored;
import dev.bourse.history.RecordedOperation.Kind;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.ToIntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The demo world, served by one or more processes, and its clients. */
final class FaultWorld {
  /** Clusters that are written to, and whose they are. */
  static final Map<String, String> CLUSTERS =
      new TreeMap<>(
          Map.of("acme-train", "acme", "globex-main", "globex", "openlab-main", "openlab"));

  static final List<String> ORGS = List.of("acme", "globex");

  /** How clients name keys and tokens; the demo's own have no digits. */
  static final Pattern OURS = Pattern.compile("[kt]\\d+-\\d+");

  /** How much longer than an idle machine this one may take. */
  static final double PATIENCE =
      Double.parseDouble(System.getenv().getOrDefault("SMOKE_PATIENCE", "1"));

  /** A replica follows within a second; a machine with two cores that runs all of this adds two. */
  private static final long LAG_MICROS = (long) (3_000_000 * PATIENCE);

  /** For work to go on, on a machine that is busy. */
  private static final int PATIENT_SECONDS = 30;

  private static final Pattern PUT =
      Pattern.compile(
          "max_gpus=(\\d+) max_price_per_gpu_hour=([\\d.]+)(?: release=\\S+)? version=(\\d+)");
  private static final Pattern NAMED = Pattern.compile("name=(\\S+)");
  private static final Pattern TOKEN_ID = Pattern.compile("token_id=(\\S+)");

  /** Nothing of the demo's own pace: writes may follow at once, nodes come and go quickly. */
  private static final List<String> SETTINGS =
      List.of(
          "event-loops=2",
          "drain-delay=0",
          "market.tick=50ms",
          "market.protection=0",
          "market.notice=0",
          "market.lease=1s",
          "capacity.write-cadence=0",
          "nodes.simulated.provision-delay=10ms",
          "nodes.simulated.reclaim-delay=10ms",
          "limits.requests-per-minute=0",
          "limits.edge-per-minute=0",
          "store.connect-timeout=2s",
          "store.acquire-timeout=2s",
          "store.query-timeout=2s");

  private final Run run;
  private final Path folder;
  private final Recorder recorder = new Recorder();
  private final List<ServiceProcess> processes = new ArrayList<>();
  private final Writers writers;
  private JsonObject orgs = new JsonObject();
  private String operatorToken = "";

  FaultWorld(Run run, String name) throws IOException {
    this.run = run;
    folder = Files.createDirectories(run.folder().resolve(name));
    writers = new Writers(this, run.seed());
    run.begin(this);
  }

  /** Adds a process; settings given go before the usual ones. */
  ServiceProcess add(String name, Path where, List<String> settings) {
    List<String> all = new ArrayList<>(settings);
    Set<String> given =
        settings.stream().map(s -> s.substring(0, s.indexOf('='))).collect(Collectors.toSet());
    SETTINGS.stream()
        .filter(s -> !given.contains(s.substring(0, s.indexOf('='))))
        .forEach(all::add);
    ServiceProcess process =
        new ServiceProcess(name, where, folder.resolve(name + ".log"), run.launch(), all);
    processes.add(process);
    return process;
  }

  ServiceProcess add(String name, List<String> settings) {
    return add(name, folder, settings);
  }

  Path folder() {
    return folder;
  }

  Recorder recorder() {
    return recorder;
  }

  List<ServiceProcess> processes() {
    return processes;
  }

  ServiceProcess process(int number) {
    return processes.get(number);
  }

  /** The JVM, its options and the jar. */
  List<String> launch() {
    return run.launch();
  }

  Plant plant() {
    return run.plant();
  }

  /** Starts all processes, the first alone, for it makes the world. */
  void startProcesses() throws InterruptedException, IOException {
    for (ServiceProcess process : processes) {
      process.start();
    }
    Path data = process(0).data();
    JsonObject demo = new JsonObject(Files.readString(data.resolve("demo.json")));
    orgs = demo.getJsonObject("orgs");
    operatorToken = demo.getString("operator_token");
  }

  /** Starts all processes, then the clients. */
  void start() throws InterruptedException, IOException {
    startProcesses();
    Random random = new Random(run.seed());
    for (String org : Set.copyOf(CLUSTERS.values())) {
      JsonObject key = new JsonObject().put("name", "laptop").put("public_key", Keys.next(random));
      ask(org, "POST", "/api/vm/orgs/" + org + "/ssh-keys", key);
    }
    writers.start();
    untilWritten("the first writes", 20);
  }

  /** Has the clients make fewer requests, because faults of this world last for seconds. */
  void calm() {
    writers.calm();
  }

  String token(String org) {
    return orgs.getJsonObject(org).getJsonObject("tokens").getString("orgwide");
  }

  String memberToken(String org, String username) {
    return orgs.getJsonObject(org)
        .getJsonObject("members")
        .getJsonObject(username)
        .getString("member_token");
  }

  String operatorToken() {
    return operatorToken;
  }

  static String keysOf(String org) {
    return "keys of " + org;
  }

  static String tokensOf(String org) {
    return "tokens of " + org;
  }

  /** Asks the first process, which must answer with success. */
  JsonObject ask(String org, String method, String path, JsonObject... body) {
    return Http.ok(
        String.valueOf(process(0).baseUrl()),
        method,
        path,
        token(org),
        body.length == 0 ? null : body[0]);
  }

  /**
   * Waits until so many more writes are acknowledged by each process that answers, and as many
   * declarations by all together.
   */
  void untilWritten(String what, int more) {
    int before = declarations();
    untilAcknowledged(PATIENT_SECONDS, what, more, recorder::writes);
    until("declarations: " + what, PATIENT_SECONDS, () -> declarations() >= before + more);
  }

  private int declarations() {
    return processes.stream().mapToInt(process -> recorder.declarations(process.name())).sum();
  }

  /** The same of declarations alone, within so many seconds for each. */
  void untilDeclared(int seconds, String what, int more) {
    untilAcknowledged(seconds, what, more, recorder::declarations);
  }

  private void untilAcknowledged(
      int seconds, String what, int more, ToIntFunction<String> acknowledged) {
    for (ServiceProcess process : processes) {
      if (process.baseUrl() != null) {
        int before = acknowledged.applyAsInt(process.name());
        until(
            what + " at " + process.name(),
            seconds,
            () -> acknowledged.applyAsInt(process.name()) >= before + more);
      }
    }
  }

  /**
   * Polls until something is so.
   *
   * @param seconds the limit on an idle machine
   */
  static void until(String what, int seconds, BooleanSupplier isSo) {
    long patient = (long) (seconds * PATIENCE);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(patient);
    while (!isSo.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        throw new ViolatedException("not within " + patient + " s: " + what);
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
    }
  }

  void stopWriters() throws InterruptedException {
    writers.stop();
  }

  /** What clients saw, with what is stored in the end. */
  History history(Stored stored) {
    return new History(LAG_MICROS, recorder.operations(), recorder.windows(), stored);
  }

  /** What is stored now; all processes answer and no client is at work. */
  Stored stored() {
    for (String cluster : CLUSTERS.keySet()) {
      until(
          "all processes show one version of " + cluster,
          20,
          () -> processes.stream().map(p -> state(p, cluster).version()).distinct().count() == 1);
    }
    Map<String, State> states = new HashMap<>();
    CLUSTERS.keySet().forEach(cluster -> states.put(cluster, state(process(0), cluster)));
    Map<String, Set<String>> sets = new HashMap<>();
    List<Row> trail = new ArrayList<>();
    for (String org : Set.copyOf(CLUSTERS.values())) {
      trail.addAll(trail(org));
    }
    for (String org : ORGS) {
      sets.put(
          keysOf(org),
          Writers.ours(ask(org, "GET", "/api/vm/orgs/" + org + "/ssh-keys").getJsonArray("keys"))
              .collect(Collectors.toSet()));
      sets.put(tokensOf(org), liveTokens(org));
    }
    return new Stored(states, sets, trail);
  }

  private State state(ServiceProcess process, String cluster) {
    JsonObject state =
        Http.ok(
            String.valueOf(process.baseUrl()),
            "GET",
            "/api/vm/capacity?cluster=" + cluster,
            token(String.valueOf(CLUSTERS.get(cluster))),
            null);
    return new State(state.getLong("version"), Writers.declared(state));
  }

  private Set<String> liveTokens(String org) {
    JsonArray live = new JsonArray();
    String after = "";
    boolean more = true;
    while (more) {
      JsonObject page =
          Http.ok(
              String.valueOf(process(0).baseUrl()),
              "GET",
              "/api/operator/orgs/" + org + "/tokens?limit=500" + after,
              operatorToken,
              null);
      for (Object one : page.getJsonArray("tokens")) {
        JsonObject token = (JsonObject) one;
        after = "&after=" + token.getString("token_id");
        if (token.getString("revoked_at") == null) {
          live.add(token);
        }
      }
      more = page.getBoolean("more");
    }
    return Writers.ours(live).collect(Collectors.toSet());
  }

  /** All rows of the organization's trail about what clients of this run write. */
  private List<Row> trail(String org) {
    List<JsonObject> entries = new ArrayList<>();
    String before = "";
    boolean more = true;
    while (more) {
      JsonObject page = ask(org, "GET", "/api/org/activity?limit=500" + before);
      page.getJsonArray("entries").forEach(entry -> entries.add((JsonObject) entry));
      more = page.getBoolean("more");
      before = more ? "&before=" + entries.get(entries.size() - 1).getInteger("id") : "";
    }
    Map<String, String> names = new HashMap<>();
    for (JsonObject entry : entries) {
      if (entry.getString("action").equals("vm_token_mint")) {
        String detail = entry.getString("detail");
        names.put(found(TOKEN_ID, detail), found(NAMED, detail));
      }
    }
    List<Row> rows = new ArrayList<>();
    Set<Long> seen = new HashSet<>();
    for (JsonObject entry : entries) {
      if (!seen.add(entry.getLong("id"))) {
        throw new ViolatedException("two rows of the trail have the id " + entry.getLong("id"));
      }
      rowOf(org, entry, names).ifPresent(rows::add);
    }
    return rows;
  }

  private static Optional<Row> rowOf(String org, JsonObject entry, Map<String, String> tokenNames) {
    String detail = entry.getString("detail");
    return switch (entry.getString("action")) {
      case "vm_capacity_put" ->
          CLUSTERS.containsKey(entry.getString("subject"))
              ? put(entry.getString("subject"), detail)
              : Optional.empty();
      case "vm_key_add" -> ours(Kind.ADD, keysOf(org), found(NAMED, detail));
      case "vm_key_revoke" -> ours(Kind.REMOVE, keysOf(org), found(NAMED, detail));
      case "vm_token_mint" -> ours(Kind.ADD, tokensOf(org), found(NAMED, detail));
      case "vm_token_revoke" ->
          ours(
              Kind.REMOVE,
              tokensOf(org),
              tokenNames.getOrDefault(found(TOKEN_ID, detail), "nobody"));
      default -> Optional.empty();
    };
  }

  private static Optional<Row> put(String cluster, String detail) {
    Matcher told = PUT.matcher(detail);
    if (!told.find()) {
      throw new ViolatedException("the row of a declaration is not understood: " + detail);
    }
    return Optional.of(
        new Row(
            Kind.WRITE,
            cluster,
            Long.parseLong(told.group(3)),
            told.group(1) + " at " + told.group(2)));
  }

  private static Optional<Row> ours(Kind kind, String set, String name) {
    return OURS.matcher(name).matches()
        ? Optional.of(new Row(kind, set, 0, name))
        : Optional.empty();
  }

  private static String found(Pattern pattern, String text) {
    Matcher matcher = pattern.matcher(text);
    return matcher.find() ? matcher.group(1) : "";
  }
}
