package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.capacity.CapacityService;
import dev.bourse.capacity.Cluster;
import dev.bourse.events.ChangeWaits;
import dev.bourse.json.JsonRecord;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Reads a cluster's declaration and nodes: a VM cluster's capacity state, which is an audited read,
 * or a Kubernetes cluster; and its outlook. Can wait for the state to change.
 */
public final class CapacityReadTool implements Tool {
  private static final String READ = "read";
  private static final String WAIT = "wait";
  private static final String OUTLOOK = "outlook";

  private static final ArgumentRules FIELDS =
      new ArgumentRules(
          "action",
          Set.of("kind", "cluster"),
          Map.of(READ, Set.of(), OUTLOOK, Set.of(), WAIT, Set.of("cursor", "version", "wait_s")));

  private final CapacityService capacity;
  private final ChangeWaits waits;
  private final CapacityService k8s;

  public CapacityReadTool(CapacityService capacity, ChangeWaits waits, CapacityService k8s) {
    this.capacity = capacity;
    this.waits = waits;
    this.k8s = k8s;
  }

  @Override
  public String name() {
    return "capacity_read";
  }

  @Override
  public Optional<Scope> scope(JsonObject arguments) {
    return Optional.of(ClusterKind.of(arguments).read);
  }

  @Override
  public Future<Buffer> call(Principal caller, JsonObject arguments) {
    Optional<String> cluster = Optional.ofNullable(arguments.getString("cluster"));
    CapacityService surface =
        switch (ClusterKind.of(arguments)) {
          case VM -> capacity;
          case K8S -> k8s;
        };
    return OUTLOOK.equals(arguments.getString("action"))
        ? surface.readOutlook(caller, cluster).map(JsonRecord::toBuffer)
        : Future.succeededFuture(surface.readCapacity(caller, cluster).encoded().json());
  }

  @Override
  public Future<Buffer> call(Principal caller, JsonObject arguments, Consumer<Runnable> ifGone) {
    FIELDS.check(arguments.copy().put("action", arguments.getString("action", READ)));
    if (!WAIT.equals(arguments.getString("action"))) {
      return call(caller, arguments);
    }
    return waits
        .next(
            switch (ClusterKind.of(arguments)) {
              case VM -> Cluster.Kind.VM;
              case K8S -> Cluster.Kind.K8S;
            },
            caller,
            Optional.ofNullable(arguments.getString("cluster")),
            new ChangeWaits.Known(arguments.getString("cursor"), arguments.getLong("version")),
            arguments.getLong("wait_s", ChangeWaits.MOST_MILLIS / 1_000) * 1_000,
            ifGone)
        .map(change -> EncodedJson.with(change.toJson(), "state", change.view().encoded().json()));
  }
}
