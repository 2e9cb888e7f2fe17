package dev.bourse.capacity;

import dev.bourse.access.Principal;
import dev.bourse.access.TokenLimits;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditedReads;
import dev.bourse.core.ApiException;
import dev.bourse.core.Page;
import dev.bourse.json.JsonRecord;
import dev.bourse.pools.Pool;
import dev.bourse.pools.Quote;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/** One surface: declarations, swaps and drills of an organization's clusters of one kind. */
public final class CapacityService {
  private final Clusters clusters;
  private final Cluster.Kind surface;
  private final ClusterAccess access;
  private final ClusterOwners owners;
  private final Predicate<String> hasSshKeys;
  private final AuditedReads reads;
  private final CapacityConfig config;
  private final Clock clock;
  private final FutureWrites ahead;
  private final PreviewService previewing;
  private final Outlook.Source outlooks;

  /**
   * Creates the service of the VM surface.
   *
   * @param hasSshKeys true if an organization has registered an SSH key
   * @param market the source of previews of the next tick
   * @param outlooks the source of outlooks
   * @param nanoTime a monotonic clock, in nanoseconds
   */
  public CapacityService(
      Clusters clusters,
      ClusterOwners owners,
      Predicate<String> hasSshKeys,
      AuditedReads reads,
      CapacityConfig config,
      TickPreview.Source market,
      Outlook.Source outlooks,
      Clock clock,
      LongSupplier nanoTime) {
    this.clusters = clusters;
    this.surface = Cluster.Kind.VM;
    this.access = new ClusterAccess(clusters, surface);
    this.owners = owners;
    this.hasSshKeys = hasSshKeys;
    this.reads = reads;
    this.config = config;
    this.clock = clock;
    this.ahead = new FutureWrites(nanoTime);
    this.previewing = new PreviewService(clusters, this::terms, market, clock);
    this.outlooks = outlooks;
  }

  private CapacityService(CapacityService other, Cluster.Kind surface) {
    this.clusters = other.clusters;
    this.surface = surface;
    this.access = new ClusterAccess(clusters, surface);
    this.owners = other.owners;
    this.hasSshKeys = other.hasSshKeys;
    this.reads = other.reads;
    this.config = other.config;
    this.clock = other.clock;
    this.ahead = other.ahead;
    this.previewing = other.previewing;
    this.outlooks = other.outlooks;
  }

  /** Returns this service for the clusters of another surface. */
  public CapacityService on(Cluster.Kind other) {
    return new CapacityService(this, other);
  }

  /**
   * Returns one page of the clusters that the caller can address, by name. A token bound to a
   * cluster of another surface can address none.
   *
   * @param after the name before the page, empty for the first page
   * @param limit clusters of the page, at least 1
   */
  public Page<ClusterView> list(Principal caller, String after, int limit) {
    List<ClusterView> reached =
        clusters.ofOrg(caller.org().orgId(), surface).stream()
            .filter(v -> !v.cluster().isRetired())
            .filter(v -> caller.cluster() == null || caller.cluster().equals(v.cluster().name()))
            .filter(v -> v.cluster().name().compareTo(after) > 0)
            .limit(limit + 1L)
            .toList();
    return Page.of(reached, limit);
  }

  /**
   * Returns the latest snapshots of the clusters that the caller can address, and of retired ones
   * that are not settled yet, by name. The audit trail records a read of each VM cluster.
   *
   * @param detail the purpose of the reads, as the audit trail records it
   */
  public List<ClusterView> readAll(Principal caller, String detail) {
    List<ClusterView> reached =
        clusters.ofOrg(caller.org().orgId(), surface).stream()
            .filter(v -> caller.cluster() == null || caller.cluster().equals(v.cluster().name()))
            .toList();
    reached.forEach(view -> record(caller, view, detail));
    return reached;
  }

  /** Returns the latest snapshot. The audit trail records the read of a VM cluster. */
  public ClusterView readCapacity(Principal caller, Optional<String> cluster) {
    return read(caller, cluster, "");
  }

  /**
   * @param detail the purpose of the read, as the audit trail records it
   */
  private ClusterView read(Principal caller, Optional<String> cluster, String detail) {
    ClusterView view = access.resolve(caller, cluster);
    record(caller, view, detail);
    return view;
  }

  private void record(Principal caller, ClusterView view, String detail) {
    if (surface == Cluster.Kind.VM) {
      reads.record(
          new AuditRow(
              clock.millis(),
              caller.org().orgId(),
              caller.actor(),
              "vm_capacity_get",
              view.cluster().name(),
              detail));
    }
  }

  /**
   * Returns the effect of a declaration at the next tick, or the reason why it would be rejected.
   * It writes nothing to the cluster and does not count for the write cadence. The audit trail
   * records it as a read of a VM cluster.
   *
   * @param cluster the cluster that the call names; empty for the caller's only one
   */
  public Future<Preview> preview(
      Principal caller, Optional<String> cluster, Capacity.Declare order) {
    Cluster standing = read(caller, cluster, "preview").cluster();
    return owners
        .limitsReader()
        .of(caller)
        .compose(limitsOf -> previewing.preview(standing, order, limitsOf.apply(standing)));
  }

  /**
   * Returns a cluster's outlook as its surface's contract shows it. The audit trail records it as a
   * read of a VM cluster. Fails with {@code overloaded} if too many outlooks wait.
   */
  public Future<JsonRecord> readOutlook(Principal caller, Optional<String> named) {
    Cluster cluster = read(caller, named, "outlook").cluster();
    return outlooks
        .outlook(cluster)
        .map(
            outlook ->
                switch (surface) {
                  case VM -> outlook.toJson(cluster.name());
                  case K8S -> K8sText.outlook(cluster.name(), outlook);
                });
  }

  /** Returns the limits of the caller's declarations, which apply to all surfaces. */
  public Future<TokenLimits> readLimits(Principal caller) {
    return owners.limitsReader().readLimits(caller);
  }

  /**
   * Declares capacity in one commit with guarded statements; returns the state after it.
   *
   * <p>Fails as {@link dev.bourse.store.Database#commit} does if a guard does not hold.
   *
   * @param cluster the cluster that the call names; empty for the caller's only one
   */
  public Future<ClusterView> declareCapacity(
      Principal caller, Optional<String> cluster, Capacity.Declare order, List<Statement> fences) {
    String name = access.resolve(caller, cluster).cluster().name();
    return owners
        .limitsReader()
        .of(caller)
        .compose(
            limitsOf ->
                owners.submit(
                    name,
                    (state, now) ->
                        Capacity.declare(
                            state, order, terms(state).under(limitsOf.apply(state)), now),
                    fences));
  }

  /**
   * The effect of a list of nodes to release first.
   *
   * @param cluster the cluster's name
   * @param version the cluster's version
   * @param release the entries that match a held node, each once; empty without a list
   * @param nominations the nominations after the declaration
   * @param replaced the standing nominations that the list replaces
   * @param unknown entries that match no held node
   * @param refusal the error of a declaration with unknown entries; empty without any
   */
  public record Nominated(
      String cluster,
      long version,
      Optional<List<String>> release,
      List<String> nominations,
      List<String> replaced,
      List<String> unknown,
      Optional<ApiException> refusal) {}

  /** Matches a list of nodes to release first with the nodes that the cluster holds. */
  public Nominated nominate(
      Principal caller, Optional<String> named, Optional<List<String>> release) {
    ClusterView view = access.resolve(caller, named);
    Set<String> held = view.cluster().byName().keySet();
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
   * @param requestedAtMillis when it was requested
   * @param lapsesAtMillis when it lapses unless a replacement is granted
   * @param version the cluster's version
   */
  public record Swap(
      String cluster, String node, long requestedAtMillis, long lapsesAtMillis, long version) {}

  /** Requests a swap of a node. Repeating the request changes nothing. */
  public Future<Swap> swapNode(Principal caller, Optional<String> named, String node) {
    return swapNode(
        access.resolve(caller, named).cluster().name(), caller, node, cluster -> {}, List.of());
  }

  /**
   * Requests a swap of a node in one commit with guarded statements.
   *
   * <p>Fails with {@code version-mismatch} if the cluster is at another version.
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
   * Checks a swap without requesting it and returns the cluster. It fails as the swap would, except
   * that the write cadence is not checked. The audit trail records it as a read.
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
                  cluster.findNamed(node).map(Allocation::swapRequestedAtMillis).orElse(null);
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
   * A running drill.
   *
   * @param nodes the public IPs of the nodes whose programs get the notice
   * @param version the cluster's version
   */
  public record Drilled(String cluster, Drill drill, List<String> nodes, long version) {}

  /** Starts a drill on all active nodes of a cluster. Repeating the request changes nothing. */
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

  /** Returns the current terms of writes of a cluster. Commands call it when they run. */
  public Terms terms(Cluster cluster) {
    Pool pool = clusters.poolOf(cluster);
    Optional<Quote> quote = clusters.findQuote(pool.name());
    return new Terms(
        pool,
        quote.map(Quote::admissionCents).orElse(null),
        clusters.switches().writesArmed(),
        hasSshKeys.test(cluster.orgId()),
        new Terms.Cadence(config.cadenceMillis(), ahead.overMillis(cluster, clock.millis())),
        DeclarationLimits.NONE,
        new Terms.Ticks(quote.map(Quote::nextTickAtMillis).orElse(0L), config.tickMillis()));
  }
}
