package dev.bourse.capacity;

import dev.bourse.access.Principal;
import dev.bourse.access.TokenLimits;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditedReads;
import dev.bourse.core.ApiException;
import dev.bourse.pools.Pool;
import dev.bourse.pools.Quote;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/** The VM surface: capacity and swaps of an organization's clusters. */
public final class CapacityService {
  private final Clusters clusters;
  private final ClusterAccess access;
  private final ClusterOwners owners;
  private final Predicate<String> hasSshKeys;
  private final AuditedReads reads;
  private final CapacityConfig config;
  private final Clock clock;
  private final FutureWrites ahead;
  private final PreviewService previewing;

  /**
   * @param hasSshKeys whether an organization has any ssh key registered
   * @param market tells what the next tick would bring
   * @param nanoTime a clock that nobody sets
   */
  public CapacityService(
      Clusters clusters,
      ClusterOwners owners,
      Predicate<String> hasSshKeys,
      AuditedReads reads,
      CapacityConfig config,
      TickPreview.Source market,
      Clock clock,
      LongSupplier nanoTime) {
    this.clusters = clusters;
    this.access = new ClusterAccess(clusters, Cluster.Kind.VM);
    this.owners = owners;
    this.hasSshKeys = hasSshKeys;
    this.reads = reads;
    this.config = config;
    this.clock = clock;
    this.ahead = new FutureWrites(nanoTime);
    this.previewing = new PreviewService(clusters, this::terms, market, clock);
  }

  /** The latest snapshot; an audited read. */
  public ClusterView readCapacity(Principal caller, Optional<String> cluster) {
    return read(caller, cluster, "");
  }

  /**
   * @param detail what the read is for, as the trail records it
   */
  private ClusterView read(Principal caller, Optional<String> cluster, String detail) {
    ClusterView view = access.resolve(caller, cluster);
    reads.record(
        new AuditRow(
            clock.millis(),
            caller.org().orgId(),
            caller.actor(),
            "vm_capacity_get",
            view.cluster().name(),
            detail));
    return view;
  }

  /**
   * What a declaration would do at the next tick, or why it would be refused; an audited read of
   * the capacity state. Writes nothing and leaves the write cadence alone.
   *
   * @param cluster the cluster it names, if any
   */
  public Future<Preview> preview(
      Principal caller, Optional<String> cluster, Capacity.Declare order) {
    Cluster standing = read(caller, cluster, "preview").cluster();
    return owners
        .leashes()
        .of(caller)
        .compose(leashes -> previewing.preview(standing, order, leashes.apply(standing)));
  }

  /** How far the caller's declarations may go, on this surface and on every other. */
  public Future<TokenLimits> readLimits(Principal caller) {
    return owners.leashes().readLimits(caller);
  }

  /**
   * Declares capacity in one commit with statements that must hold; answers the state after it.
   *
   * <p>Fails as {@link dev.bourse.store.Database#commit} does when one of them does not hold.
   *
   * @param cluster the cluster it names, if any
   */
  public Future<ClusterView> declareCapacity(
      Principal caller, Optional<String> cluster, Capacity.Declare order, List<Statement> fences) {
    String name = access.resolve(caller, cluster).cluster().name();
    return owners
        .leashes()
        .of(caller)
        .compose(
            leashes ->
                owners.submit(
                    name,
                    (state, now) ->
                        Capacity.declare(
                            state, order, terms(state).under(leashes.apply(state)), now),
                    fences));
  }

  /**
   * What a list of nodes to release first comes to.
   *
   * @param cluster the cluster it is for
   * @param version the cluster's version now
   * @param release the entries that match a held node, each once; empty when none were named
   * @param nominations the nominations that would stand
   * @param replaced the standing ones that it would replace
   * @param unknown entries that match no held node
   * @param refusal what a declaration with unknown entries is refused with
   */
  public record Nominated(
      String cluster,
      long version,
      Optional<List<String>> release,
      List<String> nominations,
      List<String> replaced,
      List<String> unknown,
      Optional<ApiException> refusal) {}

  /** Looks up the nodes that a declaration would name; entries that match none are told apart. */
  public Nominated nominate(
      Principal caller, Optional<String> named, Optional<List<String>> release) {
    ClusterView view = access.resolve(caller, named);
    Set<String> held = new HashSet<>();
    view.cluster().releaseOrder().stream()
        .map(Allocation::publicIp)
        .filter(Objects::nonNull)
        .forEach(held::add);
    Optional<List<String>> known =
        release.map(sent -> sent.stream().filter(held::contains).distinct().toList());
    List<String> unknown =
        release.orElse(List.of()).stream().filter(node -> !held.contains(node)).toList();
    List<String> standing = view.nominations();
    return new Nominated(
        view.cluster().name(),
        view.cluster().version(),
        known,
        known.orElse(standing),
        known.isPresent() ? standing : List.of(),
        unknown,
        unknown.stream()
            .findFirst()
            .map(node -> Capacity.unknownNode(view.cluster(), "release", node)));
  }

  /**
   * A swap in flight.
   *
   * @param requestedAtMillis since when
   * @param lapsesAtMillis until when it waits for a replacement
   * @param version the cluster's version
   */
  public record Swap(
      String cluster, String node, long requestedAtMillis, long lapsesAtMillis, long version) {}

  /** Asks for another machine in the place of this one; asking again is harmless. */
  public Future<Swap> swapNode(Principal caller, Optional<String> named, String node) {
    return swapNode(
        access.resolve(caller, named).cluster().name(), caller, node, cluster -> {}, List.of());
  }

  /**
   * The same of a cluster at this version, in one commit with statements that must hold.
   *
   * <p>Fails with {@code version-mismatch} when it is at another by now.
   */
  public Future<Swap> swapNode(
      Principal caller, String named, String node, long version, List<Statement> fences) {
    return swapNode(
        access.resolve(caller, Optional.of(named)).cluster().name(),
        caller,
        node,
        cluster -> Capacity.requireVersion(cluster, version),
        fences);
  }

  /**
   * The cluster whose node a swap would be of, if it would be accepted but for the cadence; an
   * audited read of its capacity state. Writes nothing; refused as the swap would be.
   */
  public ClusterView previewSwap(Principal caller, Optional<String> named, String node) {
    ClusterView view = read(caller, named, "swap preview");
    Cluster cluster = view.cluster();
    Capacity.swap(cluster, caller.actor(), node, terms(cluster).atAnyTime(), clock.millis());
    return view;
  }

  private Future<Swap> swapNode(
      String name, Principal caller, String node, Consumer<Cluster> guard, List<Statement> fences) {
    return owners
        .submit(
            name,
            (cluster, now) -> {
              guard.accept(cluster);
              return Capacity.swap(cluster, caller.actor(), node, terms(cluster), now);
            },
            fences)
        .map(
            after -> {
              Cluster cluster = after.cluster();
              Long requestedAt =
                  cluster.findHeld(node).map(Allocation::swapRequestedAtMillis).orElse(null);
              long since = requestedAt == null ? clock.millis() : requestedAt;
              return new Swap(
                  cluster.name(),
                  node,
                  since,
                  since + config.swapFreshnessMillis(),
                  cluster.version());
            });
  }

  /**
   * A drill that is running.
   *
   * @param nodes the public IPs of the nodes whose programs are told
   * @param version the cluster's version
   */
  public record Drilled(String cluster, Drill drill, List<String> nodes, long version) {}

  /** Starts a drill on all active nodes of a cluster; asking again is harmless. */
  public Future<Drilled> drillNodes(Principal caller, Optional<String> named) {
    String name = access.resolve(caller, named).cluster().name();
    return owners
        .submit(
            name,
            (cluster, now) -> Capacity.drill(cluster, caller.actor(), terms(cluster), now),
            List.of())
        .map(
            after -> {
              Cluster cluster = after.cluster();
              Drill drill = Objects.requireNonNull(cluster.drill());
              return new Drilled(
                  name,
                  drill,
                  cluster.allocations().stream()
                      .filter(drill::concerns)
                      .map(Allocation::publicIp)
                      .filter(Objects::nonNull)
                      .toList(),
                  cluster.version());
            });
  }

  /** What a write of a cluster is judged by as of now; commands ask when they run. */
  public Terms terms(Cluster cluster) {
    Pool pool = clusters.poolOf(cluster);
    Optional<Quote> quote = clusters.findQuote(pool.name());
    return new Terms(
        pool,
        quote.map(Quote::admissionCents).orElse(null),
        clusters.switches().writesArmed(),
        hasSshKeys.test(cluster.orgId()),
        new Terms.Cadence(config.cadenceMillis(), ahead.overMillis(cluster, clock.millis())),
        Leash.NONE,
        new Terms.Ticks(quote.map(Quote::nextTickAtMillis).orElse(0L), config.tickMillis()));
  }
}
