package dev.bourse.capacity;

import dev.bourse.core.Price;
import dev.bourse.schemas.vm.CapacityOutlookJson;
import dev.bourse.schemas.vm.ExpectedLossJson;
import io.vertx.core.Future;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The losses that a cluster has to expect while the pool's bids, machines and limits stay as they
 * are, and the prices that would change it.
 *
 * @param tickAtMillis when the next tick is due
 * @param paused true if an operator paused the market, so that it grants and reclaims nothing
 * @param losses held nodes that the cluster will lose, the first to go first
 * @param keepCents the lowest ceiling per GPU-hour that keeps every node that higher bids take;
 *     null if they take none, and if no ceiling keeps them
 * @param pendingNodes declared nodes that the cluster neither holds nor wins at the next tick
 * @param pendingCents the lowest ceiling per GPU-hour that wins the pending nodes at the next tick;
 *     null if none is pending, and if no ceiling wins them
 */
public record Outlook(
    long tickAtMillis,
    boolean paused,
    List<ExpectedLoss> losses,
    @Nullable Long keepCents,
    int pendingNodes,
    @Nullable Long pendingCents) {

  /**
   * A node that the cluster will lose.
   *
   * @param reclaimAtMillis the tick at which it is reclaimed; null for one that gets its notice
   *     when it becomes active
   */
  public record ExpectedLoss(Allocation node, Cause by, @Nullable Long reclaimAtMillis) {
    private ExpectedLossJson toJson() {
      return new ExpectedLossJson(
          node.publicIp(),
          by.name().toLowerCase(Locale.ROOT),
          reclaimAtMillis,
          node.protectedUntilWhileActive());
    }
  }

  /** The cause of a loss. */
  public enum Cause {
    /** Higher bids. */
    MARKET,
    /** The end of the declaration. */
    UNTIL,
    /** A billing hold that is enforced. */
    HOLD,
    /** A minimum that was not ready in time. */
    UNWOUND;

    /** Returns the cause of the reclaim of an allocation that a tick took. */
    public static Cause of(Cluster after, String allocationId) {
      Allocation.Reclaim reclaim = after.find(allocationId).map(Allocation::reclaim).orElse(null);
      if (reclaim == null) {
        return MARKET;
      }
      return switch (reclaim.reason()) {
        case HOLD -> HOLD;
        case UNWOUND -> UNWOUND;
        case LAPSED, SPENT -> UNTIL;
        case OUTBID, SCALE_DOWN, SWAP, OPERATOR -> MARKET;
      };
    }
  }

  /** Returns the outlook without a price for the pending nodes. */
  public Outlook withoutPendingPrice() {
    return new Outlook(tickAtMillis, paused, losses, keepCents, pendingNodes, null);
  }

  /** Returns when the first node is reclaimed; null if no reclaim has a known time. */
  public @Nullable Long safeUntilMillis() {
    return losses.stream()
        .map(ExpectedLoss::reclaimAtMillis)
        .filter(Objects::nonNull)
        .min(Comparator.naturalOrder())
        .orElse(null);
  }

  /** Returns the outlook as the VM contract shows it. */
  CapacityOutlookJson toJson(String cluster) {
    return new CapacityOutlookJson(
        cluster,
        tickAtMillis,
        paused,
        safeUntilMillis(),
        losses.stream().map(ExpectedLoss::toJson).toList(),
        Price.toUsdOrNull(keepCents),
        pendingNodes,
        Price.toUsdOrNull(pendingCents));
  }

  /** Computes outlooks. */
  @FunctionalInterface
  public interface Source {
    /** Computes a cluster's outlook. Fails with {@code overloaded} if too many wait. */
    Future<Outlook> outlook(Cluster cluster);
  }
}
