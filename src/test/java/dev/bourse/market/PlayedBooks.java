package dev.bourse.market;

import dev.bourse.billing.PricesInForce;
import dev.bourse.billing.Usage;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Declaration;
import dev.bourse.capacity.Standing;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The stored records of one cluster of a {@link PlayedMarket}, from which its bill is computed. */
final class PlayedBooks {
  final String cluster;
  final List<PricesInForce.Read> reads = new ArrayList<>();
  final List<PricesInForce.Declared> declared = new ArrayList<>();

  /** The ceiling at each gate, kept apart from the records of the market; no bill exceeds it. */
  final List<Usage.ChangePoint> limits = new ArrayList<>();

  final List<Usage.ChangePoint> prices = new ArrayList<>();
  final Map<String, Allocation> allocations = new LinkedHashMap<>();

  PlayedBooks(String cluster) {
    this.cluster = cluster;
  }

  void note(Cluster before, Cluster after, long now) {
    Declaration was = before.declared();
    Declaration is = after.declared();
    if (is != null && (was == null || was.ceilingCents() != is.ceilingCents())) {
      Long effective = is.effectiveAtMillis();
      declared.add(
          new PricesInForce.Declared(
              is.updatedAtMillis(), effective == null ? now : effective, is.ceilingCents()));
    }
    Standing.Gate gate = after.standing().gate();
    if (gate != null && !gate.equals(before.standing().gate())) {
      reads.add(
          new PricesInForce.Read(gate.atMillis(), gate.ceilingCents(), gate.pricedAtMillis()));
    }
    after.allocations().forEach(a -> allocations.put(a.allocationId(), a));
  }

  void gate(Map<String, Cluster> clusters, long now) {
    Cluster state = clusters.get(cluster);
    if (state != null && state.declared() != null && state.ceilingCents() != limitCents()) {
      limits.add(new Usage.ChangePoint(now, state.ceilingCents()));
    }
  }

  /** The ceiling at the last gate. */
  long limitCents() {
    Long last = limits.isEmpty() ? null : limits.get(limits.size() - 1).cents();
    return last == null ? 0 : last;
  }

  void price(long now, @Nullable Long cents) {
    if (prices.isEmpty() || !Objects.equals(priceCents(), cents)) {
      prices.add(new Usage.ChangePoint(now, cents));
    }
  }

  /** The rate that the organization pays now. */
  @Nullable Long priceCents() {
    return prices.isEmpty() ? null : prices.get(prices.size() - 1).cents();
  }

  /** The active nodes, as billed. */
  List<Usage.Held> held(boolean areLocked) {
    List<Usage.Held> held = new ArrayList<>();
    for (Allocation a : allocations.values()) {
      Long from = a.activeAtMillis();
      Allocation.Reclaim reclaim = a.reclaim();
      Long to = reclaim == null ? null : Long.valueOf(reclaim.atMillis());
      if (from != null && (to == null || to > from)) {
        Long cents = a.protection().grantPriceCents();
        Long until = a.protectedUntilMillis();
        boolean isLocked = areLocked && cents != null && until != null;
        held.add(
            new Usage.Held(
                PlayedMarket.GPUS,
                from,
                to,
                isLocked
                    ? new Usage.Lock(Objects.requireNonNull(cents), Objects.requireNonNull(until))
                    : null));
      }
    }
    return held;
  }
}
