package dev.bourse.capacity;

import dev.bourse.core.Digests;
import dev.bourse.core.Price;
import dev.bourse.json.JsonBytes;
import dev.bourse.pools.Pool;
import dev.bourse.pools.PoolPrices;
import dev.bourse.pools.Switches;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.lang.ref.SoftReference;
import java.util.ArrayList;
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
      return of(json.toBuffer().getBytes());
    }

    private static Encoded of(byte[] json) {
      return new Encoded(Buffer.buffer(json), etag(json));
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
   * Returns the capacity state. It is encoded again if the pool's terms or prices or the platform's
   * switches changed, and at each read while a billing hold counts down. Two threads may encode it
   * at the same time; both results are valid.
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
    Pool pool = prices.pool();
    JsonBytes json =
        new JsonBytes()
            .put("cluster", cluster.name())
            .put("version", cluster.version())
            .put("writes_armed", switches.writesArmed() && cluster.writesArmed())
            .put("gpus_per_node", pool.gpusPerNode())
            .put("gpu_vendor", pool.gpuVendor())
            .put("gpu_model", pool.gpuModel())
            .put("max_price_cap_per_gpu_hour", Price.toUsd(pool.capCents()))
            .object("pool", fields -> prices.tell(fields::put));
    cluster.writeJson(json);
    json.put("pending", cluster.pending(pool.gpusPerNode()))
        .objects("allocations", cluster.allocations(), (fields, a) -> a.writeJson(fields))
        .strings("planned_release", reached(cluster.releaseOrder()), Allocation::publicIp)
        .strings("nominations", nominated(), Allocation::publicIp)
        .strings("swaps", swapping(), Allocation::publicIp)
        .put("billing_hold", billingHold())
        .put("spend_limit_enforced", switches.spendLimitEnforced())
        .put("billing_hold_enforced", switches.billingHoldEnforced())
        .object("environment", fields -> writeEnvironment(fields, pool));
    return Encoded.of(json.toBytes());
  }

  /** Returns the nodes that have an address. */
  private static List<Allocation> reached(List<Allocation> allocations) {
    return allocations.stream().filter(a -> a.publicIp() != null).toList();
  }

  private List<Allocation> swapping() {
    return cluster.allocations().stream().filter(a -> a.isOpen() && a.isSwapping()).toList();
  }

  private List<Allocation> nominated() {
    return cluster.allocations().stream()
        .filter(a -> a.isOpen() && a.nomination() > 0)
        .sorted(Comparator.comparingInt(Allocation::nomination))
        .toList();
  }

  /** Returns the public IPs of the standing nominations, in order. */
  List<String> nominations() {
    List<String> addresses = new ArrayList<>();
    nominated()
        .forEach(
            a -> {
              if (a.publicIp() != null) {
                addresses.add(a.publicIp());
              }
            });
    return addresses;
  }

  /** Returns the hold in force as all surfaces show it; null without one. */
  public @Nullable JsonObject billingHold() {
    Hold hold = cluster.hold();
    if (hold == null) {
      return null;
    }
    boolean isGrace = hold.stage() == Hold.Stage.GRACE;
    JsonObject json =
        new JsonObject().put("state", isGrace ? "grace" : "hold").put("reason", hold.reason());
    return isGrace
        ? json
        : json.put("stage", hold.stage().label()).put("enforce_after_ms", enforceAfter(hold));
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

  private static void writeEnvironment(JsonBytes json, Pool pool) {
    Pool.Environment environment = pool.environment();
    json.put("ssh_user", environment.sshUser())
        .put("ssh_port", environment.sshPort())
        .put("site", pool.site())
        .object("env", env -> environment.env().forEach(env::put))
        .object("storage", storage -> environment.storage().forEach(storage::put));
  }
}
