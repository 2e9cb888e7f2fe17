package dev.bourse.simulation;

import dev.bourse.store.MemoryEngine;
import dev.bourse.store.Statement;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

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
    all.addAll(AccessInvariants.all());
    all.addAll(UploadInvariants.all());
    return all;
  }

  /** No node is allocated twice at a time. */
  static final class OneTenantPerNode extends Invariant {
    @Override
    void afterCommit(World world, String process, List<Statement> statements) {
      if (touches(statements, "allocation")) {
        List<String> twice =
            world.server.engine()
                .query(
                    "SELECT node_id FROM allocation WHERE gone_at IS NULL GROUP BY node_id"
                        + " HAVING COUNT(*) > 1",
                    List.of(),
                    row -> row.text(0));
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
      for (Counters now :
          world.server.engine()
              .query(
                  "SELECT name, version, revision FROM cluster",
                  List.of(),
                  row -> new Counters(row.text(0), row.integer(1), row.integer(2)))) {
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
        long stored =
            engine.number("SELECT version FROM cluster WHERE name = ?", write.cluster());
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
    private static final long BOUND_SECONDS = 2;
    private static final long TROUBLE_SECONDS = 15;

    private final ArrayDeque<Map<String, Long>> past = new ArrayDeque<>();
    private final Map<String, Long> wellSince = new HashMap<>();

    @Override
    void everySecond(World world) {
      Map<String, Long> revisions = new LinkedHashMap<>();
      world.server.engine()
          .query(
              "SELECT name, revision FROM cluster",
              List.of(),
              row -> revisions.put(row.text(0), row.integer(1)));
      past.add(revisions);
      if (past.size() <= BOUND_SECONDS) {
        return;
      }
      Map<String, Long> due = past.remove();
      for (World.Slot slot : world.slots()) {
        Replica replica = slot.replica;
        if (replica == null || !replica.isReady()) {
          continue;
        }
        long now = world.scheduler.nowNanos();
        long since = wellSince.computeIfAbsent(replica.name(), name -> now);
        long troubled =
            Math.max(
                Math.max(since, replica.runsSinceNanos()), slot.route.lastTroubleNanos());
        long quiet = (now - troubled) / 1_000_000_000;
        if (quiet < TROUBLE_SECONDS) {
          continue;
        }
        due.forEach(
            (cluster, revision) -> {
              long shown =
                  Clients.shown(replica, cluster).map(found -> found.revision()).orElse(-1L);
              if (shown < revision) {
                throw violated(
                    "{} shows {} at revision {}, {} was stored {} s ago and nothing is wrong for"
                        + " {} s",
                    replica.name(),
                    cluster,
                    shown,
                    revision,
                    BOUND_SECONDS,
                    quiet);
              }
            });
      }
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
