package dev.bourse.capacity;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.FakeClock;
import dev.bourse.pools.Pool;
import dev.bourse.pools.Quote;
import dev.bourse.pools.Switches;
import dev.bourse.schemas.vm.CapacityDeclarationJson;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assertions;

/** Sample values for tests: one pool of 8-GPU nodes, cadence 5 s, swaps lapse after 1 h. */
public final class Sample {
  public static final long T0 = 1_700_000_000_000L;
  public static final long CADENCE = 5_000;
  public static final long FRESHNESS = 3_600_000;
  public static final long PROTECTION = 3_600_000;
  public static final String ACTOR = "token:abc";

  public static final Pool POOL =
      new Pool(
          "h100",
          "site-1",
          "simulated",
          new Pool.Hardware("NVIDIA", "H100", 8),
          new Pool.Bounds(100, 1_000),
          new Pool.Rules(true, true, false, Pool.Tenants.LOGIN, null),
          null,
          new Pool.Environment("tenant", 22, Map.of("A", "b"), Map.of("scratch", "/scratch")));

  /** Terms with armed writes and SSH keys, and without published prices. */
  public static final Terms TERMS = terms(POOL, null, true, true, CADENCE);

  /** The terms in force for views, with a clock at T0. */
  private static final Clock CLOCK = new FakeClock(T0);

  private Sample() {}

  /** Returns the terms of a writer without limits while no clock was set back. */
  public static Terms terms(
      Pool pool,
      @Nullable Long admissionCents,
      boolean writesArmed,
      boolean hasSshKeys,
      long cadenceMillis) {
    return new Terms(
        pool,
        admissionCents,
        writesArmed,
        hasSshKeys,
        new Terms.Cadence(cadenceMillis, 0),
        DeclarationLimits.NONE,
        new Terms.Ticks(0, 0));
  }

  public static Cluster empty() {
    return Cluster.created("c1", "acme", "h100", Cluster.Kind.VM, Cluster.Posture.MARKET);
  }

  /** Publishes a stored state, as its owner does. */
  public static void publish(Clusters clusters, Cluster cluster) {
    clusters.publish(cluster);
  }

  /** Returns the same cluster with another revision. */
  public static Cluster revised(Cluster cluster, long revision) {
    return cluster.withRevision(revision);
  }

  /** Returns the same cluster on the Kubernetes surface. */
  public static Cluster onK8s(Cluster vm) {
    return new Cluster(
        new Cluster.Identity(vm.name(), vm.orgId(), vm.pool(), Cluster.Kind.K8S),
        vm.controls(),
        vm.writes(),
        vm.declared(),
        vm.allocations(),
        vm.verdict(),
        vm.hold(),
        vm.alerts(),
        vm.setbacks(),
        vm.standing(),
        vm.drill());
  }

  /** Returns a cluster that bids for these GPUs with a minimum in nodes. */
  public static Cluster bidder(
      String name, String org, String price, int gpus, int minimum, long now) {
    JsonObject least = minimum == 1 ? new JsonObject() : Sample.least(8 * minimum);
    return Capacity.declare(
            Cluster.created(name, org, "h100", Cluster.Kind.VM, Cluster.Posture.MARKET),
            order(gpus, price, 0L, least),
            TERMS,
            now)
        .next();
  }

  /** Returns a declaration with required fields only. */
  public static Capacity.Declare order(int maxGpus, String price, long version) {
    return order(maxGpus, price, version, new JsonObject());
  }

  public static Capacity.Declare order(
      int maxGpus, String price, long version, List<String> release) {
    return order(maxGpus, price, version, new JsonObject().put("release", new JsonArray(release)));
  }

  /**
   * Returns a declaration as clients send it.
   *
   * @param price null for none
   * @param version null for none
   * @param rest the fields that a request may leave out
   */
  public static Capacity.Declare order(
      int maxGpus, @Nullable String price, @Nullable Long version, JsonObject rest) {
    return Capacity.Declare.of(
        ACTOR,
        CapacityDeclarationJson.read(
            new JsonObject()
                .put("max_gpus", maxGpus)
                .put("max_price_per_gpu_hour", price == null ? null : new BigDecimal(price))
                .put("expected_version", version)
                .mergeIn(rest)));
  }

  /** Returns the field of a minimum. */
  public static JsonObject least(int minGpus) {
    return new JsonObject().put("min_gpus", minGpus);
  }

  /** Declares GPUs at 2.00 on {@link #empty} at T0. */
  public static Cluster declared(int maxGpus) {
    return Capacity.declare(empty(), order(maxGpus, "2.00", 0), TERMS, T0).next();
  }

  /** Returns a cluster with grants of nodes n0, n1 … at T0 + 1 s, 2 s … */
  public static Cluster provisioning(int nodes) {
    Cluster cluster = declared(nodes * 8);
    for (int i = 0; i < nodes; i++) {
      cluster = granted(cluster, i, null, T0 + 1_000L * (i + 1));
    }
    return cluster;
  }

  /** Returns {@link #provisioning} with all nodes active at T0 + 60 s. */
  public static Cluster active(int nodes) {
    Cluster cluster = provisioning(nodes);
    for (int i = 0; i < nodes; i++) {
      cluster = MarketTransitions.provisioned(cluster, "a" + i, PROTECTION, T0 + 60_000).next();
    }
    return cluster;
  }

  /** Returns the grant of node n{i} at address 10.0.0.{i} as allocation a{i}. */
  public static Cluster granted(Cluster cluster, int i, @Nullable String replaces, long nowMillis) {
    return settled(cluster, List.of(grant(i, replaces)), List.of(), nowMillis).next();
  }

  /** Returns the grant of a gang's node, whose minimum is in nodes. */
  public static Cluster grantedToGang(Cluster cluster, int i, int minimumSlots, long nowMillis) {
    MarketTransitions.Orders.Grant grant =
        new MarketTransitions.Orders.Grant(
            "a" + i, "n" + i, ip(i), null, List.of("key_1"), minimumSlots);
    return settled(cluster, List.of(grant), List.of(), nowMillis).next();
  }

  public static MarketTransitions.Orders.Grant grant(int i, @Nullable String replaces) {
    return new MarketTransitions.Orders.Grant(
        "a" + i, "n" + i, ip(i), replaces, List.of("key_1"), 1);
  }

  public static Transition settled(
      Cluster cluster,
      List<MarketTransitions.Orders.Grant> grants,
      List<MarketTransitions.Orders.Taken> taken,
      long nowMillis) {
    return MarketTransitions.settle(
        cluster,
        orders(cluster, grants, taken, NoticeOrders.NONE, cluster.verdict(), nowMillis),
        nowMillis);
  }

  /** Returns the orders of a tick at this time that read this state; its price is 1.00. */
  public static MarketTransitions.Orders orders(
      Cluster cluster,
      List<MarketTransitions.Orders.Grant> grants,
      List<MarketTransitions.Orders.Taken> taken,
      NoticeOrders notices,
      Verdict verdict,
      long nowMillis) {
    Declaration declared = cluster.declared();
    long granted = grants.stream().filter(grant -> grant.replaces() == null).count();
    Set<String> losing = new HashSet<>(notices.given().keySet());
    taken.forEach(loser -> losing.add(loser.allocationId()));
    return new MarketTransitions.Orders(
        new Standing.Gate(
            cluster.ceilingCents(), declared == null ? 0 : declared.pricedAtMillis(), nowMillis),
        cluster.version(),
        POOL.gpusPerNode(),
        100L,
        (int) (cluster.filledSlots() - taken.size() + granted),
        grants,
        losing,
        taken,
        notices,
        verdict,
        FRESHNESS,
        null,
        false);
  }

  /** Returns snapshots as a market reads them. */
  public static List<ClusterView> views(Cluster... clusters) {
    List<ClusterView> views = new ArrayList<>();
    for (Cluster cluster : clusters) {
      views.add(view(cluster, POOL, () -> null, new Switches(true, false, false), CLOCK));
    }
    return views;
  }

  /** Returns snapshots of clusters of any pool. */
  public static List<ClusterView> views(Pool pool, Collection<Cluster> clusters) {
    List<ClusterView> views = new ArrayList<>(clusters.size());
    for (Cluster cluster : clusters) {
      views.add(view(cluster, pool, () -> null, new Switches(true, true, true), CLOCK));
    }
    return views;
  }

  /** Returns a snapshot under these terms. */
  static ClusterView view(
      Cluster cluster, Pool pool, Supplier<@Nullable Quote> quote, Switches switches, Clock clock) {
    return new ClusterView(
        cluster,
        new PoolInForce() {
          @Override
          public Pool pool() {
            return pool;
          }

          @Override
          public @Nullable Quote quote() {
            return quote.get();
          }

          @Override
          public Switches switches() {
            return switches;
          }

          @Override
          public Clock clock() {
            return clock;
          }
        });
  }

  public static String ip(int i) {
    return "10.0.0." + i;
  }

  public static Allocation at(Cluster cluster, int i) {
    return cluster.find("a" + i).orElseThrow();
  }

  /** Returns a cluster's declaration, which must exist. */
  public static Declaration declaration(Cluster cluster) {
    return Objects.requireNonNull(cluster.declared());
  }

  /** Returns the addresses in the order in which a shrink takes them. */
  public static List<String> plannedRelease(Cluster cluster) {
    List<String> addresses = new ArrayList<>();
    cluster.releaseOrder().forEach(a -> addresses.add(String.valueOf(a.publicIp())));
    return addresses;
  }

  public static ApiException refused(ErrorCode code, Runnable action) {
    ApiException error = Assertions.assertThrows(ApiException.class, action::run);
    Assertions.assertEquals(code, error.code(), error.detail());
    return error;
  }
}
