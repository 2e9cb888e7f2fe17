package dev.bourse.simulation;

import dev.bourse.store.Statement;
import dev.bourse.store.sqlite.MemoryEngine;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Invariants of declarations that end by themselves. */
final class LapseInvariants {
  private LapseInvariants() {}

  static List<Invariant> all() {
    return List.of(new NothingIsBilledAfterTheEnd(), new NothingOutlivesItsEnd());
  }

  /** A declaration as stored. */
  private record Declared(
      String cluster,
      long version,
      long maxGpus,
      @Nullable Long until,
      @Nullable Long budgetCents) {}

  private static List<Declared> declared(MemoryEngine engine) {
    return engine.query(
        "SELECT name, version, max_gpus, until_at, max_spend_cents FROM cluster"
            + " WHERE max_gpus IS NOT NULL",
        List.of(),
        row ->
            new Declared(
                row.text("name"),
                row.integer("version"),
                row.integer("max_gpus"),
                row.integerOrNull("until_at"),
                row.integerOrNull("max_spend_cents")));
  }

  /**
   * Ending a declaration at its time ends the bill of each of its nodes at that time, and increases
   * the version, even if it happens late.
   */
  static final class NothingIsBilledAfterTheEnd extends Invariant {
    /** The state after the previous commit. */
    private final Map<String, Declared> last = new HashMap<>();

    private final Map<String, List<String>> held = new HashMap<>();

    @Override
    void afterCommit(World world, String process, List<Statement> statements) {
      if (!touches(statements, "UPDATE cluster")) {
        return;
      }
      MemoryEngine engine = world.server.engine();
      for (Declared now : declared(engine)) {
        Declared before = last.put(now.cluster(), now);
        List<String> nodes =
            held.put(
                now.cluster(),
                engine.query(
                    "SELECT allocation_id FROM allocation WHERE cluster = ? AND reclaim_at IS NULL",
                    List.of(now.cluster()),
                    row -> row.text("allocation_id")));
        String reason = lapse(statements, now.cluster());
        if (before != null && nodes != null && reason != null) {
          judge(before, now, reason);
          nodes.forEach(node -> judge(engine, before, reason, node));
        }
      }
    }

    /** Returns why a cluster's declaration lapsed by these statements; null if it did not. */
    private static @Nullable String lapse(List<Statement> statements, String cluster) {
      for (Statement statement : statements) {
        List<@Nullable Object> values = statement.parameters();
        if (statement.sql().contains("INTO activity")
            && values.contains(cluster)
            && values.contains("request")) {
          return values.contains("lapsed") ? "lapsed" : values.contains("spent") ? "spent" : null;
        }
      }
      return null;
    }

    private void judge(Declared before, Declared now, String reason) {
      boolean isEnded = now.maxGpus() == 0 && now.until() == null && now.budgetCents() == null;
      boolean hadEnd = (reason.equals("lapsed") ? before.until() : before.budgetCents()) != null;
      if (!isEnded || !hadEnd || now.version() != before.version() + 1) {
        throw violated("{} became {} when it was {}", before, now, reason);
      }
    }

    private void judge(MemoryEngine engine, Declared before, String reason, String node) {
      long since =
          engine.number(
              "SELECT COALESCE(active_at, granted_at) FROM allocation WHERE allocation_id = ?",
              node);
      long billedTo =
          engine.number(
              "SELECT COALESCE(reclaim_at, ?) FROM allocation WHERE allocation_id = ?",
              Long.MAX_VALUE,
              node);
      Long until = reason.equals("lapsed") ? before.until() : null;
      if (billedTo == Long.MAX_VALUE || (until != null && billedTo > Math.max(since, until))) {
        throw violated(
            "{} of {} is billed up to {} when it was {}", node, before, billedTo, reason);
      }
    }
  }

  /**
   * Once nothing is wrong, no declaration remains whose end has passed or whose budget is used up,
   * because the market's process sees it at its first tick.
   */
  static final class NothingOutlivesItsEnd extends Invariant {
    /** A tick, and the time of a commit. */
    private static final long BOUND_MILLIS = 30_000;

    /** Time until the database's clock is confirmed again after a step. */
    private static final long PATIENCE_MILLIS = 620_000;

    private static final long MICROS_PER_CENT = 10_000;

    @Override
    void atRest(World world) {
      MemoryEngine engine = world.server.engine();
      if (world.serverClock.mostOffMillis() > 0
          && world.serverClock.rightForMillis() < PATIENCE_MILLIS) {
        return;
      }
      for (Declared one : declared(engine)) {
        if (one.until() != null && one.until() < world.nowMillis() - BOUND_MILLIS) {
          throw violated(
              "{} still exists at {}, although it ended at {}",
              one,
              Instant.ofEpochMilli(world.nowMillis()),
              Instant.ofEpochMilli(one.until()));
        }
        if (one.budgetCents() != null && MoneyInvariants.areTimesTrue(world)) {
          judgeBudget(world, engine, one, one.budgetCents());
        }
      }
    }

    private void judgeBudget(World world, MemoryEngine engine, Declared one, long cents) {
      long since = engine.number("SELECT spend_since FROM cluster WHERE name = ?", one.cluster());
      long spent =
          new Recount(engine).of(one.cluster(), since, world.nowMillis() - BOUND_MILLIS).micros();
      if (one.maxGpus() > 0 && spent > cents * MICROS_PER_CENT) {
        throw violated("{} has spent {} micro-dollars and still exists", one, spent);
      }
    }
  }
}
