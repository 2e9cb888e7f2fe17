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
   * @param terms what a write of a cluster is judged by as of now
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
   * One page of the clusters that the caller reaches, by name. A token that is bound to a VM
   * cluster reaches none.
   *
   * @param after the name to go on after, empty for the beginning
   * @param limit clusters of the page
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
   * One cluster: the one named, else the token's own, else the organization's only one.
   *
   * <p>Refused with {@code not-found}, {@code forbidden} for one that the token's binding excludes,
   * and {@code ambiguous-cluster}.
   */
  public ClusterView readCluster(Principal caller, Optional<String> cluster) {
    return access.resolve(caller, cluster);
  }

  /**
   * A bid as sent, but for who sends it.
   *
   * @param cluster the cluster it names, if any
   * @param limitPricePerGpuHour the ceiling in US dollars
   * @param maxGpus GPUs wanted; empty to keep the standing size, which is 0 before the first bid
   * @param expectedVersion the version the client read
   * @param conditions its end and budget
   */
  public record Bid(
      Optional<String> cluster,
      BigDecimal limitPricePerGpuHour,
      Optional<Integer> maxGpus,
      long expectedVersion,
      Conditions conditions) {}

  /**
   * Bids; answers the state after it. Judged and refused as a VM cluster's declaration is, but that
   * no ssh key is demanded.
   */
  public Future<ClusterView> writeBid(Principal caller, Bid bid) {
    return writeBid(caller, bid, List.of());
  }

  /**
   * Bids in one commit with statements that must hold; answers the state after it.
   *
   * <p>Fails as {@link dev.bourse.store.Database#commit} does when one of them does not hold.
   */
  public Future<ClusterView> writeBid(Principal caller, Bid bid, List<Statement> fences) {
    String name = access.resolve(caller, bid.cluster()).cluster().name();
    return owners
        .leashes()
        .of(caller)
        .compose(
            leashes ->
                owners.submit(
                    name,
                    (cluster, now) ->
                        Capacity.declare(
                            cluster,
                            order(caller, bid, cluster),
                            terms.apply(cluster).under(leashes.apply(cluster)),
                            now),
                    fences));
  }

  /** What a bid would do at the next tick, or why it would be refused. Writes nothing. */
  public Future<Preview> previewBid(Principal caller, Bid bid) {
    Cluster standing = access.resolve(caller, bid.cluster()).cluster();
    return owners
        .leashes()
        .of(caller)
        .compose(
            leashes ->
                previewing.preview(
                    standing, order(caller, bid, standing), leashes.apply(standing)));
  }

  /** The declaration that a bid comes to, upon a cluster as it stands. */
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
