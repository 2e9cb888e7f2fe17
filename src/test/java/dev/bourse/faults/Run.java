package dev.bourse.faults;

import dev.bourse.history.History;
import dev.bourse.history.History.Stored;
import dev.bourse.history.HistoryViolation;
import dev.bourse.history.LinearizabilityChecker;
import dev.bourse.history.RecordedOperation.Outcome;
import dev.bourse.testing.PostgresServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One scenario's part of a run: the settings of the run, and a database server of its own. */
final class Run {
  /** What a server does by itself, and what servers of tests usually leave out. */
  private static final Map<String, String> DURABLE =
      Map.of("fsync", "on", "synchronous_commit", "on", "full_page_writes", "on");

  /** How often processes of each engine are killed unless a run is to be shorter. */
  static final int ALL_KILLS = 100;

  private final List<String> launch;
  private final Path previous;
  private final Path conf;
  private final Path folder;
  private final long seed;
  private final int kills;
  private final Plant plant;
  private final String name;
  private @Nullable PostgresServer postgres;
  private @Nullable FaultWorld world;

  /**
   * @param launch the JVM, its options and the jar, as processes of the service are started
   * @param previous the jar of the release before
   * @param conf the folder of what operators are given
   * @param kills how often processes are killed on each engine
   * @param name of the scenario; no two that run at once have the same
   */
  Run(
      List<String> launch,
      Path previous,
      Path conf,
      Path folder,
      long seed,
      int kills,
      Plant plant,
      String name) {
    this.launch = launch;
    this.previous = previous;
    this.conf = conf;
    this.folder = folder;
    this.seed = seed;
    this.kills = kills;
    this.plant = plant;
    this.name = name;
  }

  /** Returns the same run with another database server, which faults of this one do not reach. */
  Run beside(String more) {
    return new Run(launch, previous, conf, folder, seed, kills, plant, name + "-" + more);
  }

  List<String> launch() {
    return launch;
  }

  /** What the environment says. */
  static String setting(String variable) {
    String given = System.getenv(variable);
    if (given == null) {
      throw new ViolatedException("there is no " + variable + " in the environment");
    }
    return given;
  }

  /** A number that the environment says. */
  static int number(String variable) {
    return Integer.parseInt(setting(variable));
  }

  /** The jar of this release. */
  Path jar() {
    return Path.of(launch.get(launch.indexOf("-jar") + 1));
  }

  /** The jar of the release before. */
  Path previous() {
    return previous;
  }

  /** A file that operators are given. */
  Path conf(String name) {
    return conf.resolve(name);
  }

  Path folder() {
    return folder;
  }

  long seed() {
    return seed;
  }

  int kills() {
    return kills;
  }

  /**
   * How many rounds of a fault there are: all of them in a run with all kills, and half in a
   * shorter one, because each round tries the same again at another moment.
   */
  int rounds(int all) {
    return kills >= ALL_KILLS ? all : all / 2;
  }

  Plant plant() {
    return plant;
  }

  /** Notes whose record {@link #leave} leaves. */
  void begin(FaultWorld begun) {
    world = begun;
  }

  /** Leaves what clients saw when it came to no judgement; where, empty when there is nothing. */
  String leave() throws IOException {
    FaultWorld failed = world;
    if (failed == null) {
      return "";
    }
    Path file = file(failed);
    if (!Files.exists(file)) {
      Stored unknown = new Stored(Map.of(), Map.of(), List.of());
      failed.history(unknown).write(file);
    }
    return file.toString();
  }

  private static Path file(FaultWorld world) {
    return world.folder().resolve("history.jsonl");
  }

  /** The database server of this scenario. */
  PostgresServer postgres() throws IOException {
    PostgresServer server = postgres;
    if (server == null) {
      server = PostgresServer.start(folder.resolve("postgres-" + name), DURABLE);
      postgres = server;
      Processes.atEnd(this::stopPostgres);
    }
    return server;
  }

  private void stopPostgres() {
    try {
      if (postgres != null) {
        postgres.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Two processes on a new database; what it is called. */
  String addReplicas(FaultWorld world, String... settings) throws IOException, SQLException {
    String url = postgres().newDatabase();
    for (String name : List.of("first", "second")) {
      List<String> all = new ArrayList<>(List.of(settings));
      all.add("store.url=" + url);
      world.add(name, all);
    }
    return url;
  }

  /** Ends the clients and judges what they saw; says what was done when all is as promised. */
  void judge(FaultWorld world, String done) throws IOException, InterruptedException {
    world.stopWriters();
    History history = world.history(world.stored());
    world.processes().forEach(ServiceProcess::kill);
    Path file = file(world);
    history.write(file);
    List<HistoryViolation> found = LinearizabilityChecker.check(history);
    String counts =
        String.format(
            Locale.ROOT,
            "%,d operations acknowledged, %,d refused, %,d unknown",
            world.recorder().count(Outcome.ACKNOWLEDGED),
            world.recorder().count(Outcome.REFUSED),
            world.recorder().count(Outcome.UNKNOWN));
    if (!found.isEmpty()) {
      found.stream().limit(5).forEach(violation -> System.err.println("faults: " + violation));
      throw new ViolatedException(done + "; " + counts + ": VIOLATED; the history is " + file);
    }
    System.out.println("faults: " + done + "; " + counts + ": as promised");
  }
}
