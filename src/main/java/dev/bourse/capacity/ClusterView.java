package dev.bourse.capacity;

import dev.bourse.core.Digests;
import dev.bourse.core.Price;
import dev.bourse.json.JsonRecord;
import dev.bourse.pools.Pool;
import dev.bourse.pools.PoolPrices;
import dev.bourse.pools.Switches;
import dev.bourse.schemas.common.BillingHoldJson;
import dev.bourse.schemas.vm.CapacityStateJson;
import dev.bourse.schemas.vm.EnvironmentJson;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.lang.ref.SoftReference;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A published snapshot of a cluster, with the pool's terms in force when it is read. The first read
 * encodes its JSON; all later reads share it.
 */
public final class ClusterView {
  private final Cluster cluster;
  private final PoolInForce inForce;

  /** The encoded JSON; the JVM clears the least recently read ones first if memory is short. */
  private volatile @Nullable SoftReference<Kept> kept;

  ClusterView(Cluster cluster, PoolInForce inForce) {
    this.cluster = cluster;
    this.inForce = inForce;
  }

  /** Encoded JSON with its strong validator. */
  public record Encoded(Buffer json, String etag) {
    public static Encoded of(JsonObject json) {
      return of(json.toBuffer());
    }

    public static Encoded of(JsonRecord json) {
      return of(json.toBuffer());
    }

    private static Encoded of(Buffer json) {
      return new Encoded(json, etag(json.getBytes()));
    }

    /** Returns the first half of a SHA-256, long enough that no two states share a validator. */
    private static String etag(byte[] json) {
      return '"' + HexFormat.of().formatHex(Digests.sha256(json), 0, 16) + '"';
    }
  }

  /** The encoded state, with the prices and switches that it shows. */
  private record Kept(Encoded encoded, PoolPrices prices, Switches switches) {
    boolean shows(PoolPrices now, Switches switchesNow) {
      return prices.agreesWith(now)
          && Objects.equals(prices.pool(), now.pool())
          && Objects.equals(switches, switchesNow);
    }
  }

  public Cluster cluster() {
    return cluster;
  }

  /** Returns a copy that keeps the current terms and switches, for comparisons. */
  public ClusterView fixed() {
    ClusterView fixed = new ClusterView(cluster, inForce.fixed());
    fixed.kept = kept;
    return fixed;
  }

  /** True if the other view has the same state, terms and switches. */
  @SuppressWarnings("ReferenceEquality")
  public boolean isSameAs(ClusterView other) {
    return (cluster == other.cluster || cluster.equals(other.cluster))
        && inForce.pool().equals(other.inForce.pool())
        && inForce.switches().equals(other.inForce.switches());
  }

  /** Returns the pool's terms in force for this cluster. */
  public Pool pool() {
    return cluster.overrides().over(inForce.pool());
  }

  /** Returns the pool with the prices of its last tick. */
  public PoolPrices prices() {
    return PoolPrices.of(pool(), inForce.quote(), cluster.orgId());
  }

  /**
   * Returns the state as the cluster's surface shows it: the capacity state of a VM cluster, or a
   * Kubernetes cluster with its nodes. It is encoded again if the pool's terms or prices or the
   * platform's switches changed, and at each read while a billing hold counts down. Two threads may
   * encode it at the same time; both results are valid.
   */
  public Encoded encoded() {
    Switches switches = inForce.switches();
    Hold hold = cluster.hold();
    if (hold != null && hold.stage() == Hold.Stage.NOTICE) {
      return encode(prices(), switches);
    }
    PoolPrices ofAll = PoolPrices.of(inForce.pool(), inForce.quote(), cluster.orgId());
    SoftReference<Kept> reference = kept;
    Kept known = reference == null ? null : reference.get();
    if (known == null || !known.shows(ofAll, switches)) {
      PoolPrices own =
          new PoolPrices(
              cluster.overrides().over(ofAll.pool()),
              ofAll.clearingCents(),
              ofAll.admissionCents());
      known = new Kept(encode(own, switches), ofAll, switches);
      kept = new SoftReference<>(known);
    }
    return known.encoded();
  }

  private Encoded encode(PoolPrices prices, Switches switches) {
    return Encoded.of(
        switch (cluster.kind()) {
          case VM -> toJson(prices, switches);
          case K8S -> K8sText.cluster(this, prices);
        });
  }

  /** Returns the capacity state as the VM contract shows it. */
  CapacityStateJson toJson() {
    return toJson(prices(), inForce.switches());
  }

  private CapacityStateJson toJson(PoolPrices prices, Switches switches) {
    Pool pool = prices.pool();
    Declaration declared = cluster.declared();
    return new CapacityStateJson(
        cluster.name(),
        cluster.version(),
        switches.writesArmed() && cluster.writesArmed(),
        pool.gpusPerNode(),
        pool.gpuVendor(),
        pool.gpuModel(),
        Price.toUsd(pool.capCents()),
        prices.toJson(),
        declared == null ? null : Conditions.toJson(declared, cluster.verdict()),
        cluster.standing().ranksLastUntilMillis(),
        cluster.pending(pool.gpusPerNode()),
        cluster.allocations().stream().map(Allocation::toJson).toList(),
        cluster.namesOf(cluster.releaseOrder()),
        nominations(),
        swaps(),
        billingHold(),
        switches.spendLimitEnforced(),
        switches.billingHoldEnforced(),
        environment(pool));
  }

  /** Returns the names of the nodes with a swap in flight. */
  List<String> swaps() {
    return cluster.namesOf(
        cluster.allocations().stream().filter(a -> a.isOpen() && a.isSwapping()).toList());
  }

  /** Returns the names of the standing nominations, in order. */
  List<String> nominations() {
    return cluster.namesOf(
        cluster.allocations().stream()
            .filter(a -> a.isOpen() && a.nomination() > 0)
            .sorted(Comparator.comparingInt(Allocation::nomination))
            .toList());
  }

  /** Returns the hold in force as all surfaces show it; null without one. */
  public @Nullable BillingHoldJson billingHold() {
    Hold hold = cluster.hold();
    if (hold == null) {
      return null;
    }
    return hold.stage() == Hold.Stage.GRACE
        ? new BillingHoldJson("grace", hold.reason(), null, null)
        : new BillingHoldJson("hold", hold.reason(), hold.stage().label(), enforceAfter(hold));
  }

  /**
   * Returns the milliseconds until capacity may be reclaimed; 0 for a hold without a time, which an
   * operator may enforce at any moment.
   */
  private long enforceAfter(Hold hold) {
    Long at = hold.enforceAfterMillis();
    return hold.stage() == Hold.Stage.ENFORCE || at == null
        ? 0
        : Math.max(0, at - inForce.clock().millis());
  }

  private static EnvironmentJson environment(Pool pool) {
    Pool.Environment environment = pool.environment();
    return new EnvironmentJson(
        environment.sshUser(),
        environment.sshPort(),
        pool.site(),
        environment.env(),
        environment.storage());
  }
}
