package dev.bourse.simulation;

import dev.bourse.app.BareProcess;
import dev.bourse.blob.BlobNotFoundException;
import dev.bourse.blob.BlobStore;
import dev.bourse.nodes.NodeProvider;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The state of a simulation: true time, the database, the machines, the processes and their clocks,
 * the clients with their answers, and the network's faults.
 */
final class World implements AutoCloseable {
  static final String POOL = "h100";
  static final int GPUS_PER_NODE = 8;

  /** Delay before a process that failed to start is started again. */
  private static final long SUPERVISOR_MILLIS = 3_000;

  final Scale scale;
  final Scheduler scheduler;
  final Trace trace;
  final SimulatedClock serverClock;
  final DatabaseServer server;
  final Weather weather;
  final Machines machines;
  final Clients clients;
  final Bookings bookings;
  final MoneyTerms terms;
  final MarketSettings settings;
  final AccessClients access;
  final UploadClients uploads;
  private final Bug bug;
  private final SplittableRandom random;
  private final Path data;
  private final long beginMillis;
  private final List<Slot> slots = new ArrayList<>();
  private @Nullable ViolationException violation;
  private boolean isHealed;
  private Runnable afterSetBack = () -> {};

  /** Separates this draw from all others, which use the same seed. */
  private static final long REIMAGED_SALT = 0x696d616765L;

  /** A place for one process after the other, on one machine with one wall clock. */
  static final class Slot {
    final int index;
    final SimulatedClock wall;
    final Weather.Route route;
    final Disk disk;
    @Nullable Replica replica;
    @Nullable Link link;
    int incarnations;

    Slot(int index, SimulatedClock wall, Weather.Route route, Disk disk) {
      this.index = index;
      this.wall = wall;
      this.route = route;
      this.disk = disk;
    }
  }

  /**
   * @param seed decides all random choices
   * @param traceLines lines of the trace to keep
   * @param bug the planted bug; {@link Bug#NONE} for none
   */
  World(Scale scale, long seed, int traceLines, Bug bug) throws Exception {
    this.scale = scale;
    this.bug = bug;
    settings = MarketSettings.of(seed);
    random = new SplittableRandom(seed);
    data = Files.createTempDirectory(memoryDisk(), "simulation");
    scheduler = new Scheduler(random.split());
    trace = new Trace(scheduler::nowNanos, traceLines);
    terms = MoneyTerms.drawn(random.split());
    beginMillis =
        MoneyTerms.beginMillis(
            Instant.parse("2026-03-31T20:00:00Z").toEpochMilli(), random.split());
    serverClock = clock();
    weather = new Weather(random.split(), scheduler::nowNanos);
    server = new DatabaseServer(serverClock, data);
    machines = new Machines(scheduler, trace, weather);
    machines.areReimaged = new SplittableRandom(seed ^ REIMAGED_SALT).nextInt(4) == 0;
    clients = new Clients(this);
    bookings = new Bookings(this);
    access = new AccessClients(this);
    uploads = new UploadClients(this);
    for (int i = 0; i < scale.replicas(); i++) {
      SimulatedClock wall = clock();
      slots.add(new Slot(i, wall, weather.route(), new Disk(wall, weather.disk())));
    }
    server.watch(this::wakeOthers);
    bug.begin(this);
  }

  /** A memory disk, if there is one, because each start flushes some small files. */
  private static Path memoryDisk() {
    Path shared = Path.of("/dev/shm");
    return Files.isWritable(shared) ? shared : Path.of(System.getProperty("java.io.tmpdir"));
  }

  private SimulatedClock clock() {
    return new SimulatedClock(scheduler::nowMillis, beginMillis);
  }

  /** Returns a folder for files of the simulation. */
  Path data() {
    return data;
  }

  /** Returns when the world began, by a right clock. */
  long beginMillis() {
    return beginMillis;
  }

  /** Returns a right clock's time. */
  long nowMillis() {
    return beginMillis + scheduler.nowMillis();
  }

  List<Slot> slots() {
    return slots;
  }

  /** Returns the processes that take requests. */
  List<Replica> ready() {
    List<Replica> ready = new ArrayList<>();
    for (Slot slot : slots) {
      if (slot.replica != null && slot.replica.isReady()) {
        ready.add(slot.replica);
      }
    }
    return ready;
  }

  /** Returns when a process last had a fault, other than of its clocks, in true time. */
  long lastTroubleNanos(Replica replica) {
    long last = replica.runsSinceNanos();
    for (Slot slot : slots) {
      if (slot.replica == replica) {
        last = Math.max(last, slot.route.lastTroubleNanos());
      }
    }
    return last;
  }

  /** Seeds the world's organizations, clusters and nodes into the store, by a process that ends. */
  void seed() {
    Replica seeding =
        new Replica(
            "seed",
            scheduler,
            trace,
            new SimulatedClock(scheduler::nowMillis, beginMillis),
            random.split());
    Link link =
        new Link(
            seeding, server, new Weather(random.split(), scheduler::nowNanos).route(), scheduler);
    boolean[] isSeeded = new boolean[1];
    BareProcess.Platform platform =
        platform(
            seeding,
            () -> Future.failedFuture(new BlobNotFoundException("a seeding process has no disk")));
    seeding.doNow(
        () ->
            BareProcess.seed(platform, link, scale.worldFile(machines.areReimaged))
                .onComplete(
                    done -> {
                      if (done.failed()) {
                        throw new IllegalStateException(done.cause());
                      }
                      isSeeded[0] = true;
                    }));
    long end = scheduler.nowNanos() + 10_000_000_000L;
    while (!isSeeded[0]) {
      if (!step(end)) {
        throw new IllegalStateException("the world could not be seeded");
      }
    }
    seeding.crash();
  }

  /** Starts a process in an empty slot. */
  void start(Slot slot) {
    Replica replica =
        new Replica(
            "p" + slot.index + "." + ++slot.incarnations,
            scheduler,
            trace,
            slot.wall,
            random.split());
    Link link = new Link(replica, server, slot.route, scheduler);
    replica.vertx().exceptionHandler(e -> unhandled(replica, e));
    slot.replica = replica;
    slot.link = link;
    replica.trace("starts");
    Database store = bug.around(link, this, slot);
    replica.start(
        started ->
            BareProcess.start(
                platform(
                    started,
                    () ->
                        Future.succeededFuture(
                            bug.around(new MemoryBlobs(started, slot.disk), this, slot))),
                store),
        () -> scheduler.afterMillis(SUPERVISOR_MILLIS, () -> startIfDown(slot)));
  }

  /** Starts a process if none lives in the slot. */
  void startIfDown(Slot slot) {
    if (slot.replica == null || slot.replica.isDead()) {
      start(slot);
    }
  }

  /** Returns true if all faults have ended, and none may start. */
  boolean isHealed() {
    return isHealed;
  }

  /** Ends all faults for good. */
  void healed() {
    isHealed = true;
  }

  /**
   * Another database server takes over with the state of an image.
   *
   * @return false if the image is of a lost past, and nothing was done
   */
  boolean setBack(DatabaseServer.Image image) {
    int lost = server.position().commits() - image.position().commits();
    if (!server.setBack(image)) {
      return false;
    }
    trace.add("database", "is set back, and has lost {} commits", lost);
    slots.forEach(slot -> slot.route.noteTrouble());
    clients.forgetLost(image.atNanos());
    afterSetBack.run();
    return true;
  }

  /** Sets an action to run after each set-back. */
  void onSetBack(Runnable what) {
    afterSetBack = what;
  }

  /** Kills the process of a slot between two instructions. */
  void crash(Slot slot) {
    if (slot.replica != null) {
      slot.replica.trace("crashes");
      slot.replica.crash();
    }
  }

  /** Records a failure in a process that no code handles. */
  private void unhandled(Replica process, Throwable cause) {
    process.trace("fails unheard: {}", cause);
    if (violation == null) {
      violation = new ViolationException("NothingFailsUnheard", process.name() + ": " + cause);
      violation.initCause(cause);
    }
  }

  /** Ends the simulation with a violation, found where nothing can be thrown. */
  void fail(ViolationException found) {
    if (violation == null) {
      violation = found;
    }
  }

  /** Throws a violation that was found where nothing can be thrown. */
  void failIfViolated() {
    if (violation != null) {
      throw violation;
    }
  }

  private BareProcess.Platform platform(Replica process, Supplier<Future<BlobStore>> blobs) {
    NodeProvider provider = bug.around(machines.reachedBy(process), this);
    return new BareProcess.Platform(
        process.vertx(),
        data.resolve(process.name().replaceAll("\\..*", "")),
        everySetting(),
        process.wall(),
        process::nanoTime,
        bug.around(random.split()),
        Map.of("simulated", provider),
        blobs);
  }

  private Map<String, String> everySetting() {
    Map<String, String> all = new LinkedHashMap<>(terms.settings());
    all.putAll(settings.asSet());
    return all;
  }

  private void wakeOthers(String process, List<Statement> statements) {
    for (Slot slot : slots) {
      if (slot.replica != null && slot.link != null && !slot.replica.name().equals(process)) {
        slot.link.wake();
      }
    }
  }

  /**
   * Runs the next event, if it is due by a time; otherwise advances time to it. Returns whether an
   * event happened.
   */
  boolean step(long untilNanos) {
    long next = scheduler.nextNanos();
    Replica due = null;
    for (Slot slot : slots) {
      Replica replica = slot.replica;
      if (replica != null) {
        long timer = replica.nextTimerNanos();
        if (timer < next) {
          next = timer;
          due = replica;
        }
      }
    }
    if (next > untilNanos) {
      scheduler.advance(untilNanos);
      return false;
    }
    if (due == null) {
      scheduler.runNext();
    } else {
      scheduler.advance(next);
      due.run();
    }
    return true;
  }

  @Override
  public void close() throws IOException {
    server.close();
    try (var files = Files.walk(data)) {
      files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
    }
  }
}
