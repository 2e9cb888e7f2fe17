package dev.bourse.simulation;

import dev.bourse.capacity.Cluster;
import dev.bourse.store.Statement;
import dev.bourse.store.sqlite.MemoryEngine;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** All that has to hold. */
final class Invariants {
  private Invariants() {}

  /** A fresh one of each. */
  static List<Invariant> all() {
    List<Invariant> all = new ArrayList<>();
    all.add(new OneTenantPerNode());
    all.add(new VersionsGrowByOne());
    all.add(new AcceptedWritesAreKept());
    all.add(new ReplicasConverge());
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

  /** The clusters that statements name. */
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

  /** Versions and revisions of a cluster never go back, and no commit skips one. */
  static final class VersionsGrowByOne extends Invariant {
    private record Counters(String cluster, long version, long revision) {}

    private final Map<String, Counters> last = new HashMap<>();

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
                || now.revision < before.revision
                || now.revision > before.revision + 1)) {
          throw violated("a commit of {} took {} to {}", process, before, now);
        }
      }
    }
  }

  /** What was acknowledged is stored: each version once, with its audit row. */
  static final class AcceptedWritesAreKept extends Invariant {
    @Override
    void atRest(World world) {
      MemoryEngine engine = world.server.engine();
      Map<String, Clients.Acknowledged> seen = new HashMap<>();
      for (Clients.Acknowledged write : world.clients.acknowledged()) {
        Clients.Acknowledged twin = seen.put(write.cluster() + " " + write.version(), write);
        if (twin != null) {
          throw violated("{} and {} were both acknowledged", twin, write);
        }
        long rows =
            engine.number(
                "SELECT COUNT(*) FROM audit WHERE action = 'vm_capacity_put' AND subject = ?"
                    + " AND detail LIKE ?",
                write.cluster(),
                "max_gpus=" + write.maxGpus() + " %version=" + write.version());
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
   * A process that nothing is wrong with shows, within a bound, whatever was committed. Trouble on
   * its way to the database counts until the time-out of what was lost has passed.
   */
  static final class ReplicasConverge extends Invariant {
    private static final long BOUND_NANOS = 2_000_000_000L;
    private static final long TROUBLE_NANOS = 15_000_000_000L;

    private record Stored(String cluster, long revision, long atNanos) {}

    /** Commits that are younger than the bound. */
    private final ArrayDeque<Stored> young = new ArrayDeque<>();

    /** The revisions that everybody has to show by now. */
    private final Map<String, Long> due = new HashMap<>();

    /** By process, the clusters it has not been seen to show as they are due. */
    private final Map<String, TreeSet<String>> unseen = new HashMap<>();

    @Override
    void afterCommit(World world, String process, List<Statement> statements) {
      if (touches(statements, "cluster")) {
        for (String cluster : clusters(world, statements)) {
          long revision =
              world.server.engine().number("SELECT revision FROM cluster WHERE name = ?", cluster);
          young.add(new Stored(cluster, revision, world.scheduler.nowNanos()));
        }
      }
    }

    @Override
    void everySecond(World world) {
      long now = world.scheduler.nowNanos();
      while (!young.isEmpty() && young.peek().atNanos <= now - BOUND_NANOS) {
        Stored old = young.remove();
        due.put(old.cluster, old.revision);
        unseen.values().forEach(clusters -> clusters.add(old.cluster));
      }
      for (Replica replica : world.ready()) {
        TreeSet<String> clusters =
            unseen.computeIfAbsent(replica.name(), name -> new TreeSet<>(due.keySet()));
        clusters.removeIf(cluster -> shown(replica, cluster) >= due.getOrDefault(cluster, 0L));
        long quiet = now - world.lastTroubleNanos(replica);
        if (!clusters.isEmpty() && quiet >= TROUBLE_NANOS) {
          throw violated(
              "{} shows {} at revision {}, {} was stored more than 2 s ago, and nothing is wrong"
                  + " for {} s",
              replica.name(),
              clusters.first(),
              shown(replica, clusters.first()),
              due.get(clusters.first()),
              quiet / 1_000_000_000);
        }
      }
    }

    private static long shown(Replica replica, String cluster) {
      return Clients.shown(replica, cluster).map(Cluster::revision).orElse(-1L);
    }
  }

  /** Whoever was started takes requests once nothing is wrong. */
  static final class EveryProcessIsReady extends Invariant {
    @Override
    void atRest(World world) {
      if (world.ready().size() < world.slots().size()) {
        throw violated("{} of {} are", world.ready().size(), world.slots().size());
      }
    }
  }
}
