package dev.bourse.simulation;

import static dev.bourse.simulation.MarketInvariants.contains;

import dev.bourse.simulation.AllocationLog.Buyer;
import dev.bourse.simulation.AllocationLog.Life;
import dev.bourse.simulation.AllocationLog.Step;
import dev.bourse.simulation.AllocationLog.Stored;
import dev.bourse.store.Statement;
import java.util.List;

/**
 * The nodes of a gang become active at one moment with at least its minimum, or not at all; none is
 * billed before. A replacement of an active node counts for it.
 */
final class GangsAreActiveTogether extends Invariant {
  private final AllocationLog log;

  GangsAreActiveTogether(AllocationLog log) {
    this.log = log;
  }

  @Override
  void afterCommit(World world, String process, List<Statement> statements) {
    if (!contains(statements, "allocation")) {
      return;
    }
    List<Step> steps = log.steps(world, statements);
    Stored first = null;
    for (Step step : steps) {
      Stored after = step.after();
      if (after == null) {
        continue;
      }
      if (after.state().equals("PROVISIONING") && after.activeAt() != null) {
        throw violated("{} is billed since {}", after, after.activeAt());
      }
      if (becomesActive(step) && !isInPlaceOfActive(step, steps)) {
        if (first != null && !String.valueOf(first.activeAt()).equals("" + after.activeAt())) {
          throw violated("{} and {} became active at different times", first, after);
        }
        first = after;
      }
    }
    if (first != null) {
      judge(first);
    }
  }

  private void judge(Stored active) {
    Buyer buyer = log.buyers().get(active.cluster());
    int count = 0;
    for (Life life : log.live().values()) {
      Stored held = life.stored;
      boolean isActive = held.state().equals("ACTIVE") && held.replaces() == null;
      count += isActive && held.cluster().equals(active.cluster()) ? 1 : 0;
    }
    // A minimum that was raised after the grant does not apply to the granted nodes.
    if (buyer != null && count < Math.min(buyer.minimum(), active.minimumSlots())) {
      throw violated("{} became active, and {} nodes of {} are", active, count, buyer);
    }
  }

  private static boolean becomesActive(Step step) {
    Stored before = step.before();
    Stored after = step.after();
    return after != null
        && after.state().equals("ACTIVE")
        && (before == null || !before.state().equals("ACTIVE"));
  }

  private static boolean isInPlaceOfActive(Step landed, List<Step> steps) {
    Stored before = landed.before();
    String replaced = before == null ? null : before.replaces();
    for (Step step : steps) {
      Stored was = step.before();
      if (was != null && was.id().equals(replaced) && was.state().equals("ACTIVE")) {
        return true;
      }
    }
    return false;
  }
}
