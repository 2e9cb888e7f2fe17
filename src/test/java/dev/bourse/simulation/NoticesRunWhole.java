package dev.bourse.simulation;

import static dev.bourse.simulation.MarketInvariants.SECOND;
import static dev.bourse.simulation.MarketInvariants.contains;

import dev.bourse.simulation.AllocationLog.Life;
import dev.bourse.simulation.AllocationLog.Step;
import dev.bourse.simulation.AllocationLog.Stored;
import dev.bourse.store.Statement;
import java.util.List;

/**
 * Rivals take no node before its holder was given notice and the notice has run out, unless the
 * holder lowered its ceiling, or the node's withdrawn notice has run out; only active nodes are
 * given notice; at rest no notice lasts longer than announced.
 */
final class NoticesRunWhole extends Invariant {
  /** From a decision to its commit: two time-outs, and the skew of clocks. */
  private static final long COMMIT_SECONDS = 12;

  /** Two ticks, and a change of the market's process in between. */
  private static final long LATE_SECONDS = 60;

  /** How long a withdrawn notice counts. */
  private static final long COUNTS_SECONDS = 3_600;

  private final AllocationLog log;

  NoticesRunWhole(AllocationLog log) {
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
      if (before == null || after == null) {
        continue;
      }
      if (after.noticeEndsAt() != null && !after.state().equals("ACTIVE")) {
        throw violated("{} is under notice", after);
      }
      boolean isTaken = before.isOpen() && "OUTBID".equals(after.reason());
      if (isTaken && before.replaces() == null && world.settings.noticeSeconds() > 0) {
        judge(world, step.life(), before, after);
      }
    }
  }

  private void judge(World world, Life life, Stored before, Stored after) {
    long now = world.scheduler.nowNanos();
    if (life.underSeatNanos >= 0 && now - life.underSeatNanos < LATE_SECONDS * SECOND) {
      return; // Its holder lowered the ceiling under the one that seated it, and knows.
    }
    Long at = after.reclaimAt();
    Long endsAt = before.noticeEndsAt();
    Long withdrawnEndsAt = before.withdrawnEndsAt();
    boolean isWithdrawnOver = at != null && withdrawnEndsAt != null && at >= withdrawnEndsAt;
    if (endsAt == null && !isWithdrawnOver && !isPassedOn(world, life, before)) {
      throw violated("{} was taken at {} without notice", before, at);
    }
    if (endsAt == null || !log.areClocksRight(world)) {
      return;
    }
    if (at == null || at < endsAt) {
      throw violated("{} was taken at {}", before, at);
    }
    long seconds = (now - life.lastNoticeNanos) / SECOND;
    if (seconds < world.settings.noticeSeconds() - COMMIT_SECONDS
        && !isPassedOn(world, life, before)) {
      throw violated("{} was taken {} s after it was given notice", before, seconds);
    }
  }

  /**
   * Returns true if another node of the organization, which this one replaced, was recently under
   * notice.
   */
  private boolean isPassedOn(World world, Life life, Stored taken) {
    String org = org(taken);
    long recentNanos = (world.settings.noticeSeconds() + COUNTS_SECONDS) * SECOND;
    for (Life other : log.live().values()) {
      if (other != life
          && other.lastNoticeNanos >= 0
          && world.scheduler.nowNanos() - other.lastNoticeNanos < recentNanos
          && org.equals(org(other.stored))) {
        return true;
      }
    }
    return false;
  }

  private String org(Stored held) {
    AllocationLog.Buyer buyer = log.buyers().get(held.cluster());
    return buyer == null ? "" : buyer.org();
  }

  @Override
  void atRest(World world) {
    for (Life life : log.live().values()) {
      long seconds = (world.scheduler.nowNanos() - life.noticeNanos) / SECOND;
      if (life.noticeNanos >= 0
          && log.areClocksRight(world)
          && seconds > world.settings.noticeSeconds() + LATE_SECONDS) {
        throw violated("{} is under notice for {} s", life.stored, seconds);
      }
    }
  }
}
