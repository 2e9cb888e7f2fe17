package dev.bourse.simulation;

import static dev.bourse.simulation.MarketInvariants.SECOND;
import static dev.bourse.simulation.MarketInvariants.contains;

import dev.bourse.simulation.AllocationLog.Buyer;
import dev.bourse.simulation.AllocationLog.Life;
import dev.bourse.simulation.AllocationLog.Step;
import dev.bourse.simulation.AllocationLog.Stored;
import dev.bourse.store.Statement;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Invariants of grants and their duration. */
final class GrantInvariants {
  private GrantInvariants() {}

  /**
   * Rivals take no pinned node, no node of an operator-managed cluster, and none within its
   * protection unless the cluster lowered its ceiling below the one at the grant.
   */
  static final class ProtectionHolds extends Invariant {
    /** From a decision to its commit, and from a machine's answer to its commit: two time-outs. */
    private static final long COMMIT_SECONDS = 10;

    private final AllocationLog log;

    ProtectionHolds(AllocationLog log) {
      this.log = log;
    }

    @Override
    void everySecond(World world) {
      log.areClocksRight(world);
    }

    @Override
    void afterCommit(World world, String process, List<Statement> statements) {
      if (!contains(statements, "allocation")) {
        return;
      }
      for (Step step : log.steps(world, statements)) {
        Stored before = step.before();
        Stored after = step.after();
        if (before == null || after == null || !before.isOpen() || after.isOpen()) {
          continue;
        }
        if ("OUTBID".equals(after.reason()) && before.replaces() == null) {
          judge(world, step.life(), before, after);
        }
      }
    }

    private void judge(World world, Life life, Stored before, Stored after) {
      Buyer buyer = log.buyers().get(before.cluster());
      if (before.pinned() || (buyer != null && buyer.isStatic())) {
        throw violated("{} of {} was taken by rivals", before, buyer);
      }
      if (buyer == null || life.isLowered || !log.areClocksRight(world)) {
        return;
      }
      Long until = before.protectedUntil();
      Long at = after.reclaimAt();
      if (before.state().equals("PROVISIONING") || (until != null && at != null && at < until)) {
        throw violated("{} of {} was taken at {}", before, buyer, at);
      }
      long seconds = (world.scheduler.nowNanos() - life.activeNanos) / SECOND;
      // A replacement inherits the protection of the node it replaces.
      if (!life.isReplacement && seconds < world.settings.protectionSeconds() - COMMIT_SECONDS) {
        throw violated("{} of {} was taken {} s after it was ready", before, buyer, seconds);
      }
    }
  }

  /**
   * A cluster that is granted a node declared as many, is served by the market, and bids at least
   * the reserve price; a swap has one replacement at a time.
   */
  static final class GrantsFitDeclarations extends Invariant {
    private final AllocationLog log;
    private final PoolTerms terms = new PoolTerms();

    GrantsFitDeclarations(AllocationLog log) {
      this.log = log;
    }

    @Override
    void afterCommit(World world, String process, List<Statement> statements) {
      terms.follow(world, statements);
      if (!contains(statements, "INTO allocation")) {
        return;
      }
      for (Step step : log.steps(world, statements)) {
        Stored granted = step.after();
        if (step.before() == null && granted != null) {
          judge(world, granted);
        }
      }
    }

    private void judge(World world, Stored granted) {
      Buyer buyer = log.buyers().get(granted.cluster());
      if (buyer == null || buyer.isStatic() || (buyer.hold() != null && !isGrace(buyer))) {
        throw violated("{} was granted to {}", granted, buyer);
      }
      if (granted.grantCeiling() < terms.leastReserve(world)) {
        throw violated("{} was granted to {}, whose bid is too low", granted, buyer);
      }
      int filling = 0;
      int twins = 0;
      for (Life life : log.live().values()) {
        Stored held = life.stored;
        if (held.cluster().equals(granted.cluster()) && held.isOpen()) {
          filling += held.replaces() == null ? 1 : 0;
          twins += held.replaces() != null && held.replaces().equals(granted.replaces()) ? 1 : 0;
        }
      }
      if (twins > 1) {
        throw violated("{} replaces a node that another one replaces", granted);
      }
      if (granted.replaces() == null && filling * World.GPUS_PER_NODE > buyer.maxGpus()) {
        throw violated("{} was granted to {}, which fills {} slots now", granted, buyer, filling);
      }
    }

    private static boolean isGrace(Buyer buyer) {
      return "GRACE".equals(buyer.hold());
    }
  }

  /**
   * No retired node is granted, and none that was cordoned or quarantined long enough ago for the
   * market's process to know.
   */
  static final class GrantsAreOfUsableNodes extends Invariant {
    /** As long as a process may be cut off from the store and still have the lease, and a tick. */
    private static final long HEARD_NANOS = 60 * SECOND;

    private final AllocationLog log;
    private final Map<String, Long> unusableSince = new HashMap<>();

    GrantsAreOfUsableNodes(AllocationLog log) {
      this.log = log;
    }

    private record Barred(String node, boolean isRetired) {}

    @Override
    void afterCommit(World world, String process, List<Statement> statements) {
      boolean grants = contains(statements, "INTO allocation");
      if (!grants && !contains(statements, "UPDATE node SET")) {
        return;
      }
      long now = world.scheduler.nowNanos();
      Map<String, Barred> barred = new TreeMap<>();
      for (Barred node :
          world
              .server
              .engine()
              .query(
                  "SELECT node_id, retired_at FROM node WHERE retired_at IS NOT NULL OR cordoned ="
                      + " 1 OR quarantined_at IS NOT NULL",
                  List.of(),
                  row ->
                      new Barred(row.text("node_id"), row.integerOrNull("retired_at") != null))) {
        barred.put(node.node, node);
      }
      unusableSince.keySet().retainAll(barred.keySet());
      barred.keySet().forEach(node -> unusableSince.putIfAbsent(node, now));
      for (Step step : grants ? log.steps(world, statements) : List.<Step>of()) {
        Stored granted = step.after();
        Barred node = granted == null ? null : barred.get(granted.node());
        if (step.before() != null || granted == null || node == null) {
          continue;
        }
        long sinceNanos = now - unusableSince.getOrDefault(node.node, now);
        if (node.isRetired || sinceNanos > HEARD_NANOS) {
          throw violated("{} was granted, {} for {} s", granted, node, sinceNanos / SECOND);
        }
      }
    }
  }
}
