package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.capacity.CapacityService;
import dev.bourse.k8s.K8sService;
import dev.bourse.k8s.K8sText;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.Optional;

/**
 * What a cluster has declared and holds: a VM cluster's capacity state, which is an audited read,
 * or a Kubernetes cluster.
 */
public final class CapacityReadTool implements Tool {
  private final CapacityService capacity;
  private final K8sService k8s;

  public CapacityReadTool(CapacityService capacity, K8sService k8s) {
    this.capacity = capacity;
    this.k8s = k8s;
  }

  @Override
  public String name() {
    return "capacity_read";
  }

  @Override
  public Optional<Scope> scope(JsonObject arguments) {
    return Optional.of(
        switch (ClusterKind.of(arguments)) {
          case VM -> Scope.CAPACITY_READ;
          case K8S -> Scope.BID_READ;
        });
  }

  @Override
  public Future<Buffer> call(Principal caller, JsonObject arguments) {
    Optional<String> cluster = Optional.ofNullable(arguments.getString("cluster"));
    return Future.succeededFuture(
        switch (ClusterKind.of(arguments)) {
          case VM -> capacity.readCapacity(caller, cluster).encoded().json();
          case K8S -> K8sText.cluster(k8s.readCluster(caller, cluster)).toBuffer();
        });
  }
}
