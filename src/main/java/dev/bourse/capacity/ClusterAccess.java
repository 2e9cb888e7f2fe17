package dev.bourse.capacity;

import dev.bourse.access.Principal;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Finds the cluster that a call is about and checks that the caller may use it. */
public final class ClusterAccess {
  private final Clusters clusters;
  private final Cluster.Kind kind;
  private final String noun;

  /**
   * @param kind the surface; clusters of other surfaces are not found
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

  /** Returns the error for a cluster of the caller that belongs to another surface. */
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
   * Returns the cluster that a call is about: the named one, that of the token's binding, or the
   * organization's only one.
   *
   * @throws ApiException {@code not-found} if the cluster is unknown or of another organization
   *     (with the same error), {@code forbidden} if the token is bound to another cluster, {@code
   *     ambiguous-cluster} if the call names none and the organization has several
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

  /** Returns the clusters that the caller may use and that are not settled. */
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
