package dev.bourse.capacity;

import dev.bourse.core.ConfirmedTime;
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
 * The way to a cluster's owner: one {@link ClusterVerticle} for each event loop, a cluster's by a
 * stable hash of its name.
 */
public final class ClusterOwners implements Mirror {
  private static final Logger LOG = LoggerFactory.getLogger(ClusterOwners.class);

  /** Clusters read at once at the start: some ten milliseconds of an event loop. */
  static final int PIECE = 2_500;

  /** A line of the log each so many clusters: some seconds apart. */
  private static final int TOLD = 40 * PIECE;

  private final Vertx vertx;
  private final Clusters clusters;
  private final CapacityStore store;
  private final List<Owner> owners;
  private final ClusterSignals counted;
  private final Leashes leashes;

  private record Owner(ClusterVerticle verticle, Context context) {
    /** Fails when one cannot be held. */
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
      ClusterSignals counted) {
    this.counted = counted;
    this.vertx = vertx;
    this.clusters = clusters;
    this.store = store;
    this.owners = owners;
    this.leashes = store.leashes(clusters);
  }

  /** What the owners of clusters go by: the wall clock, and the time by which declarations end. */
  public record Clocks(Clock clock, ConfirmedTime time) {
    /** A clock that nobody doubts. */
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

  /** Deploys the owners and gives each its clusters, as stored; by a clock that nobody doubts. */
  public static Future<ClusterOwners> deploy(
      Vertx vertx, Clusters clusters, CapacityStore store, Clock clock, int eventLoops) {
    return deploy(vertx, clusters, store, Clocks.of(clock), eventLoops, PIECE);
  }

  /** Deploys the owners and gives each its clusters, as stored. */
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
    ClusterSignals counted = new ClusterSignals();
    List<ClusterVerticle> verticles = new ArrayList<>();
    List<Future<String>> deployments = new ArrayList<>();
    for (int i = 0; i < eventLoops; i++) {
      ClusterVerticle verticle =
          new ClusterVerticle(clusters, store, clocks.clock(), clocks.time(), counted);
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
                      counted);
              Promise<Void> held = Promise.promise();
              all.adoptStored(store.listClustersAfter("", most), most, 0, held);
              return held.future().map(all);
            });
  }

  /**
   * Gives a piece of what is stored to its owners while the next is read. What other processes
   * change meanwhile they tell, and it is read anew once all is held.
   *
   * @param reading a piece, in the order of names; the last is shorter than the others
   * @param most clusters of a piece
   * @param held how many clusters came before it
   * @param all done after the last. One for all pieces: were each to wait for the one after it, the
   *     last of hundreds would end them all in one deep stack
   */
  private void adoptStored(Future<List<Cluster>> reading, int most, int held, Promise<Void> all) {
    reading
        .compose(
            piece -> {
              int now = held + piece.size();
              if (piece.size() < most) {
                return adopt(piece).onSuccess(adopted -> all.complete());
              }
              if (now % TOLD == 0) {
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

  /** Has a command carried out; answers the snapshot after it, as published. */
  public Future<ClusterView> submit(String cluster, Command command) {
    return submit(cluster, command, List.of());
  }

  /**
   * Has a command carried out in one commit with statements that must hold.
   *
   * <p>Fails with the command's {@link dev.bourse.core.ApiException}, with {@code overloaded} when
   * too many wait, or as {@link dev.bourse.store.Database#commit}.
   */
  public Future<ClusterView> submit(String cluster, Command command, List<Statement> fences) {
    return submit(cluster, command, fences, List.of());
  }

  /**
   * Carries out a command of the market or of billing in one commit with statements that must hold.
   * It goes before all commands of clients and is never rejected as overload, because no client may
   * delay it; there is one for each tick, node and hold of the cluster at most.
   *
   * <p>Fails as the statements do and as {@link dev.bourse.store.Database#commit}.
   */
  public Future<ClusterView> order(String cluster, Command command, List<Statement> fences) {
    return at(owner(cluster), verticle -> verticle.order(cluster, command, fences));
  }

  /**
   * The same, for statements that other processes are to hear of.
   *
   * @param changes what they are told besides that the cluster moved
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

  /** Shows what happens to clusters, and what they hold. */
  public void registerMetrics(Signals signals) {
    counted.registerMetrics(signals, clusters);
  }

  /** Where clusters are stored. */
  CapacityStore store() {
    return store;
  }

  /** What callers' declarations are held to. */
  public Leashes leashes() {
    return leashes;
  }

  /** Reads a cluster again after another process changed or made it. */
  public Future<Void> refresh(String cluster) {
    Owner owner = owner(cluster);
    Promise<Void> done = Promise.promise();
    owner.context.runOnContext(go -> owner.verticle.refresh(cluster).onComplete(done));
    return done.future();
  }

  /**
   * Loads a cluster that a request names, if it is settled or another process has just made it.
   * Completes on the caller's context, at once for a cluster that is in memory.
   */
  public Future<Void> meetNamed(String cluster) {
    if (clusters.revision(cluster) >= 0) {
      return Future.succeededFuture();
    }
    Promise<Void> here = ((ContextInternal) vertx.getOrCreateContext()).promise();
    refresh(cluster).onComplete(here);
    return here.future();
  }

  /** One page of clusters, the settled ones too, by name. */
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
            });
  }

  /** Reads those of an organization's clusters that this process has not heard of yet. */
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
   * Reads clusters anew, all in one query. What is read is shown at once, past the commands that
   * wait for their owner: one that was decided on the state before fails on its revision and is
   * decided again.
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
                  // In its owner's turn, which nothing here waits for.
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
              LOG.debug("cluster {} cannot be shown by what was told of it", name, e);
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

  /** Compares revisions: equal ones are of the same state. */
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
