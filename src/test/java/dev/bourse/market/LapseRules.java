package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.billing.Usage;
import dev.bourse.capacity.Activity;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterEvent;
import dev.bourse.capacity.Conditions;
import dev.bourse.capacity.Declaration;
import dev.bourse.capacity.Lapse;
import dev.bourse.capacity.Transition;
import dev.bourse.core.Price;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Invariants of declarations that end in a simulated month: no time after {@code until} is billed,
 * and a budget is exceeded by no more than the contract allows.
 */
final class LapseRules {
  private final SimulatedBooks books;

  private final long tickMillis;
  private final Consumer<String> seen;

  /** When budgets were last read, and the amounts that could be spent until the next reading. */
  private final Map<String, Looked> looked = new HashMap<>();

  private static final class Looked {
    final Conditions.Budget budget;
    long at;
    long wallAt;
    int held;
    long ceiling;

    Looked(Conditions.Budget budget) {
      this.budget = budget;
    }
  }

  LapseRules(SimulatedBooks books, long tickMillis, Consumer<String> seen) {
    this.books = books;
    this.tickMillis = tickMillis;
    this.seen = seen;
  }

  /**
   * Checks the budgets after the market has ended declarations and given its orders. The market
   * does not read budgets of clusters that hold and want no node.
   */
  void looked(Cluster cluster) {
    Looked look = looked.get(cluster.name());
    boolean isJudged =
        cluster.declaredSlots(SimulatedBooks.GPUS) > 0 || !cluster.releaseOrder().isEmpty();
    if (look != null && isJudged) {
      look.at = books.clocks.monotonic();
      look.wallAt = books.now();
      look.held = cluster.releaseOrder().size();
      look.ceiling = cluster.ceilingCents();
    }
  }

  /** Checks a change of a cluster that its books already contain. */
  void judge(SimulatedBooks.History history, Transition transition) {
    Cluster before = transition.before();
    Cluster after = transition.next();
    for (Activity entry : transition.activity()) {
      if (entry.event() instanceof ClusterEvent.Declared declared && declared.lapse() != null) {
        lapsed(history, before, after, declared.lapse());
      }
    }
    Optional<Conditions.Budget> standing = Lapse.budget(after);
    if (standing.isEmpty()) {
      looked.remove(after.name());
      return;
    }
    Looked look = looked.get(after.name());
    if (look == null || !look.budget.equals(standing.get())) {
      look = new Looked(standing.get());
      look.at = books.clocks.monotonic();
      look.wallAt = books.now();
      looked.put(after.name(), look);
    }
    look.held = Math.max(look.held, after.releaseOrder().size());
    look.ceiling = Math.max(look.ceiling, after.ceilingCents());
  }

  private void lapsed(
      SimulatedBooks.History history, Cluster before, Cluster after, Allocation.Reason reason) {
    Declaration declared = Objects.requireNonNull(before.declared());
    assertEquals(before.version() + 1, after.version(), "who does not know of it is told");
    assertEquals(0, Objects.requireNonNull(after.declared()).maxGpus());
    assertFalse(after.allocations().stream().anyMatch(Allocation::isOpen), () -> "left: " + after);
    if (reason == Allocation.Reason.LAPSED) {
      Long until = declared.untilMillis();
      assertNotNull(until);
      assertTrue(until <= books.now(), "too soon");
      for (Allocation was : before.allocations()) {
        if (was.isOpen()) {
          Long active = was.activeAtMillis();
          long since = active == null ? was.grantedAtMillis() : active;
          long to = billedTo(after, was);
          assertTrue(to <= Math.max(since, until), () -> was + " is billed to " + to);
        }
      }
      if (until < Usage.hourOf(books.now())) {
        seen.accept("lapsed hours late");
      }
    } else {
      spent(history, Objects.requireNonNull(declared.budget()), before);
    }
  }

  private static long billedTo(Cluster after, Allocation was) {
    return Objects.requireNonNull(after.find(was.allocationId()).orElseThrow().reclaim())
        .atMillis();
  }

  private void spent(SimulatedBooks.History history, Conditions.Budget budget, Cluster before) {
    Looked look = looked.get(history.state.name());
    assertNotNull(look);
    assertEquals(budget, look.budget);
    long most = budget.maxSpendCents() * 10_000;
    long tick = Price.costMicros(look.held * tickMillis, SimulatedBooks.GPUS, look.ceiling);
    long hour = Usage.hourOf(books.now());
    Spent spent = books.spent(history, budget, books.now());
    long end = Math.max(hour, spent.reachedAtMillis().orElse(books.now()));
    for (Allocation was : before.allocations()) {
      Long active = was.activeAtMillis();
      if (active != null) {
        long to = billedTo(history.state, was);
        assertTrue(to <= Math.max(active, end), () -> was + " is billed to " + to);
      }
    }
    String told =
        "%s spent of %s, a tick is %s, it ends at %s: %s".formatted(spent, most, tick, end, before);
    // A process that starts after a clock was set cannot distinguish the step from elapsed time.
    long sinceLook = Math.max(books.clocks.monotonic() - look.at, books.now() - look.wallAt);
    if (sinceLook <= tickMillis) {
      assertTrue(spent.micros() <= most + tick, told);
      seen.accept(spent.micros() > most ? "budget passed within a tick" : "budget kept");
      return;
    }
    // The market did not run, or did not know the time: spending counts up to the hour in which it
    // runs again, except for nodes that are gone by then.
    boolean isAnyGone = isAnyBilledAfter(history, before, end);
    long byHour = books.spent(history, budget, hour).micros();
    assertTrue(isAnyGone || spent.micros() <= Math.max(most, byHour), told);
    if (isAnyGone) {
      seen.accept("budget passed by nodes that were gone");
    }
    seen.accept(
        byHour > most + tick ? "budget passed while no market ran" : "budget seen late and kept");
  }

  /** Returns true if a node that left the cluster was given back after a moment. */
  private static boolean isAnyBilledAfter(
      SimulatedBooks.History history, Cluster before, long end) {
    return history.recent.values().stream()
        .filter(a -> before.find(a.allocationId()).isEmpty())
        .map(Allocation::reclaim)
        .anyMatch(reclaim -> reclaim != null && reclaim.atMillis() > end);
  }
}
