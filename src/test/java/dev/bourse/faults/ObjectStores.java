package dev.bourse.faults;

import dev.bourse.blob.s3.S3Config;
import dev.bourse.core.Ports;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Two replicas with their files in an object store behind a network, killed, frozen and cut off
 * while clients upload: large files by programs of others, then many at once. Then, undisturbed, a
 * set of files is published twice, of which one changed.
 *
 * <p>The environment says which store ({@code SMOKE_S3_STORE}, an address as of {@code
 * checkpoints.store}; its bucket is made here), where Google's client is, and how much of each.
 */
final class ObjectStores implements Scenario {
  static final String NAME = "s3";

  private static final String ORG = "acme";
  private static final long MIB = TestBytes.MIB;
  private static final long PART = 16 * MIB;

  /** What a request has sent that its process has not taken: buffers on the way. */
  private static final long BUFFERS = 8 * MIB;

  /** What is sent about the files of a set. */
  private static final long ABOUT = 2 * MIB;

  private static final String LARGE = "large-";
  private static final String SMALL = "small-";
  private static final String SET = "model";

  /** What a machine with a quick disk takes, of all uploads together. */
  private static final long BYTES_A_MILLI = 200_000;

  private static final int LARGE_MINUTES = 30;
  private static final int SMALL_MINUTES = 30;

  /** Of so many small uploads one is never committed. */
  private static final int ABANDONED_ONE_IN = 8;

  /** What the steps share. */
  private record Stage(
      FaultWorld world,
      String token,
      FaultyProxy entrance,
      StoredObjects objects,
      Disturbance disturbance,
      Random random,
      Programs programs,
      ExecutorService threads) {}

  @Override
  public int minutes() {
    return 60;
  }

  @Override
  public void run(Run run) throws Exception {
    FaultWorld world = new FaultWorld(run, NAME);
    String address = Run.setting("SMOKE_S3_STORE");
    S3Config config = S3Config.parse(address, Optional.empty());
    StoredObjects.makeBucket(config);
    URI endpoint = config.endpoint().orElseThrow();
    String database = run.postgres().newDatabase();
    try (FaultyProxy network = new FaultyProxy(endpoint.getPort(), run.seed());
        FaultyProxy entrance = entrance(world);
        Connection rows = run.postgres().connect(database);
        StoredObjects objects = new StoredObjects(config, rows)) {
      addReplicas(
          world,
          "store.url=" + database,
          "checkpoints.store=" + address.replace(":" + endpoint.getPort(), ":" + network.port()),
          // What members' tokens are made for, whichever process is asked.
          "base-url=http://127.0.0.1:" + entrance.port());
      Random random = new Random(run.seed());
      ExecutorService threads = Executors.newCachedThreadPool();
      try {
        Stage stage =
            new Stage(
                world,
                world.memberToken(ORG, "alice"),
                entrance,
                objects,
                new Disturbance(world, network, random.nextLong(), threads),
                random,
                new Programs(world.folder()),
                threads);
        show(stage);
      } finally {
        threads.shutdownNow();
      }
    }
    for (ServiceProcess process : world.processes()) {
      process.kill();
      requireCalm(process);
    }
  }

  /** To whichever process is there, to one and the other in turn. */
  private static FaultyProxy entrance(FaultWorld world) throws IOException {
    Random turns = new Random(0);
    return new FaultyProxy(
        () -> {
          int turn = turns.nextInt(2);
          ServiceProcess one = world.process(turn);
          return one.baseUrl() == null ? world.process(1 - turn).port() : one.port();
        },
        0);
  }

  private static void addReplicas(FaultWorld world, String... settings) throws Exception {
    for (String name : List.of("first", "second")) {
      List<String> all = new ArrayList<>(List.of(settings));
      all.add("management.port=0");
      all.add("checkpoints.sweep-interval=200ms");
      all.add("checkpoints.deletion-delay=0");
      // No fault of the database is played here, and a cold process on a busy machine is slow.
      all.add("store.connect-timeout=10s");
      all.add("store.acquire-timeout=10s");
      all.add("store.query-timeout=10s");
      ServiceProcess process = world.add(name, all);
      process.listenAt(Ports.free());
      // With it they share what signs members' tokens.
      process.environment("BOURSE_SECRET_KEY", "5".repeat(64));
    }
    world.startProcesses();
  }

  private static void show(Stage stage) throws Exception {
    List<FilePublication> published = new ArrayList<>(sendLarge(stage));
    List<FilePublication> abandoned = new ArrayList<>();
    sendMany(stage, published, abandoned);
    stage.disturbance.end();
    for (FilePublication publication : published) {
      publication.requireReadable();
    }
    requireListed(stage, published);
    stage.objects.requireAsTheRowsSay();
    System.out.printf(
        "faults: %d files acknowledged are readable at both, %d others are not published, the store"
            + " holds what the rows say%n",
        published.size(), abandoned.size());
    Optional<String> set = publishSet(stage);
    published.addAll(abandoned);
    for (FilePublication publication : published) {
      publication.delete();
    }
    if (set.isPresent()) {
      call(stage, "DELETE", "/api/checkpoints/" + set.get());
    }
    requireNothingLeft(stage);
  }

  /** One file by curl and one by Google's client, where that is, at once. */
  private static List<FilePublication> sendLarge(Stage stage) throws Exception {
    long length = Math.round(Double.parseDouble(Run.setting("SMOKE_S3_GIB")) * 1024) * MIB;
    if (length == 0) {
      return List.of();
    }
    TestBytes bytes = new TestBytes(length, stage.random.nextLong());
    Path file = bytes.write(stage.world.folder().resolve(LARGE + "file"));
    long began = System.nanoTime();
    Map<String, Programs.Sending> clients = new TreeMap<>(Map.of("curl", Programs.curl(file)));
    String google = Run.setting("SMOKE_S3_GOOGLE");
    if (!google.isEmpty()) {
      clients.put("google", stage.programs.google(Path.of(google), file));
    }
    List<Future<FilePublication>> sending = new ArrayList<>();
    clients.forEach(
        (name, client) ->
            sending.add(stage.threads.submit(() -> sendLarge(stage, bytes, name, client))));
    List<FilePublication> sent = new ArrayList<>();
    for (Future<FilePublication> one : sending) {
      sent.add(one.get());
    }
    System.out.printf(
        "faults: %d files of %d MiB in %d s%n",
        sent.size(), length / MIB, TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began));
    Files.delete(file);
    return sent;
  }

  private static FilePublication sendLarge(
      Stage stage, TestBytes bytes, String name, Programs.Sending client) throws Exception {
    FilePublication item =
        new FilePublication(stage.world, stage.token, LARGE + name, bytes, LARGE_MINUTES);
    item.announce();
    int before = stage.disturbance.faults();
    try (FaultyProxy entrance = entrance(stage.world)) {
      int runs = stage.programs.send(item, client, "http://127.0.0.1:" + entrance.port());
      item.commit();
      int faults = stage.disturbance.faults() - before;
      long twice = entrance.bytesToServer() - item.length();
      String told =
          "%s: %d MiB, %d faults, %d runs, %d MiB sent twice"
              .formatted(name, item.length() / MIB, faults, runs, twice / MIB);
      // A store that is cut off for long refuses a client more than once.
      if (twice > Math.max(faults + 1, runs) * (PART + BUFFERS)) {
        throw new ViolatedException(told);
      }
      System.out.println("faults: " + told);
    }
    return item;
  }

  private static void sendMany(
      Stage stage, List<FilePublication> published, List<FilePublication> abandoned)
      throws Exception {
    int uploads = Run.number("SMOKE_S3_UPLOADS");
    long length = Run.number("SMOKE_S3_UPLOAD_MIB") * MIB;
    // Whose process dies loses the part under way: between two deaths some have to finish theirs.
    stage.disturbance.leave(uploads * Math.min(length, PART) / BYTES_A_MILLI);
    long began = System.nanoTime();
    List<Future<?>> sending = new ArrayList<>();
    for (int i = 0; i < uploads; i++) {
      TestBytes bytes = new TestBytes(length + i, stage.random.nextLong());
      FilePublication item =
          new FilePublication(stage.world, stage.token, SMALL + i, bytes, SMALL_MINUTES);
      boolean isAbandoned = i % ABANDONED_ONE_IN == 0;
      (isAbandoned ? abandoned : published).add(item);
      sending.add(
          stage.threads.submit(
              () -> {
                item.announce();
                item.send(isAbandoned ? item.length() / 2 : item.length());
                if (!isAbandoned) {
                  item.commit();
                }
                return item;
              }));
    }
    for (Future<?> one : sending) {
      one.get();
    }
    System.out.printf(
        "faults: %d uploads of %d MiB at once in %d s; %s in all%n",
        uploads,
        length / MIB,
        TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began),
        stage.disturbance);
  }

  private static JsonObject call(Stage stage, String method, String path) {
    String base = String.valueOf(stage.world.process(0).baseUrl());
    return Http.ok(base, method, path, stage.token, null);
  }

  private static Set<String> listed(Stage stage, String names) {
    return call(stage, "GET", "/api/checkpoints?limit=500").getJsonArray("checkpoints").stream()
        .map(one -> (JsonObject) one)
        .filter(item -> item.getString("filename").matches(names + ".*"))
        // Who announced a file sees it before that.
        .filter(item -> item.getString("status").equals("ready"))
        .map(item -> item.getString("id"))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static void requireListed(Stage stage, List<FilePublication> published) {
    Set<String> expected =
        published.stream().map(FilePublication::id).collect(Collectors.toCollection(TreeSet::new));
    Set<String> listed = listed(stage, "(" + LARGE + "|" + SMALL + ")");
    if (!listed.equals(expected)) {
      throw new ViolatedException("listed are " + listed + ", acknowledged were " + expected);
    }
  }

  /** Publishes a folder, changes one file, publishes it again; gives the item, if there is one. */
  private static Optional<String> publishSet(Stage stage) throws Exception {
    int shards = Run.number("SMOKE_S3_SHARDS");
    long length = Run.number("SMOKE_S3_SHARD_MIB") * MIB;
    if (shards == 0) {
      return Optional.empty();
    }
    Path folder = Files.createDirectory(stage.world.folder().resolve(SET));
    for (int i = 0; i < shards; i++) {
      new TestBytes(length, stage.random.nextLong()).write(folder.resolve("shard-" + i));
    }
    long all = publish(stage, folder);
    new TestBytes(length, stage.random.nextLong()).write(folder.resolve("shard-0"));
    long again = publish(stage, folder);
    if (again > length + ABOUT) {
      throw new ViolatedException(
          again / MIB + " MiB were sent of a set of which one file changed");
    }
    String id = String.join(" ", listed(stage, SET));
    Path fetched = stage.world.folder().resolve("fetched");
    bourse(stage, "pull", id, "-o", fetched.toString());
    for (int i = 0; i < shards; i++) {
      Path shard = fetched.resolve("shard-" + i);
      if (Files.mismatch(folder.resolve(shard.getFileName()), shard) != -1) {
        throw new ViolatedException(shard + " is not what was published");
      }
    }
    System.out.printf(
        "faults: a set of %d files of %d MiB sent %.1f MiB, and once one had changed %.1f MiB;"
            + " fetched it is the same%n",
        shards, length / MIB, (double) all / MIB, (double) again / MIB);
    return Optional.of(id);
  }

  private static long publish(Stage stage, Path folder) throws Exception {
    long before = stage.entrance.bytesToServer();
    bourse(stage, "push", folder.toString());
    return stage.entrance.bytesToServer() - before;
  }

  /** {@code bourse checkpoint}. */
  private static void bourse(Stage stage, String command, String... arguments) throws Exception {
    List<String> line = new ArrayList<>(stage.world.launch());
    line.addAll(List.of("checkpoint", command));
    line.addAll(List.of(arguments));
    line.addAll(List.of("--url", "http://127.0.0.1:" + stage.entrance.port()));
    String folder = stage.world.folder().toString();
    stage.programs.require(
        "bourse-" + command, line, Map.of("BOURSE_TOKEN", stage.token, "XDG_CONFIG_HOME", folder));
  }

  private static void requireNothingLeft(Stage stage) {
    StoredObjects.Late late = stage.objects.requireNothing();
    if (late.uploads() > stage.disturbance.kills()) {
      throw new ViolatedException(late.uploads() + " uploads are open that nobody sends");
    }
    Set<String> parts = stage.objects.unknownParts();
    if (parts.size() > stage.disturbance.kills()) {
      throw new ViolatedException("parts are left of " + parts);
    }
    // What was opened late may hold objects, too, until it goes.
    if (!Run.setting("SMOKE_S3_WAIT").isEmpty() && late.uploads() == 0) {
      stage.objects.requireEmpty();
    }
    System.out.printf(
        "faults: all deleted: the store is empty but for %d objects that processes died over, which"
            + " go within five minutes, %d uploads that processes died over, which go within an"
            + " hour, and parts of %d that go within a day%n",
        late.objects(), late.uploads(), parts.size());
  }

  /** A fault of another process or of the store is no error in this one. */
  private static void requireCalm(ServiceProcess process) throws IOException {
    try (var lines = Files.lines(process.log())) {
      Optional<String> error =
          lines.filter(line -> line.contains("Unhandled") || line.contains("Error:")).findFirst();
      if (error.isPresent()) {
        throw new ViolatedException(
            process.name() + " logged " + error.get() + "; see " + process.log());
      }
    }
  }
}
