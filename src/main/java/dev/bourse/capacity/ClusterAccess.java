package dev.bourse.capacity;

import dev.bourse.access.Principal;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Which cluster of one surface a caller means, and whether it may. */
public final class ClusterAccess {
  private final Clusters clusters;
  private final Cluster.Kind kind;
  private final String noun;

  /**
   * @param kind the surface; clusters of another do not exist here
   */
  public ClusterAccess(Clusters clusters, Cluster.Kind kind) {
    this.clusters = clusters;
    this.kind = kind;
    this.noun = noun(kind);
  }

  private static String noun(Cluster.Kind kind) {
    return switch (kind) {
      case VM -> "VM cluster";
      case K8S -> "Kubernetes cluster";
    };
  }

  /** Of a cluster that the caller may know, and asks for on the wrong surface. */
  private ApiException elsewhere(Cluster cluster) {
    return ApiException.of(
        ErrorCode.NOT_FOUND,
        "'%s' is a %s, no %s; read it at %s%s",
        cluster.name(),
        noun(cluster.kind()),
        noun,
        cluster.kind() == Cluster.Kind.VM ? "/api/vm/capacity?cluster=" : "/api/k8s/clusters/",
        cluster.name());
  }

  /**
   * The one cluster a call is about.
   *
   * @throws ApiException {@code not-found} for one that is unknown or another organization's (the
   *     two look alike), {@code forbidden} for one the token's binding excludes, {@code
   *     ambiguous-cluster} when none is named and there are several
   */
  public ClusterView resolve(Principal caller, Optional<String> named) {
    if (named.isPresent()) {
      return own(caller, named.get());
    }
    if (caller.cluster() != null) {
      return own(caller, caller.cluster());
    }
    List<ClusterView> all =
        clusters.ofOrg(caller.org().orgId(), kind).stream()
            .filter(view -> !view.cluster().isRetired())
            .toList();
    if (all.size() == 1) {
      return all.get(0);
    }
    if (all.isEmpty()) {
      throw ApiException.of(ErrorCode.NOT_FOUND, "the organization has no " + noun);
    }
    throw ApiException.of(
        ErrorCode.AMBIGUOUS_CLUSTER,
        "the organization has several %ss; pass cluster, in the query of a read or in the body of a"
            + " write, as one of %s",
        noun,
        all.stream().map(v -> v.cluster().name()).collect(Collectors.joining(", ")));
  }

  /** All clusters that a caller may act on and that are not settled. */
  public List<ClusterView> listUnsettled(Principal caller) {
    return caller.cluster() != null
        ? List.of(resolve(caller, Optional.empty()))
        : clusters.ofOrg(caller.org().orgId(), kind);
  }

  private ClusterView own(Principal caller, String name) {
    ClusterView view =
        clusters
            .find(name)
            .filter(v -> v.cluster().orgId().equals(caller.org().orgId()))
            .orElseThrow(() -> ApiException.notFound(noun, name));
    if (view.cluster().kind() != kind) {
      throw caller.cluster() == null || caller.cluster().equals(name)
          ? elsewhere(view.cluster())
          : ApiException.notFound(noun, name);
    }
    if (caller.cluster() != null && !caller.cluster().equals(name)) {
      throw ApiException.of(
          ErrorCode.FORBIDDEN,
          "the token is bound to cluster %s and cannot act on %s",
          caller.cluster(),
          name);
    }
    return view;
  }
}
