package dev.bourse.simulation;

import dev.bourse.simulation.AllocationLog.Buyer;
import dev.bourse.simulation.AllocationLog.Life;
import dev.bourse.simulation.AllocationLog.Step;
import dev.bourse.simulation.AllocationLog.Stored;
import dev.bourse.store.Statement;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Invariants of the market. */
final class MarketInvariants {
  static final long SECOND = 1_000_000_000L;

  private MarketInvariants() {}

  /** Creates a fresh instance of each. */
  static List<Invariant> all() {
    AllocationLog log = new AllocationLog();
    List<Invariant> all = new ArrayList<>();
    all.add(new OneMarketPerFence(log));
    all.add(new LeasesAreKept());
    all.add(new GrantInvariants.ProtectionHolds(log));
    all.add(new NoticesRunWhole(log));
    all.add(new GangsAreActiveTogether(log));
    all.addAll(AlertInvariants.all(log));
    all.add(new GrantInvariants.GrantsFitDeclarations(log));
    all.add(new GrantInvariants.GrantsAreOfUsableNodes(log));
    all.add(new PricesAreInTerms());
    all.addAll(PriceInvariants.all());
    all.add(new DemandIsMet(log));
    all.addAll(MachineInvariants.all(log));
    return all;
  }

  static boolean contains(List<Statement> statements, String text) {
    return Invariant.touches(statements, text);
  }

  /** Only this statement takes a lease. */
  private static boolean takesLease(Statement statement) {
    return statement.sql().startsWith("INSERT INTO lease")
        || statement.sql().startsWith("UPDATE lease SET owner");
  }

  /** Returns true if a commit contains an operator's change. */
  static boolean isOperators(List<Statement> statements) {
    for (Statement statement : statements) {
      if (statement.sql().contains("audit")
          && (statement.parameters().contains("node_end_reclaim")
              || statement.parameters().contains("node_retire"))) {
        return true;
      }
    }
    return false;
  }

  /**
   * Only the process that took the pool's lease last grants, preempts, ends allocations, stores
   * prices, raises alerts or records when machines were seen; epochs grow by one.
   */
  static final class OneMarketPerFence extends Invariant {
    private final AllocationLog log;
    private @Nullable String holder;
    private long epoch;

    OneMarketPerFence(AllocationLog log) {
      this.log = log;
    }

    @Override
    void afterCommit(World world, String process, List<Statement> statements) {
      // The following checks use the log only when they need it.
      List<Step> steps = log.steps(world, statements);
      for (Statement statement : statements) {
        if (takesLease(statement)) {
          long now = world.server.engine().number("SELECT epoch FROM lease");
          if (now != epoch + 1) {
            throw violated("{} took the lease with epoch {} after {}", process, now, epoch);
          }
          holder = process;
          epoch = now;
        }
      }
      if (process.equals(holder) || process.equals("seed")) {
        return;
      }
      String does = null;
      if (contains(statements, "INTO price_point")) {
        does = "stored a price";
      } else if (contains(statements, "SET last_seen")) {
        does = "said when machines were seen";
      } else if (!AlertInvariants.told(statements).isEmpty()) {
        does = "raised alerts";
      } else if (contains(statements, "allocation")) {
        boolean isOperators = isOperators(statements);
        for (Step step : steps) {
          if (isMarkets(step, isOperators)) {
            does = "took " + step.before() + " to " + step.after();
          }
        }
      }
      if (does != null) {
        throw violated("{} {}, and the lease is {}'s", process, does, holder);
      }
    }

    private static boolean isMarkets(Step step, boolean isOperators) {
      Stored before = step.before();
      Stored after = step.after();
      if (before == null || after == null) {
        return before == null || !isOperators;
      }
      boolean isLanding = !before.state().equals(after.state()) && after.state().equals("ACTIVE");
      return isLanding
          || (before.isOpen()
              && !after.isOpen()
              && ("OUTBID".equals(after.reason()) || "UNWOUND".equals(after.reason())));
    }
  }

  /**
   * No process takes a lease within its length after its holder took or renewed it, unless it was
   * released; at rest a process has it.
   */
  static final class LeasesAreKept extends Invariant {
    @Override
    boolean outlivesSetBack(World world) {
      holder = null;
      return true;
    }

    /** The default of {@code market.lease}, by a clock of milliseconds. */
    private static final long LEASE_NANOS = 10 * SECOND - 2_000_000;

    private @Nullable String holder;
    private long confirmedNanos;

    @Override
    void afterCommit(World world, String process, List<Statement> statements) {
      for (Statement statement : statements) {
        if (!statement.sql().contains("lease SET") && !statement.sql().contains("INTO lease")) {
          continue;
        }
        long now = world.scheduler.nowNanos();
        if (takesLease(statement)) {
          // A lease lasts by the server's clock, even if that is set.
          boolean isClockRight = world.serverClock.mostOffMillis() == 0;
          if (holder != null && isClockRight && now - confirmedNanos < LEASE_NANOS) {
            throw violated(
                "{} took the lease {} ms after {} had it confirmed",
                process,
                (now - confirmedNanos) / 1_000_000,
                holder);
          }
          holder = process;
          confirmedNanos = now;
        } else if (statement.sql().startsWith("UPDATE lease SET expires_at = ?")) {
          holder = null;
        } else if (statement.sql().startsWith("UPDATE lease SET expires_at")) {
          // After a set-back its holder is not known.
          holder = process;
          confirmedNanos = now;
        }
      }
    }

    @Override
    void atRest(World world) {
      long silentMillis = (world.scheduler.nowNanos() - confirmedNanos) / 1_000_000;
      if (holder == null || silentMillis > 2 * LEASE_NANOS / 1_000_000) {
        throw violated("no process runs the market; {} did {} ms ago", holder, silentMillis);
      }
    }
  }

  /**
   * The clearing price lies between the reserve price and the highest price ever accepted, and the
   * admission price is at most the cap.
   */
  static final class PricesAreInTerms extends Invariant {
    private final PoolTerms terms = new PoolTerms();
    private long highestCap;

    @Override
    void afterCommit(World world, String process, List<Statement> statements) {
      terms.follow(world, statements);
      highestCap = Math.max(highestCap, terms.mostCap(world));
      for (Statement statement : statements) {
        if (statement.sql().startsWith("INSERT INTO price_point")) {
          judge(world, (Long) statement.parameters().get(2), (Long) statement.parameters().get(3));
        }
      }
    }

    private void judge(World world, @Nullable Long clearing, @Nullable Long admission) {
      long reserve = terms.leastReserve(world);
      if (clearing != null && (clearing < reserve || clearing > highestCap)) {
        throw violated("it clears at {}, from {} to {}", clearing, reserve, highestCap);
      }
      if (admission != null && (admission < reserve || admission > terms.mostCap(world))) {
        throw violated("it admits at {}, from {} to {}", admission, reserve, terms.mostCap(world));
      }
    }
  }

  /**
   * At rest no usable node stays free for long while a cluster waits for one with a sufficient bid;
   * no swap waits longer than it may; all work in progress ends.
   */
  static final class DemandIsMet extends Invariant {
    /** Two ticks to notice it, and one to learn that a node is clean. */
    private static final long WAIT_SECONDS = 40;

    /** A machine's work and the longest pause between two attempts, which is 64 s. */
    private static final long WORK_NANOS = 150 * SECOND;

    private final AllocationLog log;

    DemandIsMet(AllocationLog log) {
      this.log = log;
    }

    @Override
    void everySecond(World world) {
      log.areClocksRight(world);
    }

    @Override
    void atRest(World world) {
      long now = world.scheduler.nowNanos();
      for (Life life : log.live().values()) {
        // A ready node may wait for the rest of its gang.
        long patience =
            life.stored.state().equals("PROVISIONING") ? world.settings.patienceSeconds() : 0;
        if (!life.stored.state().equals("ACTIVE")
            && now - life.stateNanos > WORK_NANOS + patience * SECOND) {
          throw violated("{} for {} s", life.stored, (now - life.stateNanos) / SECOND);
        }
        long freshness = world.settings.swapFreshnessSeconds() + WAIT_SECONDS;
        if (life.swappingNanos >= 0
            && life.stored.isOpen()
            && log.areClocksRight(world)
            && now - life.swappingNanos > freshness * SECOND + WORK_NANOS) {
          throw violated("{} swaps for {} s", life.stored, (now - life.swappingNanos) / SECOND);
        }
      }
      String unmet = unmet(world);
      for (long i = 0; unmet != null && i < WAIT_SECONDS; i++) {
        Pause.seconds(world, 1);
        unmet = unmet(world);
      }
      if (unmet != null) {
        List<String> busy = new ArrayList<>();
        for (Replica process : world.ready()) {
          busy.addAll(PendingWork.of(process));
        }
        throw violated("for {} s {}; work in progress: {}", WAIT_SECONDS, unmet, busy);
      }
    }

    private @Nullable String unmet(World world) {
      List<String> free =
          world
              .server
              .engine()
              .query(
                  "SELECT node_id FROM node n WHERE retired_at IS NULL AND cordoned = 0"
                      + " AND quarantined_at IS NULL AND last_error IS NULL AND usable_after < ?"
                      + " AND reimage_of IS NULL"
                      + " AND NOT EXISTS (SELECT 1 FROM allocation a WHERE a.node_id = n.node_id"
                      + " AND (a.gone_at IS NULL OR a.reclaim_reason = 'SWAP'))",
                  List.of(world.nowMillis()),
                  row -> row.text("node_id"));
      if (free.isEmpty()) {
        return null;
      }
      long reserve = world.server.engine().number("SELECT reserve_cents FROM pool");
      long limits =
          world
              .server
              .engine()
              .number("SELECT COUNT(*) FROM billing_org WHERE limit_micros IS NOT NULL");
      for (Buyer buyer : log.buyers().values()) {
        int slots = buyer.maxGpus() / World.GPUS_PER_NODE;
        for (Life life : log.live().values()) {
          Stored held = life.stored;
          boolean fills = held.isOpen() && held.replaces() == null;
          slots -= fills && held.cluster().equals(buyer.name()) ? 1 : 0;
        }
        int held = buyer.maxGpus() / World.GPUS_PER_NODE - slots;
        boolean fits = buyer.minimum() == 1 || held >= buyer.minimum();
        if (slots > 0
            && (fits || (!buyer.wasGivenUp() && buyer.minimum() - held <= free.size()))
            && limits == 0
            && !buyer.isStatic()
            && buyer.hold() == null
            && buyer.ceiling() >= reserve) {
          return free + " are free, and " + buyer + " waits for " + slots;
        }
      }
      return null;
    }
  }

  /** Lets time pass during a check. */
  static final class Pause {
    private Pause() {}

    static void seconds(World world, long seconds) {
      long until = world.scheduler.nowNanos() + seconds * SECOND;
      while (world.step(until)) {
        world.failIfViolated();
      }
    }
  }
}
