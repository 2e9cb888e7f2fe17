package dev.bourse.capacity;

import dev.bourse.core.Page;
import dev.bourse.pools.Pool;
import dev.bourse.pools.Quote;
import dev.bourse.pools.Switches;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The latest snapshot of each cluster, and the terms and the latest quote of each pool. Every event
 * loop reads them without a message to an owner.
 *
 * <p>Settled clusters are not kept here, because an organization that creates and retires clusters
 * has more of them every year. A settled cluster is cached after a request has {@linkplain
 * ClusterOwners#meetNamed read it from the store}; lists leave it out.
 */
public final class Clusters {
  /** The clusters of a pool that has none; never written. */
  private static final PoolClusters NO_CLUSTERS = new PoolClusters();

  /** The most cached settled clusters, which is more than the number of concurrent requests. */
  private static final int MOST_SETTLED = 1_000;

  private final Map<String, ClusterView> byName = new ConcurrentHashMap<>();

  private final Map<String, NavigableMap<String, ClusterView>> byOrg = new ConcurrentHashMap<>();
  private final Map<String, PoolClusters> byPool = new ConcurrentHashMap<>();

  /** The name of the cluster of each open allocation. */
  private final Map<String, String> holders = new ConcurrentHashMap<>();

  /** Cached settled clusters by name, in the order of their last read. */
  private final Map<String, ClusterView> visiting =
      Collections.synchronizedMap(
          new LinkedHashMap<>(16, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<String, ClusterView> eldest) {
              return size() > MOST_SETTLED;
            }
          });

  private final Map<String, OpenPool> pools = new ConcurrentSkipListMap<>();
  private final Map<String, Quote> quotes = new ConcurrentHashMap<>();
  private final List<Consumer<Cluster>> listeners = new CopyOnWriteArrayList<>();
  private final List<Consumer<Pool>> poolListeners = new CopyOnWriteArrayList<>();
  private final Clock clock;
  private final List<BiConsumer<String, Quote>> quoteListeners = new CopyOnWriteArrayList<>();
  private volatile Switches switches;

  public Clusters(Switches switches, Clock clock) {
    this.switches = switches;
    this.clock = clock;
  }

  /** Finds the latest snapshot of a cluster. */
  public Optional<ClusterView> find(String cluster) {
    return Optional.ofNullable(held(cluster));
  }

  private @Nullable ClusterView held(String cluster) {
    ClusterView view = byName.get(cluster);
    return view == null ? visiting.get(cluster) : view;
  }

  /** Finds the cluster that holds an open allocation. */
  public Optional<ClusterView> findHolder(String allocationId) {
    String cluster = holders.get(allocationId);
    return Optional.ofNullable(cluster == null ? null : byName.get(cluster));
  }

  /** Returns the revision of a cluster's latest snapshot; -1 if the cluster is not in memory. */
  long revision(String cluster) {
    ClusterView view = held(cluster);
    return view == null ? -1 : view.cluster().revision();
  }

  /** Returns an organization's clusters of all surfaces that are not settled, by name. */
  public Collection<ClusterView> ofOrg(String orgId) {
    return Collections.unmodifiableCollection(
        byOrg.getOrDefault(orgId, Collections.emptyNavigableMap()).values());
  }

  /** Returns an organization's clusters of one surface that are not settled, by name. */
  public List<ClusterView> ofOrg(String orgId, Cluster.Kind kind) {
    List<ClusterView> views = new ArrayList<>();
    for (ClusterView view : ofOrg(orgId)) {
      if (view.cluster().kind() == kind) {
        views.add(view);
      }
    }
    return views;
  }

  /** Returns a pool's clusters that are not settled, by name. */
  public Collection<ClusterView> ofPool(String pool) {
    return inPool(pool).all().values();
  }

  /** Returns a pool's clusters that are not idle, by name: only these may hold nodes. */
  public Collection<ClusterView> stirringIn(String pool) {
    return inPool(pool).stirring();
  }

  /** Returns the clusters that a tick must read: all others have no effect and stay unchanged. */
  public List<ClusterView> ofTick(Pool pool) {
    return inPool(pool.name()).ofTick(pool.detectorArmed());
  }

  private PoolClusters inPool(String pool) {
    return byPool.getOrDefault(pool, NO_CLUSTERS);
  }

  /** Lists one page of an organization's clusters that are not retired, by name. */
  Page<ClusterView> listLive(String orgId, String after, int limit) {
    return Page.of(
        byOrg
            .getOrDefault(orgId, Collections.emptyNavigableMap())
            .tailMap(after, false)
            .values()
            .stream()
            .filter(view -> !view.cluster().isRetired())
            .limit(limit + 1L)
            .toList(),
        limit);
  }

  /** Returns all pools, by name. */
  public List<Pool> pools() {
    return pools.values().stream().map(OpenPool::pool).toList();
  }

  /** Finds a pool's terms. */
  public Optional<Pool> findPool(String pool) {
    return Optional.ofNullable(pools.get(pool)).map(OpenPool::pool);
  }

  /**
   * A cluster's pool is not in memory. Another process created it, and the change feed reports it
   * within a second.
   */
  static final class UnknownPoolException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    UnknownPoolException(Cluster cluster) {
      super("cluster %s has an unknown pool: %s".formatted(cluster.name(), cluster.pool()));
    }
  }

  /** Returns the view of a state that is not published, with the terms in force. */
  ClusterView view(Cluster cluster) {
    return new ClusterView(cluster, inForce(cluster));
  }

  /** Returns the pool's terms in force for a cluster. */
  public Pool poolOf(Cluster cluster) {
    return cluster.overrides().over(inForce(cluster).pool());
  }

  private PoolInForce inForce(Cluster cluster) {
    PoolInForce pool = pools.get(cluster.pool());
    if (pool == null) {
      throw new UnknownPoolException(cluster);
    }
    return pool;
  }

  /** Finds the last quote of a pool's market. */
  public Optional<Quote> findQuote(String pool) {
    return Optional.ofNullable(quotes.get(pool));
  }

  public Switches switches() {
    return switches;
  }

  /**
   * Calls a listener for every cluster published from now on, on the publisher's thread.
   *
   * @return removes the listener
   */
  public Runnable onPublished(Consumer<Cluster> listener) {
    listeners.add(listener);
    return () -> listeners.remove(listener);
  }

  /**
   * Calls a listener for every new or changed pool from now on, on the thread that read it.
   *
   * @return removes the listener
   */
  public Runnable onPool(Consumer<Pool> listener) {
    poolListeners.add(listener);
    return () -> poolListeners.remove(listener);
  }

  /** Puts a pool's terms in force; every snapshot of its clusters shows them at once. */
  public void put(Pool pool) {
    if (replace(pool)) {
      poolListeners.forEach(listener -> listener.accept(pool));
    }
  }

  private synchronized boolean replace(Pool pool) {
    OpenPool known = pools.get(pool.name());
    if (known == null) {
      pools.put(pool.name(), new OpenPool(pool));
      return true;
    }
    boolean isChanged = !known.pool.equals(pool);
    if (isChanged) {
      known.pool = pool;
    }
    return isChanged;
  }

  /** Publishes a quote of a pool's market. */
  public void put(String pool, Quote quote) {
    quotes.put(pool, quote);
    quoteListeners.forEach(listener -> listener.accept(pool, quote));
  }

  /**
   * Calls a listener for every quote from now on, on the publisher's thread.
   *
   * @return removes the listener
   */
  public Runnable onQuote(BiConsumer<String, Quote> listener) {
    quoteListeners.add(listener);
    return () -> quoteListeners.remove(listener);
  }

  /** Changes the platform's switches; every snapshot shows them at once. */
  public void put(Switches changed) {
    switches = changed;
  }

  /**
   * Publishes a cluster's new state. Only its owner calls this, after the commit.
   *
   * @return the view of this state
   */
  ClusterView publish(Cluster cluster) {
    ClusterView view = show(cluster);
    listeners.forEach(listener -> listener.accept(cluster));
    return view;
  }

  /** Publishes a state that is earlier than the published one. Only its owner calls this. */
  void publishEarlier(Cluster cluster) {
    put(view(cluster));
    listeners.forEach(listener -> listener.accept(cluster));
  }

  /** Removes a cluster that is no longer stored. Only its owner calls this. */
  synchronized void remove(Cluster cluster) {
    removeHeld(cluster);
    visiting.remove(cluster.name());
  }

  private void removeHeld(Cluster cluster) {
    ClusterView earlier = byName.remove(cluster.name());
    if (earlier != null) {
      noteHolders(earlier.cluster().allocations(), List.of(), cluster.name());
    }
    byOrg.getOrDefault(cluster.orgId(), new ConcurrentSkipListMap<>()).remove(cluster.name());
    inPool(cluster.pool()).remove(cluster.name());
  }

  /**
   * Notes which allocations are open. A change replaces few allocations of a list that may have
   * thousands, so what both lists have at their beginnings and ends is not looked up.
   */
  private void noteHolders(List<Allocation> before, List<Allocation> after, String cluster) {
    int shorter = Math.min(before.size(), after.size());
    int begin = 0;
    while (begin < shorter && before.get(begin).equals(after.get(begin))) {
      begin++;
    }
    int end = 0;
    while (end < shorter - begin
        && before.get(before.size() - 1 - end).equals(after.get(after.size() - 1 - end))) {
      end++;
    }
    Set<String> open = new HashSet<>();
    for (Allocation allocation : after.subList(begin, after.size() - end)) {
      if (allocation.isOpen()) {
        open.add(allocation.allocationId());
        holders.put(allocation.allocationId(), cluster);
      }
    }
    for (Allocation allocation : before.subList(begin, before.size() - end)) {
      if (!open.contains(allocation.allocationId())) {
        holders.remove(allocation.allocationId(), cluster);
      }
    }
  }

  /** Returns the names of all clusters that are not settled. */
  Collection<String> names() {
    return Collections.unmodifiableCollection(byName.keySet());
  }

  /** Publishes the state unless a newer one is published; the lock makes check and write atomic. */
  private synchronized ClusterView show(Cluster cluster) {
    ClusterView view = view(cluster);
    if (revision(cluster.name()) <= cluster.revision()) {
      put(view);
    }
    return view;
  }

  /** Moves a cluster that settles to the cache before its removal, so that no reader misses it. */
  private synchronized void put(ClusterView view) {
    Cluster cluster = view.cluster();
    if (cluster.isSettled()) {
      visiting.put(cluster.name(), view);
      removeHeld(cluster);
      return;
    }
    ClusterView earlier = byName.put(cluster.name(), view);
    noteHolders(
        earlier == null ? List.of() : earlier.cluster().allocations(),
        cluster.allocations(),
        cluster.name());
    byOrg
        .computeIfAbsent(cluster.orgId(), org -> new ConcurrentSkipListMap<>())
        .put(cluster.name(), view);
    byPool.computeIfAbsent(cluster.pool(), name -> new PoolClusters()).put(view);
    visiting.remove(cluster.name());
  }

  /** A pool with its current terms. */
  private final class OpenPool implements PoolInForce {
    private volatile Pool pool;

    OpenPool(Pool pool) {
      this.pool = pool;
    }

    @Override
    public Pool pool() {
      return pool;
    }

    @Override
    public @Nullable Quote quote() {
      return quotes.get(pool.name());
    }

    @Override
    public Switches switches() {
      return switches;
    }

    @Override
    public Clock clock() {
      return clock;
    }
  }
}
