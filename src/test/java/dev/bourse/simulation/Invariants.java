package dev.bourse.simulation;

import dev.bourse.store.Statement;
import dev.bourse.store.sqlite.MemoryEngine;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** The list of all invariants, and those that fit nowhere else. */
final class Invariants {
  private Invariants() {}

  /** Creates a fresh instance of each. */
  static List<Invariant> all() {
    List<Invariant> all = new ArrayList<>();
    all.add(new OneTenantPerNode());
    all.add(new VersionsGrowByOne());
    all.add(new AcceptedWritesAreKept());
    all.add(new ReplicasConverge());
    all.add(new RefusedIsNotStored());
    all.add(new EveryProcessIsReady());
    all.addAll(MoneyInvariants.all());
    all.addAll(HoldInvariants.all());
    all.addAll(LapseInvariants.all());
    all.addAll(TrailInvariants.all());
    all.addAll(MarketInvariants.all());
    all.addAll(AccessInvariants.all());
    all.addAll(UploadInvariants.all());
    return all;
  }

  /** Returns the clusters that statements name. */
  private static List<String> clusters(World world, List<Statement> statements) {
    List<String> named = new ArrayList<>();
    for (Statement statement : statements) {
      for (Object value : statement.parameters()) {
        if (value instanceof String text && world.scale.isCluster(text) && !named.contains(text)) {
          named.add(text);
        }
      }
    }
    return named;
  }

  /** No node is allocated twice at a time. */
  static final class OneTenantPerNode extends Invariant {
    @Override
    boolean outlivesSetBack(World world) {
      return true;
    }

    @Override
    void afterCommit(World world, String process, List<Statement> statements) {
      if (touches(statements, "allocation")) {
        List<String> twice =
            world
                .server
                .engine()
                .query(
                    "SELECT node_id FROM allocation WHERE gone_at IS NULL GROUP BY node_id"
                        + " HAVING COUNT(*) > 1",
                    List.of(),
                    row -> row.text("node_id"));
        if (!twice.isEmpty()) {
          throw violated("after a commit of {} nodes {} are allocated twice", process, twice);
        }
      }
    }
  }

  /** Versions and revisions of a cluster never decrease, and no commit skips one. */
  static final class VersionsGrowByOne extends Invariant {
    private record Counters(String cluster, long version, long revision) {
      /** On a shared store the lower half of a revision is random. */
      long count() {
        return revision >>> 32;
      }
    }

    private final Map<String, Counters> last = new HashMap<>();

    @Override
    boolean outlivesSetBack(World world) {
      last.clear();
      return true;
    }

    @Override
    void afterCommit(World world, String process, List<Statement> statements) {
      if (!touches(statements, "cluster")) {
        return;
      }
      for (String cluster : clusters(world, statements)) {
        Counters now =
            world
                .server
                .engine()
                .query(
                    "SELECT name, version, revision FROM cluster WHERE name = ?",
                    List.of(cluster),
                    row ->
                        new Counters(
                            row.text("name"), row.integer("version"), row.integer("revision")))
                .get(0);
        Counters before = last.put(now.cluster, now);
        if (before != null
            && (now.version < before.version
                || now.version > before.version + 1
                || now.count() < before.count()
                || now.count() > before.count() + 1)) {
          throw violated("a commit of {} moved {} to {}", process, before, now);
        }
      }
    }
  }

  /** Acknowledged declarations are stored: each version once, with its audit row. */
  static final class AcceptedWritesAreKept extends Invariant {
    @Override
    boolean outlivesSetBack(World world) {
      return true;
    }

    @Override
    void atRest(World world) {
      MemoryEngine engine = world.server.engine();
      Map<String, Clients.Acknowledged> seen = new HashMap<>();
      for (Clients.Acknowledged write : world.clients.acknowledged()) {
        Clients.Acknowledged twin = seen.put(write.cluster() + " " + write.version(), write);
        if (twin != null) {
          throw violated("{} and {} were both acknowledged", twin, write);
        }
        long rows = world.clients.rows(write);
        long stored = engine.number("SELECT version FROM cluster WHERE name = ?", write.cluster());
        if (rows != 1 || stored < write.version()) {
          throw violated(
              "{} was acknowledged; it has {} audit rows and the cluster is at version {}",
              write,
              rows,
              stored);
        }
      }
    }
  }

  /**
   * A healthy process shows, within a bound, the stored state of each cluster. States are compared
   * by content, because after a set-back a new state may have the number of a lost one. Trouble on
   * the link to the database counts until the time-out of lost messages has passed.
   */
  static final class ReplicasConverge extends Invariant {
    private static final long BOUND_NANOS = 2_000_000_000L;
    private static final long TROUBLE_NANOS = 15_000_000_000L;

    private record State(String contents, long atNanos) {}

    /** By cluster, the states stored within the bound, and the last state before. */
    private final Map<String, ArrayDeque<State>> stored = new TreeMap<>();

    /** By process, the clusters that it has not yet shown in their last stored state. */
    private final Map<String, TreeSet<String>> unseen = new HashMap<>();

    @Override
    void afterCommit(World world, String process, List<Statement> statements) {
      if (touches(statements, "cluster")) {
        note(world, clusters(world, statements));
      }
    }

    private void note(World world, List<String> clusters) {
      for (String cluster : clusters) {
        stored
            .computeIfAbsent(cluster, name -> new ArrayDeque<>())
            .add(new State(Contents.stored(world, cluster), world.scheduler.nowNanos()));
        unseen.values().forEach(names -> names.add(cluster));
      }
    }

    @Override
    void everySecond(World world) {
      long now = world.scheduler.nowNanos();
      stored.values().forEach(states -> forgetOld(states, now - BOUND_NANOS));
      for (Replica replica : world.ready()) {
        TreeSet<String> clusters =
            unseen.computeIfAbsent(replica.name(), name -> new TreeSet<>(stored.keySet()));
        clusters.removeIf(cluster -> isSettled(replica, cluster));
        long quiet = now - world.lastTroubleNanos(replica);
        for (String cluster : clusters) {
          if (quiet >= TROUBLE_NANOS && !isRecent(replica, cluster)) {
            throw violated(
                "{} shows {} as {}, {} was stored more than 2 s ago, and nothing is wrong for {} s",
                replica.name(),
                cluster,
                Contents.shown(replica, cluster),
                states(cluster).getFirst().contents,
                quiet / 1_000_000_000);
          }
        }
      }
    }

    /** Keeps the last state before the bound if nothing was stored since. */
    private static void forgetOld(ArrayDeque<State> states, long beforeNanos) {
      while (states.size() > 1) {
        State first = states.removeFirst();
        if (states.getFirst().atNanos > beforeNanos) {
          states.addFirst(first);
          return;
        }
      }
    }

    private ArrayDeque<State> states(String cluster) {
      return stored.getOrDefault(cluster, new ArrayDeque<>());
    }

    /** Returns true if the process shows the last state. */
    private boolean isSettled(Replica replica, String cluster) {
      return states(cluster).getLast().contents.equals(Contents.shown(replica, cluster));
    }

    private boolean isRecent(Replica replica, String cluster) {
      String shown = Contents.shown(replica, cluster);
      return states(cluster).stream().anyMatch(state -> state.contents.equals(shown));
    }

    @Override
    boolean outlivesSetBack(World world) {
      List<String> known = List.copyOf(stored.keySet());
      stored.clear();
      unseen.clear();
      note(world, known);
      return true;
    }
  }

  /** Certainly rejected declarations are not stored: neither then nor later. */
  static final class RefusedIsNotStored extends Invariant {
    @Override
    void atRest(World world) {
      world
          .server
          .engine()
          .query(
              "SELECT actor, subject, detail FROM audit WHERE action = 'vm_capacity_put'",
              List.of(),
              row -> {
                String refused = world.clients.refused().get(row.text("actor"));
                if (refused != null) {
                  throw violated(
                      "\"{}\" was rejected, and is stored for {}: {}",
                      refused,
                      row.text("subject"),
                      row.text("detail"));
                }
                return row.text("actor");
              });
    }

    @Override
    boolean outlivesSetBack(World world) {
      return true;
    }
  }

  /** Every started process is ready once nothing is wrong. */
  static final class EveryProcessIsReady extends Invariant {
    @Override
    boolean outlivesSetBack(World world) {
      return true;
    }

    @Override
    void atRest(World world) {
      if (world.ready().size() < world.slots().size()) {
        throw violated("{} of {} are", world.ready().size(), world.slots().size());
      }
    }
  }
}
