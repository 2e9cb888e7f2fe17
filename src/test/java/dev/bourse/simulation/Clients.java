package dev.bourse.simulation;

import dev.bourse.access.Organization;
import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.app.BareProcess;
import dev.bourse.capacity.Alerts;
import dev.bourse.capacity.Capacity;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Conditions;
import dev.bourse.core.ApiException;
import dev.bourse.store.StoreUnavailableException;
import io.vertx.core.Future;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/** The service's clients, and the answers they received. */
final class Clients {
  /**
   * An acknowledged declaration.
   *
   * @param version the resulting version
   * @param atNanos time of the acknowledgement, in true time
   */
  record Acknowledged(String cluster, long version, int maxGpus, BigDecimal price, long atNanos) {}

  private final World world;
  private final List<Acknowledged> acknowledged = new ArrayList<>();

  /** Certainly rejected declarations, by their actor. */
  private final Map<String, String> refused = new HashMap<>();

  private int asked;
  private final Map<String, Long> refusals = new TreeMap<>();
  private int unanswered;

  Clients(World world) {
    this.world = world;
  }

  /** Returns all acknowledged declarations, in the order of their acknowledgements. */
  List<Acknowledged> acknowledged() {
    return acknowledged;
  }

  /**
   * Forgets acknowledged declarations that were lost with their server.
   *
   * @param sinceNanos declarations acknowledged before this must still be stored
   */
  void forgetLost(long sinceNanos) {
    acknowledged.removeIf(write -> write.atNanos() >= sinceNanos && rows(write) == 0);
  }

  /** Returns the number of audit rows of an acknowledged declaration. */
  long rows(Acknowledged write) {
    return world
        .server
        .engine()
        .number(
            "SELECT COUNT(*) FROM audit WHERE action = 'vm_capacity_put' AND subject = ?"
                + " AND detail LIKE ?",
            write.cluster(),
            "max_gpus=" + write.maxGpus() + " %version=" + write.version());
  }

  /** Returns each certainly rejected declaration, by its actor, which is unique. */
  Map<String, String> refused() {
    return refused;
  }

  /** Returns how often each error occurred. */
  Map<String, Long> refusals() {
    return refusals;
  }

  /** Returns the number of calls without an answer so far. */
  int unanswered() {
    return unanswered;
  }

  static Principal principal(String organization) {
    return principal(organization, "sim" + organization);
  }

  private static Principal principal(String organization, String tokenId) {
    return new Principal(
        new Organization(organization, organization, "standard"),
        "token:" + tokenId,
        tokenId,
        EnumSet.allOf(Scope.class),
        null,
        null);
  }

  /** Declares a cluster's demand, with the version that the process shows. */
  void declare(Replica process, String cluster, int maxGpus, BigDecimal price) {
    declare(process, cluster, maxGpus, price, Conditions.Changes.KEPT);
  }

  /** Declares a cluster's demand with conditions. */
  void declare(
      Replica process,
      String cluster,
      int maxGpus,
      BigDecimal price,
      Conditions.Changes conditions) {
    // A unique actor, which identifies the row.
    Principal caller = principal(organization(cluster), "sim" + ++asked);
    String what = "declares " + cluster + " " + maxGpus + " at " + price + shown(conditions);
    call(
        process,
        what,
        core ->
            core.capacity()
                .declareCapacity(
                    caller,
                    Optional.of(cluster),
                    new Capacity.Declare(
                        caller.actor(),
                        maxGpus,
                        price,
                        Optional.empty(),
                        version(core, cluster),
                        conditions),
                    List.of())
                .onFailure(
                    e -> {
                      if (!(e instanceof StoreUnavailableException unknown
                          && unknown.mayBeStored())) {
                        refused.put(caller.actor(), what);
                      }
                    })
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

  private static String shown(Conditions.Changes conditions) {
    return conditions.equals(Conditions.Changes.KEPT) ? "" : " under " + conditions;
  }

  /** Sets a cluster's alerts. */
  void setAlerts(Replica process, String cluster, Alerts.Thresholds thresholds) {
    call(
        process,
        "sets alerts of " + cluster + " to " + thresholds,
        core ->
            core.alerts()
                .writeAlerts(
                    principal(organization(cluster)), Optional.of(cluster), thresholds, ""));
  }

  /** Requests the swap of a node. */
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

  /** Returns a cluster as a process shows it. */
  static Optional<Cluster> shown(Replica process, String cluster) {
    BareProcess core = process.core();
    return core == null
        ? Optional.empty()
        : core.clusters().find(cluster).map(view -> view.cluster());
  }

  /** Calls a process and records the answer, the error or the lack of both. */
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
        cause instanceof ApiException error
            ? error.code().code()
            : cause.getClass().getSimpleName();
    process.trace("-> {} is refused: {}", what, reason);
    refusals.merge(reason, 1L, Long::sum);
  }
}
