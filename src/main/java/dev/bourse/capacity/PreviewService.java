package dev.bourse.capacity;

import dev.bourse.core.ApiException;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Function;

/**
 * Previews declarations: applies {@link Capacity#declare} to the latest snapshot, then computes the
 * pool's next tick with the result. Nothing is written.
 */
public final class PreviewService {
  private final Clusters clusters;
  private final Function<Cluster, Terms> terms;
  private final TickPreview.Source market;
  private final Clock clock;

  /**
   * @param terms the current terms of a write of a cluster
   * @param market the source of previews of the next tick
   */
  public PreviewService(
      Clusters clusters, Function<Cluster, Terms> terms, TickPreview.Source market, Clock clock) {
    this.clusters = clusters;
    this.terms = terms;
    this.market = market;
    this.clock = clock;
  }

  /** Previews a declaration. */
  public Future<Preview> preview(
      Cluster seen, Capacity.Declare order, DeclarationLimits declarationLimits) {
    long now = clock.millis();
    // The owner, too, ends a declaration that is due before the write.
    Cluster standing =
        Lapse.isDue(seen, OptionalLong.of(now)) ? Lapse.atEnd(seen, now).next() : seen;
    Cluster next;
    try {
      next = declared(standing, order, terms.apply(standing).under(declarationLimits), now);
    } catch (ApiException refusal) {
      return Future.succeededFuture(new Preview(refusal, null));
    }
    return market
        .preview(next)
        .map(nextTick -> new Preview(null, expected(standing, clusters.view(next), nextTick, now)));
  }

  /** Ignores the write cadence, which delays a write but does not change its effect. */
  private static Cluster declared(
      Cluster standing, Capacity.Declare order, Terms terms, long nowMillis) {
    return Capacity.declare(standing, order, terms.atAnyTime(), nowMillis).next();
  }

  static Preview.Expected expected(
      Cluster standing, ClusterView next, TickPreview nextTick, long nowMillis) {
    List<Preview.Loss> shrunk = new ArrayList<>();
    List<Preview.Loss> outbid = new ArrayList<>();
    List<Preview.Loss> noticed = new ArrayList<>();
    List<Allocation> unprotected = new ArrayList<>();
    for (Allocation held : standing.releaseOrder()) {
      String id = held.allocationId();
      if (next.cluster().find(id).filter(Allocation::isOpen).isEmpty()) {
        shrunk.add(new Preview.Loss(held, Preview.Loss.By.WRITE, OptionalLong.empty()));
        continue;
      }
      if (held.isShielded(nowMillis, standing.ceilingCents())
          && !held.isShielded(nowMillis, next.cluster().ceilingCents())) {
        unprotected.add(held);
      }
      OptionalLong noticeEnd = nextTick.noticed().get(id);
      if (nextTick.lost().contains(id)) {
        OptionalLong tick = OptionalLong.of(nextTick.tickAtMillis());
        outbid.add(new Preview.Loss(held, Preview.Loss.By.TICK, tick));
      } else if (noticeEnd != null) {
        noticed.add(new Preview.Loss(held, Preview.Loss.By.NOTICE, noticeEnd));
      }
    }
    List<Preview.Loss> losses = new ArrayList<>(shrunk);
    losses.addAll(outbid);
    losses.addAll(noticed);
    long nodes = (long) next.cluster().filledSlots() - nextTick.lost().size() + nextTick.nodesWon();
    Long clearing = nextTick.clearingCents();
    long rate = clearing == null ? 0 : Math.min(clearing, next.cluster().ceilingCents());
    return new Preview.Expected(
        next,
        nextTick,
        List.copyOf(losses),
        List.copyOf(unprotected),
        nodes * next.pool().gpusPerNode() * rate);
  }
}
