package dev.bourse.capacity;

import dev.bourse.core.ApiException;
import dev.bourse.core.ConfirmedTime;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Page;
import dev.bourse.logs.RequestContext;
import dev.bourse.signals.Signals;
import dev.bourse.store.Change;
import dev.bourse.store.Mirror;
import dev.bourse.store.SliceComparison;
import dev.bourse.store.Statement;
import io.vertx.core.Context;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Routes commands to the owners of clusters. Each event loop has one {@link ClusterVerticle}; a
 * stable hash of the cluster's name selects its owner.
 */
public final class ClusterOwners implements Mirror {
  private static final Logger LOG = LoggerFactory.getLogger(ClusterOwners.class);

  /** Clusters that one query reads at the start; they take about ten milliseconds of event loop. */
  static final int PIECE = 2_500;

  /** Clusters between two lines of progress in the log, which are some seconds apart. */
  private static final int CLUSTERS_PER_LOG_LINE = 40 * PIECE;

  /** The time in which a process learns of another's new pool. */
  private static final long POOL_MILLIS = 1_000;

  private final Vertx vertx;
  private final Clusters clusters;
  private final CapacityStore store;
  private final List<Owner> owners;
  private final ClusterSignals clusterSignals;
  private final DeclarationLimitsReader limitsReader;

  private record Owner(ClusterVerticle verticle, Context context) {
    /** Gives clusters to this owner; fails if one of them cannot be adopted. */
    Future<Void> adopt(List<Cluster> share) {
      Promise<Void> adopted = Promise.promise();
      context.runOnContext(
          go -> {
            try {
              share.forEach(verticle::adopt);
              adopted.complete();
            } catch (RuntimeException fault) {
              adopted.fail(fault);
            }
          });
      return adopted.future();
    }
  }

  private ClusterOwners(
      Vertx vertx,
      Clusters clusters,
      CapacityStore store,
      List<Owner> owners,
      ClusterSignals clusterSignals) {
    this.clusterSignals = clusterSignals;
    this.vertx = vertx;
    this.clusters = clusters;
    this.store = store;
    this.owners = owners;
    this.limitsReader = store.limitsReader(clusters);
  }

  /** The clocks of owners: the wall clock, and the confirmed time by which declarations lapse. */
  public record Clocks(Clock clock, ConfirmedTime time) {
    /** Returns clocks that take this clock's time as confirmed. */
    public static Clocks of(Clock clock) {
      return new Clocks(
          clock,
          new ConfirmedTime() {
            @Override
            public OptionalLong confirmedMillis() {
              return OptionalLong.of(clock.millis());
            }

            @Override
            public boolean isNewest() {
              return true;
            }
          });
    }
  }

  /** Deploys the owners with a clock whose time counts as confirmed. */
  public static Future<ClusterOwners> deploy(
      Vertx vertx, Clusters clusters, CapacityStore store, Clock clock, int eventLoops) {
    return deploy(vertx, clusters, store, Clocks.of(clock), eventLoops, PIECE);
  }

  /** Deploys the owners and gives each its clusters from the store. */
  public static Future<ClusterOwners> deploy(
      Vertx vertx, Clusters clusters, CapacityStore store, Clocks clocks, int eventLoops) {
    return deploy(vertx, clusters, store, clocks, eventLoops, PIECE);
  }

  static Future<ClusterOwners> deploy(
      Vertx vertx,
      Clusters clusters,
      CapacityStore store,
      Clocks clocks,
      int eventLoops,
      int most) {
    ClusterSignals clusterSignals = new ClusterSignals();
    List<ClusterVerticle> verticles = new ArrayList<>();
    List<Future<String>> deployments = new ArrayList<>();
    for (int i = 0; i < eventLoops; i++) {
      ClusterVerticle verticle =
          new ClusterVerticle(clusters, store, clocks.clock(), clocks.time(), clusterSignals);
      verticles.add(verticle);
      deployments.add(vertx.deployVerticle(verticle, new DeploymentOptions()));
    }
    return Future.all(deployments)
        .compose(
            deployed -> {
              ClusterOwners all =
                  new ClusterOwners(
                      vertx,
                      clusters,
                      store,
                      verticles.stream().map(v -> new Owner(v, v.context())).toList(),
                      clusterSignals);
              Promise<Void> held = Promise.promise();
              all.adoptStored(store.listClustersAfter("", most), most, 0, held);
              return held.future().map(all);
            });
  }

  /**
   * Gives a batch of stored clusters to their owners while the next batch is read. Changes that
   * other processes make meanwhile arrive by the change feed and are read after the last batch.
   *
   * @param reading a batch, in the order of names; the last is shorter than the others
   * @param most the clusters of a batch
   * @param held the number of clusters before it
   * @param all completed after the last batch. All batches share one promise, because hundreds of
   *     nested futures would complete in one deep stack
   */
  private void adoptStored(Future<List<Cluster>> reading, int most, int held, Promise<Void> all) {
    reading
        .compose(
            piece -> {
              int now = held + piece.size();
              if (piece.size() < most) {
                return adopt(piece).onSuccess(adopted -> all.complete());
              }
              if (now % CLUSTERS_PER_LOG_LINE == 0) {
                LOG.info("{} clusters read so far", now);
              }
              Future<List<Cluster>> next =
                  store.listClustersAfter(piece.get(piece.size() - 1).name(), most);
              return adopt(piece).onSuccess(adopted -> adoptStored(next, most, now, all));
            })
        .onFailure(all::tryFail);
  }

  private Future<Void> adopt(List<Cluster> piece) {
    Map<Owner, List<Cluster>> shares = new HashMap<>();
    piece.forEach(
        cluster ->
            shares.computeIfAbsent(owner(cluster.name()), o -> new ArrayList<>()).add(cluster));
    List<Future<Void>> adoptions = new ArrayList<>();
    shares.forEach((owner, share) -> adoptions.add(owner.adopt(share)));
    return Future.all(adoptions).mapEmpty();
  }

  /** Gives a cluster to its owner. */
  public Future<Void> adopt(Cluster cluster) {
    return owner(cluster.name()).adopt(List.of(cluster));
  }

  /** Submits a command to the cluster's owner; returns the snapshot that it published. */
  public Future<ClusterView> submit(String cluster, Command command) {
    return submit(cluster, command, List.of());
  }

  /**
   * Submits a command that is carried out in one commit with guarded statements.
   *
   * <p>Fails with the command's {@link dev.bourse.core.ApiException}, with {@code overloaded} if
   * too many commands wait, or as {@link dev.bourse.store.Database#commit}.
   */
  public Future<ClusterView> submit(String cluster, Command command, List<Statement> fences) {
    return submit(cluster, command, fences, List.of());
  }

  /**
   * Submits a command of the market or of billing in one commit with guarded statements. It runs
   * before all commands of clients and is never rejected as overload, because no client may delay
   * it. At most one waits for each tick, node and hold of the cluster.
   *
   * <p>Fails as {@link dev.bourse.store.Database#commit}.
   */
  public Future<ClusterView> order(String cluster, Command command, List<Statement> fences) {
    return at(owner(cluster), verticle -> verticle.order(cluster, command, fences));
  }

  /**
   * Submits a command with guarded statements whose changes other processes must read.
   *
   * @param changes further changes to send with the cluster's own
   */
  public Future<ClusterView> submit(
      String cluster, Command command, List<Statement> fences, List<Change> changes) {
    return at(owner(cluster), verticle -> verticle.submit(cluster, command, fences, changes));
  }

  private Future<ClusterView> at(
      Owner owner, Function<ClusterVerticle, Future<ClusterView>> asked) {
    Context caller = vertx.getOrCreateContext();
    if (caller == owner.context) {
      return asked.apply(owner.verticle);
    }
    Promise<ClusterView> answer = Promise.promise();
    RequestContext.contextFor(owner.context)
        .runOnContext(
            go ->
                asked
                    .apply(owner.verticle)
                    .onComplete(done -> caller.runOnContext(back -> answer.handle(done))));
    return answer.future();
  }

  /** Registers the metrics of clusters' events and nodes. */
  public void registerMetrics(Signals signals) {
    clusterSignals.registerMetrics(signals, clusters);
  }

  /** Returns the store of clusters. */
  CapacityStore store() {
    return store;
  }

  /** Returns the limits of callers' declarations. */
  public DeclarationLimitsReader limitsReader() {
    return limitsReader;
  }

  /** Reads a cluster again after another process changed or created it. */
  public Future<Void> refresh(String cluster) {
    Owner owner = owner(cluster);
    Promise<Void> done = Promise.promise();
    owner.context.runOnContext(go -> owner.verticle.refresh(cluster).onComplete(done));
    return done.future();
  }

  /**
   * Loads a cluster that a request names, if it is settled or another process has just created it.
   * Completes on the caller's context, at once if the cluster is in memory.
   *
   * <p>Fails with {@code overloaded} while this process does not know the cluster's pool.
   */
  public Future<Void> meetNamed(String cluster) {
    if (clusters.revision(cluster) >= 0) {
      return Future.succeededFuture();
    }
    Promise<Void> here = ((ContextInternal) vertx.getOrCreateContext()).promise();
    refresh(cluster).recover(ClusterOwners::retryLater).onComplete(here);
    return here.future();
  }

  /** Asks a caller to repeat a request that needs a pool which this process has not read yet. */
  private static <T> Future<T> retryLater(Throwable failure) {
    return Future.failedFuture(
        failure instanceof Clusters.UnknownPoolException
            ? ApiException.retryLater(
                ErrorCode.OVERLOADED,
                "a pool was created a moment ago and is not known here yet; try again",
                POOL_MILLIS)
            : failure);
  }

  /**
   * Lists one page of clusters by name, settled ones included.
   *
   * <p>Fails with {@code overloaded} while this process does not know the pool of one of them, so
   * that no page lacks a cluster.
   */
  Future<Page<ClusterView>> list(CapacityStore.Filter filter, String after, int limit) {
    return store
        .listNames(filter, after, limit + 1)
        .compose(
            names -> {
              Map<String, ClusterView> views = new TreeMap<>();
              List<String> unknown = new ArrayList<>();
              for (String name : names) {
                clusters
                    .find(name)
                    .ifPresentOrElse(view -> views.put(name, view), () -> unknown.add(name));
              }
              return (unknown.isEmpty()
                      ? Future.succeededFuture(List.<Cluster>of())
                      : store.listClusters(unknown))
                  .map(
                      read -> {
                        read.forEach(one -> views.put(one.name(), clusters.view(one)));
                        return Page.of(List.copyOf(views.values()), limit);
                      });
            })
        .recover(ClusterOwners::retryLater);
  }

  /** Reads the organization's clusters that are not in memory and not settled. */
  public Future<Void> meet(String orgId) {
    return store
        .listUnsettled(orgId)
        .compose(
            names -> {
              List<Future<Void>> met = new ArrayList<>();
              for (String name : names) {
                if (clusters.revision(name) < 0) {
                  met.add(refresh(name));
                }
              }
              return Future.all(met).mapEmpty();
            });
  }

  /**
   * Reads clusters again in one query and publishes them at once, ahead of the commands that wait
   * for their owner. A command that was applied to the earlier state fails its compare-and-set on
   * the revision and is applied again.
   */
  @Override
  public Future<Refreshed> refresh(List<String> names) {
    Map<String, Cluster> held = new HashMap<>();
    names.forEach(name -> clusters.find(name).ifPresent(view -> held.put(name, view.cluster())));
    return store
        .listClusters(names)
        .compose(
            found -> {
              Set<String> changed = ConcurrentHashMap.newKeySet();
              Set<String> left = ConcurrentHashMap.newKeySet();
              List<Future<Void>> shown = new ArrayList<>();
              for (Cluster stored : found) {
                Cluster before = held.remove(stored.name());
                if (before != null && before.revision() > stored.revision()) {
                  // The owner goes back in its own turn; this refresh does not wait for it.
                  changed.add(stored.name());
                  goBack(before, stored);
                  continue;
                }
                shown.add(
                    show(stored)
                        .onSuccess(
                            isNews -> {
                              if (isNews) {
                                changed.add(stored.name());
                              }
                            })
                        .recover(
                            e -> {
                              LOG.debug("cluster {} cannot be shown yet", stored.name(), e);
                              left.add(stored.name());
                              return Future.succeededFuture(false);
                            })
                        .mapEmpty());
              }
              held.values().forEach(before -> goBack(before, null));
              return Future.all(shown).map(all -> new Refreshed(changed, left));
            });
  }

  @Override
  public boolean holds(String name, long revision) {
    return clusters.revision(name) >= revision;
  }

  @Override
  public Future<Boolean> apply(String name, String row) {
    return Future.succeededFuture(row)
        .map(ClusterRows::cluster)
        .compose(this::show)
        .map(true)
        .recover(
            e -> {
              LOG.debug("the change of cluster {} cannot be applied; it is read instead", name, e);
              return Future.succeededFuture(false);
            });
  }

  private Future<Boolean> show(Cluster stored) {
    Owner owner = owner(stored.name());
    Promise<Boolean> shown = Promise.promise();
    owner.context.runOnContext(
        go -> Future.succeededFuture(stored).map(owner.verticle::showStored).onComplete(shown));
    return shown.future();
  }

  /** Compares revisions; equal revisions mean equal states. */
  @Override
  public Comparison compare() {
    return new SliceComparison<>(
        after -> store.listRevisions(after, SliceComparison.ROWS),
        CapacityStore.Revision::name,
        stored -> clusters.revision(stored.name()) == stored.revision(),
        clusters::names);
  }

  private void goBack(Cluster held, @Nullable Cluster stored) {
    Owner owner = owner(held.name());
    owner.context.runOnContext(go -> owner.verticle.goBack(held, stored));
  }

  private Owner owner(String cluster) {
    return owners.get(Math.floorMod(cluster.hashCode(), owners.size()));
  }
}
