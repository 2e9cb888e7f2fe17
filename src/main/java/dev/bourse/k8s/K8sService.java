package dev.bourse.k8s;

import dev.bourse.access.Principal;
import dev.bourse.capacity.Capacity;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterAccess;
import dev.bourse.capacity.ClusterOwners;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Clusters;
import dev.bourse.capacity.Conditions;
import dev.bourse.capacity.Declaration;
import dev.bourse.capacity.Preview;
import dev.bourse.capacity.PreviewService;
import dev.bourse.capacity.Terms;
import dev.bourse.core.Page;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** The Kubernetes surface: an organization's Kubernetes clusters, their nodes and their bids. */
public final class K8sService {
  private final Clusters clusters;
  private final ClusterOwners owners;
  private final ClusterAccess access;
  private final Function<Cluster, Terms> terms;
  private final PreviewService previewing;

  /**
   * @param terms the current terms for writes of a cluster
   */
  public K8sService(
      Clusters clusters,
      ClusterOwners owners,
      Function<Cluster, Terms> terms,
      PreviewService previewing) {
    this.clusters = clusters;
    this.owners = owners;
    this.access = new ClusterAccess(clusters, Cluster.Kind.K8S);
    this.terms = terms;
    this.previewing = previewing;
  }

  /**
   * One page of the clusters that the caller can address, by name. A token bound to a VM cluster
   * can address none.
   *
   * @param after the name before the page, empty for the first page
   * @param limit clusters of the page, at least 1
   */
  public Page<ClusterView> listClusters(Principal caller, String after, int limit) {
    List<ClusterView> reached =
        clusters.ofOrg(caller.org().orgId(), Cluster.Kind.K8S).stream()
            .filter(v -> !v.cluster().isRetired())
            .filter(v -> caller.cluster() == null || caller.cluster().equals(v.cluster().name()))
            .filter(v -> v.cluster().name().compareTo(after) > 0)
            .limit(limit + 1L)
            .toList();
    return Page.of(reached, limit);
  }

  /**
   * Returns the named cluster, else the one the token is bound to, else the organization's only
   * one.
   *
   * <p>Fails with {@code not-found}, with {@code forbidden} for a cluster that the token's binding
   * excludes, or with {@code ambiguous-cluster}.
   */
  public ClusterView readCluster(Principal caller, Optional<String> cluster) {
    return access.resolve(caller, cluster);
  }

  /**
   * A bid as the caller sent it.
   *
   * @param cluster the cluster it names, if any
   * @param limitPricePerGpuHour the ceiling in US dollars
   * @param maxGpus GPUs wanted; empty to keep the current size, which is 0 before the first bid
   * @param expectedVersion the version the client read
   * @param conditions its end and budget
   */
  public record Bid(
      Optional<String> cluster,
      BigDecimal limitPricePerGpuHour,
      Optional<Integer> maxGpus,
      long expectedVersion,
      Conditions.Changes conditions) {}

  /**
   * Writes a bid and returns the state after it. The rules of a VM cluster's declaration apply,
   * except that no ssh key is required.
   */
  public Future<ClusterView> writeBid(Principal caller, Bid bid) {
    return writeBid(caller, bid, List.of());
  }

  /**
   * Writes a bid in one commit with statements that must hold, and returns the state after it.
   *
   * <p>Fails like {@link dev.bourse.store.Database#commit} when one of them does not hold.
   */
  public Future<ClusterView> writeBid(Principal caller, Bid bid, List<Statement> fences) {
    String name = access.resolve(caller, bid.cluster()).cluster().name();
    return owners
        .limitsReader()
        .of(caller)
        .compose(
            limitsOf ->
                owners.submit(
                    name,
                    (cluster, now) ->
                        Capacity.declare(
                            cluster,
                            order(caller, bid, cluster),
                            terms.apply(cluster).under(limitsOf.apply(cluster)),
                            now),
                    fences));
  }

  /** Returns the effect of a bid at the next tick, or its refusal. Writes nothing. */
  public Future<Preview> previewBid(Principal caller, Bid bid) {
    Cluster standing = access.resolve(caller, bid.cluster()).cluster();
    return owners
        .limitsReader()
        .of(caller)
        .compose(
            limitsOf ->
                previewing.preview(
                    standing, order(caller, bid, standing), limitsOf.apply(standing)));
  }

  /** The declaration that a bid makes on the current state of a cluster. */
  private static Capacity.Declare order(Principal caller, Bid bid, Cluster cluster) {
    Declaration standing = cluster.declared();
    int standingGpus = standing == null ? 0 : standing.maxGpus();
    return new Capacity.Declare(
        caller.actor(),
        bid.maxGpus().orElse(standingGpus),
        bid.limitPricePerGpuHour(),
        Optional.empty(),
        bid.expectedVersion(),
        bid.conditions());
  }
}
