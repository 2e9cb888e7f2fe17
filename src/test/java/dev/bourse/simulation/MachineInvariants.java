package dev.bourse.simulation;

import dev.bourse.simulation.AllocationLog.Life;
import dev.bourse.simulation.AllocationLog.Step;
import dev.bourse.simulation.AllocationLog.Stored;
import dev.bourse.store.Statement;
import dev.bourse.store.sqlite.MemoryEngine;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Invariants of machines. */
final class MachineInvariants {
  private static final long SECOND = 1_000_000_000L;

  private MachineInvariants() {}

  /** Creates a fresh instance of each. */
  static List<Invariant> all(AllocationLog log) {
    List<Invariant> all = new ArrayList<>();
    all.add(new TenantsBelong(log));
    all.add(new LostGrantsAreNotWiped(log));
    all.add(new CleanedBeforeGone(log));
    all.add(new MachinesFollow(log));
    all.add(new AllIsGivenBack(log));
    all.add(new NothingIsKeptInMind());
    return all;
  }

  /**
   * A machine admits a tenant for an allocation that was granted it, while no other tenant is on it
   * and no other allocation was reported as ready; and removes one only when that allocation is
   * being reclaimed or has ended.
   */
  static final class TenantsBelong extends Invariant implements Machines.Watcher {
    private final AllocationLog log;
    private boolean isWatching;
    private boolean isOver;

    TenantsBelong(AllocationLog log) {
      this.log = log;
    }

    @Override
    boolean outlivesSetBack(World world) {
      isOver = true;
      return false;
    }

    /** The first commits happen before any machine is called. */
    @Override
    void afterCommit(World world, String process, List<Statement> statements) {
      if (!isWatching) {
        isWatching = true;
        world.machines.watch(this);
      }
    }

    @Override
    public void begins(
        String nodeId, Machines.State before, String allocationId, boolean isProvision) {
      String tenant = before.tenant;
      if (isOver || tenant == null || (isProvision && tenant.equals(allocationId))) {
        return;
      }
      if (isProvision) {
        throw violated("{} is prepared for {} with {} on it", nodeId, allocationId, tenant);
      }
      Life life = log.live().get(tenant);
      if (life != null && life.node.equals(nodeId) && life.stored.isOpen()) {
        throw violated(
            "{} is reclaimed from {} with {} on it, which is {}",
            nodeId,
            allocationId,
            tenant,
            life.stored);
      }
    }

    @Override
    public void letIn(String nodeId, String allocationId) {
      if (isOver) {
        return;
      }
      Life life = log.find(allocationId);
      if (life == null || !life.node.equals(nodeId)) {
        throw violated("{} admits {}, which is {}", nodeId, allocationId, life);
      }
      for (Life other : log.live().values()) {
        if (other.node.equals(nodeId)
            && !other.id.equals(allocationId)
            && other.stored.state().equals("ACTIVE")) {
          throw violated("{} admits {} and is {}", nodeId, allocationId, other.stored);
        }
      }
    }
  }

  /**
   * When the database has lost a grant that was not ended, the machine under its tenant is not
   * wiped and admits no other tenant, unless an operator had the node retried.
   */
  static final class LostGrantsAreNotWiped extends Invariant implements Machines.Watcher {
    private final AllocationLog log;
    private final Set<String> lost = new HashSet<>();
    private @Nullable World world;

    LostGrantsAreNotWiped(AllocationLog log) {
      this.log = log;
    }

    /** The log has the state before the first set-back. */
    @Override
    boolean outlivesSetBack(World setBack) {
      if (world == null) {
        world = setBack;
        setBack.machines.watch(this);
        log.live().values().stream()
            .filter(life -> life.stored.isOpen() && isUnknown(setBack, life.id))
            .forEach(life -> lost.add(life.id));
      }
      return true;
    }

    private static boolean isUnknown(World world, String allocationId) {
      return world
              .server
              .engine()
              .number("SELECT COUNT(*) FROM allocation WHERE allocation_id = ?", allocationId)
          == 0;
    }

    @Override
    public void begins(
        String nodeId, Machines.State before, String allocationId, boolean isProvision) {
      String tenant = before.tenant;
      if (world == null
          || tenant == null
          || !lost.contains(tenant)
          || (isProvision && tenant.equals(allocationId))) {
        return;
      }
      MemoryEngine engine = world.server.engine();
      if (engine.number("SELECT COUNT(*) FROM audit WHERE action = 'node_retry'") == 0) {
        throw violated(
            "{} is {} for {} with {} on it, which the database has lost",
            nodeId,
            isProvision ? "prepared" : "cleaned",
            allocationId,
            tenant);
      }
    }

    @Override
    public void letIn(String nodeId, String allocationId) {
      // A run that began before is not new.
    }
  }

  /**
   * An allocation is recorded as ended after its machine was cleaned, except on an operator's
   * order.
   */
  static final class CleanedBeforeGone extends Invariant {
    private final AllocationLog log;

    CleanedBeforeGone(AllocationLog log) {
      this.log = log;
    }

    @Override
    void afterCommit(World world, String process, List<Statement> statements) {
      if (!touches(statements, "gone_at") || MarketInvariants.isOperators(statements)) {
        return;
      }
      for (Step step : log.steps(world, statements)) {
        Stored before = step.before();
        if (step.after() != null || before == null) {
          continue;
        }
        Machines.State machine = world.machines.state(before.node());
        long cleaned = machine.cleanedNanos;
        if (before.isOpen() || cleaned < 0 || cleaned < step.life().reclaimingNanos) {
          throw violated("{} ended, and its machine was not cleaned", before);
        }
      }
    }
  }

  /**
   * At rest a machine is marked for the allocation that has it and no other, a tenant whose
   * allocation is ready can log in, and no run lasts forever.
   */
  static final class MachinesFollow extends Invariant {
    /** The longest run, which takes minutes. */
    private static final long RUN_NANOS = 200 * SECOND;

    private final AllocationLog log;

    MachinesFollow(AllocationLog log) {
      this.log = log;
    }

    @Override
    void atRest(World world) {
      Map<String, Life> holders = new TreeMap<>();
      log.live().values().forEach(life -> holders.put(life.node, life));
      Set<String> here = inventory(world);
      long now = world.scheduler.nowNanos();
      world
          .machines
          .all()
          .forEach(
              (node, machine) -> {
                long since = machine.runsSinceNanos();
                if (since >= 0 && now - since > RUN_NANOS) {
                  throw violated("{} has been working for {} s", node, (now - since) / SECOND);
                }
                if (here.contains(node)) {
                  judge(node, machine, holders.get(node));
                }
              });
    }

    private void judge(String node, Machines.State machine, @Nullable Life holder) {
      String mark = machine.mark;
      if (mark != null && (holder == null || !holder.id.equals(mark))) {
        throw violated(
            "{} is marked for {} with tenant {}, and holds {}",
            node,
            mark,
            machine.tenant,
            holder == null ? "nothing" : holder.stored);
      }
      if (holder != null
          && holder.stored.state().equals("ACTIVE")
          && !holder.id.equals(machine.tenant)) {
        throw violated("{} has {} on it, and is {}", node, machine.tenant, holder.stored);
      }
    }
  }

  private static Set<String> inventory(World world) {
    return new HashSet<>(
        world
            .server
            .engine()
            .query(
                "SELECT node_id FROM node WHERE retired_at IS NULL",
                List.of(),
                row -> row.text("node_id")));
  }

  /** When nothing is declared, nothing is held, and no machine has a mark. */
  static final class AllIsGivenBack extends Invariant {
    private final AllocationLog log;

    AllIsGivenBack(AllocationLog log) {
      this.log = log;
    }

    @Override
    void whenReleased(World world) {
      Set<String> stillHeld = new HashSet<>();
      for (Life life : log.live().values()) {
        AllocationLog.Buyer buyer = log.buyers().get(life.stored.cluster());
        if (buyer != null && buyer.maxGpus() > 0) {
          stillHeld.add(life.node);
        } else {
          throw violated("{} is left", life.stored);
        }
      }
      for (String node : inventory(world)) {
        Machines.State machine = world.machines.state(node);
        if (!stillHeld.contains(node) && machine.mark != null) {
          throw violated("{} has the mark {}, tenant {}", node, machine.mark, machine.tenant);
        }
      }
    }
  }

  /** When nothing is held, no process has pending work on machines. */
  static final class NothingIsKeptInMind extends Invariant {
    /**
     * A probe, a query or a commit may be in progress at any moment, but not for this many checks.
     */
    private static final int LOOKS = 30;

    @Override
    void whenReleased(World world) {
      long held =
          world.server.engine().number("SELECT COUNT(*) FROM allocation WHERE gone_at IS NULL");
      if (held > 0) {
        return;
      }
      List<String> kept = kept(world);
      for (int i = 0; !kept.isEmpty() && i < LOOKS; i++) {
        MarketInvariants.Pause.seconds(world, 1);
        Set<String> still = new HashSet<>(kept(world));
        kept = kept.stream().filter(still::contains).toList();
      }
      if (!kept.isEmpty()) {
        throw violated("{}", kept);
      }
    }

    private static List<String> kept(World world) {
      List<String> kept = new ArrayList<>();
      for (Replica replica : world.ready()) {
        for (String what : PendingWork.of(replica)) {
          kept.add(replica.name() + " " + what);
        }
      }
      return kept;
    }
  }
}
