package dev.bourse.simulation;

import dev.bourse.access.Organization;
import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.app.BareProcess;
import dev.bourse.capacity.Alerts;
import dev.bourse.capacity.Capacity;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Conditions;
import dev.bourse.core.ApiError;
import io.vertx.core.Future;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/** Who calls the service, and what they were told. */
final class Clients {
  /**
   * A declaration that was acknowledged.
   *
   * @param version the version it made
   * @param atNanos when, in true time
   */
  record Acknowledged(String cluster, long version, int maxGpus, BigDecimal price, long atNanos) {}

  private final World world;
  private final List<Acknowledged> acknowledged = new ArrayList<>();
  private final Map<String, Long> refusals = new TreeMap<>();
  private int unanswered;

  Clients(World world) {
    this.world = world;
  }

  /** All acknowledged declarations, in the order of their acknowledgements. */
  List<Acknowledged> acknowledged() {
    return acknowledged;
  }

  /** How often each refusal was met. */
  Map<String, Long> refusals() {
    return refusals;
  }

  /** Calls that nobody has answered, and maybe never will. */
  int unanswered() {
    return unanswered;
  }

  static Principal principal(String organization) {
    return new Principal(
        new Organization(organization, organization, "standard"),
        "token:sim" + organization,
        "sim" + organization,
        EnumSet.allOf(Scope.class),
        null,
        null);
  }

  /** Declares what a cluster wants, by the version that the process shows. */
  void declare(Replica process, String cluster, int maxGpus, BigDecimal price) {
    declare(process, cluster, maxGpus, price, Conditions.KEPT);
  }

  /** The same, for a while or a sum. */
  void declare(
      Replica process, String cluster, int maxGpus, BigDecimal price, Conditions conditions) {
    call(
        process,
        "declares " + cluster + " " + maxGpus + " at " + price + shown(conditions),
        core ->
            core.capacity()
                .declareCapacity(
                    principal(organization(cluster)),
                    Optional.of(cluster),
                    new Capacity.Declare(
                        principal(organization(cluster)).actor(),
                        maxGpus,
                        price,
                        Optional.empty(),
                        version(core, cluster),
                        conditions),
                    List.of())
                .onSuccess(
                    view ->
                        acknowledged.add(
                            new Acknowledged(
                                cluster,
                                view.cluster().version(),
                                maxGpus,
                                price,
                                world.scheduler.nowNanos()))));
  }

  private static String shown(Conditions conditions) {
    return conditions.equals(Conditions.KEPT) ? "" : " under " + conditions;
  }

  /** Says what a cluster is to be told of. */
  void setAlerts(Replica process, String cluster, Alerts.Thresholds thresholds) {
    call(
        process,
        "sets alerts of " + cluster + " to " + thresholds,
        core ->
            core.alerts()
                .writeAlerts(
                    principal(organization(cluster)), Optional.of(cluster), thresholds, ""));
  }

  /** Asks for another machine in the place of one. */
  void swap(Replica process, String cluster, String node) {
    call(
        process,
        "swaps " + node + " of " + cluster,
        core ->
            core.capacity().swapNode(principal(organization(cluster)), Optional.of(cluster), node));
  }

  /** Adds an ssh key to an organization. */
  void addKey(Replica process, String organization, String line) {
    call(
        process,
        "adds a key to " + organization,
        core ->
            core.keys()
                .addSshKey(principal(organization), organization, "ada", line, null, List.of()));
  }

  private static String organization(String cluster) {
    return cluster.substring(0, cluster.indexOf('-'));
  }

  private static long version(BareProcess core, String cluster) {
    return core.clusters().find(cluster).map(view -> view.cluster().version()).orElse(0L);
  }

  /** A cluster as a process shows it. */
  static Optional<Cluster> shown(Replica process, String cluster) {
    BareProcess core = process.core();
    return core == null
        ? Optional.empty()
        : core.clusters().find(cluster).map(view -> view.cluster());
  }

  /** Calls a process; the answer, a refusal or silence is noted. */
  <T> void call(Replica process, String what, Function<BareProcess, Future<T>> call) {
    unanswered++;
    process.trace("<- {}", what);
    process.doNow(
        () -> {
          BareProcess core = process.core();
          if (core == null) {
            return;
          }
          Future.succeededFuture(core)
              .compose(call)
              .onComplete(
                  done -> {
                    unanswered--;
                    if (done.succeeded()) {
                      process.trace("-> {} is done", what);
                    } else {
                      refused(process, what, done.cause());
                    }
                  });
        });
  }

  private void refused(Replica process, String what, Throwable cause) {
    String reason =
        cause instanceof ApiError error ? error.code().code() : cause.getClass().getSimpleName();
    process.trace("-> {} is refused: {}", what, reason);
    refusals.merge(reason, 1L, Long::sum);
  }
}
