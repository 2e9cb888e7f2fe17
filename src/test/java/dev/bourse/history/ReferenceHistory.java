package dev.bourse.history;

import dev.bourse.history.History.Row;
import dev.bourse.history.History.State;
import dev.bourse.history.History.Stored;
import dev.bourse.history.RecordedOperation.Kind;
import dev.bourse.history.RecordedOperation.Outcome;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What clients of a service that does all it promises would record: every request takes effect in
 * one moment of its time, reads lag behind others' writes by what is allowed, some answers get
 * lost.
 */
final class ReferenceHistory {
  static final long LAG = 5_000;
  private static final List<String> PROCESSES = List.of("p", "q");
  private static final String SET = "keys";

  /** Members at a time: lists would grow with the square root of the length else. */
  private static final int MAX_MEMBERS = 30;

  private final Random random;
  private final List<RecordedOperation> operations = new ArrayList<>();
  private final List<Row> trail = new ArrayList<>();
  private final Map<String, Cluster> clusters = new TreeMap<>();

  /** Members of the set: when each came. */
  private final Map<String, Long> members = new HashMap<>();

  /** Those that were there: when each went, and by way of which process it came and went. */
  private final Map<String, Long> gone = new HashMap<>();

  private final Map<String, String> cameBy = new HashMap<>();

  private ReferenceHistory(Random random) {
    this.random = random;
  }

  /** A cluster, and what each process has shown of it. */
  private static final class Cluster {
    final List<String> declared = new ArrayList<>(List.of(RecordedOperation.NOTHING));
    final List<Long> since = new ArrayList<>(List.of(0L));
    final Map<String, Integer> shown = new HashMap<>();

    int version() {
      return declared.size() - 1;
    }

    int asOf(long micros) {
      int version = version();
      while (version > 0 && since.get(version) > micros) {
        version--;
      }
      return version;
    }
  }

  /** A request that is on its way. */
  private record Sent(String id, String process, long invoked, long effect) {}

  static History of(Random random, int requests, int clients, int clusters) {
    ReferenceHistory reference = new ReferenceHistory(random);
    for (int i = 0; i < clusters; i++) {
      reference.clusters.put("cluster-" + i, new Cluster());
    }
    reference.run(requests, clients);
    return reference.history();
  }

  private void run(int requests, int clients) {
    PriorityQueue<Sent> underWay = new PriorityQueue<>(Comparator.comparingLong(Sent::effect));
    long[] free = new long[clients];
    int[] sent = new int[clients];
    for (int client = 0; client < clients; client++) {
      underWay.add(next(client, sent, free));
    }
    for (int i = 0; i < requests; i++) {
      Sent one = underWay.remove();
      int client = Integer.parseInt(one.id().substring(1, one.id().indexOf('-')));
      long completed = one.effect() + 1 + random.nextInt(300);
      carryOut(one, completed);
      free[client] = completed;
      underWay.add(next(client, sent, free));
    }
  }

  private Sent next(int client, int[] sent, long[] free) {
    long invoked = free[client] + 1 + random.nextInt(500);
    return new Sent(
        "c" + client + "-" + ++sent[client],
        PROCESSES.get(random.nextInt(PROCESSES.size())),
        invoked,
        invoked + random.nextInt(500));
  }

  private void carryOut(Sent sent, long completed) {
    String name = "cluster-" + random.nextInt(clusters.size());
    Cluster cluster = Objects.requireNonNull(clusters.get(name));
    switch (random.nextInt(8)) {
      case 0, 1, 2 -> write(sent, completed, name, cluster);
      case 3, 4 -> read(sent, completed, name, cluster);
      case 5 -> add(sent, completed);
      case 6 -> remove(sent, completed);
      default -> list(sent, completed);
    }
  }

  private void write(Sent sent, long completed, String name, Cluster cluster) {
    int expected = Math.max(0, cluster.version() - (random.nextInt(3) == 0 ? 1 : 0));
    String what = 8 * random.nextInt(5) + " at " + random.nextInt(1_000);
    boolean isTold = random.nextInt(10) > 0;
    boolean arrives = isTold || random.nextBoolean();
    boolean isStored = arrives && expected == cluster.version();
    if (isStored) {
      cluster.declared.add(what);
      cluster.since.add(sent.effect());
      cluster.shown.put(sent.process(), cluster.version());
      trail.add(new Row(Kind.WRITE, name, cluster.version(), what));
    }
    Outcome outcome = !isTold ? Outcome.UNKNOWN : isStored ? Outcome.ACKNOWLEDGED : Outcome.REFUSED;
    record(
        sent,
        completed,
        Kind.WRITE,
        name,
        expected,
        what,
        outcome,
        outcome == Outcome.ACKNOWLEDGED ? cluster.version() : 0,
        outcome == Outcome.REFUSED ? "version-mismatch" : "");
  }

  private void read(Sent sent, long completed, String name, Cluster cluster) {
    int shown =
        Math.max(
            cluster.shown.getOrDefault(sent.process(), 0),
            cluster.asOf(sent.effect() - random.nextInt((int) LAG - 1_000)));
    cluster.shown.put(sent.process(), shown);
    record(
        sent,
        completed,
        Kind.READ,
        name,
        0,
        "",
        Outcome.ACKNOWLEDGED,
        shown,
        cluster.declared.get(shown));
  }

  private void add(Sent sent, long completed) {
    if (members.size() >= MAX_MEMBERS) {
      remove(sent, completed);
      return;
    }
    boolean isTold = random.nextInt(10) > 0;
    if (isTold || random.nextBoolean()) {
      members.put(sent.id(), sent.effect());
      cameBy.put(sent.id(), sent.process());
      trail.add(new Row(Kind.ADD, SET, 0, sent.id()));
    }
    Outcome outcome = isTold ? Outcome.ACKNOWLEDGED : Outcome.UNKNOWN;
    record(sent, completed, Kind.ADD, SET, 0, sent.id(), outcome, 0, "");
  }

  private void remove(Sent sent, long completed) {
    String one = members.keySet().stream().sorted().findFirst().orElse(null);
    if (one == null) {
      add(sent, completed);
      return;
    }
    boolean isTold = random.nextInt(10) > 0;
    if (isTold || random.nextBoolean()) {
      members.remove(one);
      gone.put(one, sent.effect());
      cameBy.put(one, sent.process());
      trail.add(new Row(Kind.REMOVE, SET, 0, one));
    }
    Outcome outcome = isTold ? Outcome.ACKNOWLEDGED : Outcome.UNKNOWN;
    record(sent, completed, Kind.REMOVE, SET, 0, one, outcome, 0, "");
  }

  /** What came or went lately by way of another process may or may not be seen yet. */
  private void list(Sent sent, long completed) {
    long sure = sent.effect() - LAG + 1_000;
    Set<String> shown = new HashSet<>();
    members.forEach(
        (name, since) -> {
          if (since < sure || isOwn(name, sent) || random.nextBoolean()) {
            shown.add(name);
          }
        });
    gone.forEach(
        (name, since) -> {
          if (since >= sure && !isOwn(name, sent) && random.nextBoolean()) {
            shown.add(name);
          }
        });
    gone.values().removeIf(since -> since < sure);
    if (random.nextBoolean()) {
      record(
          sent, completed, Kind.LIST, SET, 0, "", Outcome.ACKNOWLEDGED, 0, String.join(" ", shown));
    } else {
      String one = shown.stream().findFirst().orElse(null);
      record(
          sent,
          completed,
          Kind.LOOK,
          SET,
          0,
          one == null ? "nobody" : one,
          Outcome.ACKNOWLEDGED,
          0,
          one == null ? RecordedOperation.ABSENT : RecordedOperation.PRESENT);
    }
  }

  private boolean isOwn(String name, Sent sent) {
    return sent.process().equals(cameBy.get(name));
  }

  private void record(
      Sent sent,
      long completed,
      Kind kind,
      String subject,
      long expected,
      String what,
      Outcome outcome,
      long version,
      @Nullable String shown) {
    operations.add(
        new RecordedOperation(
            sent.id(),
            sent.process(),
            kind,
            subject,
            sent.invoked(),
            completed,
            expected,
            what,
            outcome,
            version,
            shown == null ? "" : shown));
  }

  private History history() {
    Map<String, State> states = new HashMap<>();
    clusters.forEach(
        (name, cluster) ->
            states.put(
                name, new State(cluster.version(), cluster.declared.get(cluster.version()))));
    return new History(
        LAG,
        operations,
        new ArrayList<>(),
        new Stored(states, Map.of(SET, members.keySet()), trail));
  }
}
