package dev.bourse.pools.settings;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.Trails;
import dev.bourse.capacity.Clusters;
import dev.bourse.capacity.Setting;
import dev.bourse.core.ApiException;
import dev.bourse.core.Page;
import dev.bourse.core.Price;
import dev.bourse.core.Text;
import dev.bourse.pools.Pool;
import dev.bourse.store.Database;
import dev.bourse.store.Mirror;
import dev.bourse.store.SliceComparison;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The pools: their terms as stored, put in force here and heard of by other processes. */
public final class PoolService implements Mirror {
  private final PoolStore store;
  private final Clusters clusters;
  private final Set<String> providers;
  private final Clock clock;

  /** Readings of the store, one after the other; see {@link #load}. */
  private Future<Void> lastReading = Future.succeededFuture();

  /**
   * @param clusters shows the terms in force
   * @param providers node providers this service has, by the name pools call them
   */
  public PoolService(Database database, Clusters clusters, Set<String> providers, Clock clock) {
    this.store = new PoolStore(database);
    this.clusters = clusters;
    this.providers = new TreeSet<>(providers);
    this.clock = clock;
  }

  /**
   * Puts what is stored in force. Readings never overtake each other, so what an earlier one found
   * cannot undo a later one.
   */
  public synchronized Future<Void> load() {
    lastReading =
        lastReading
            .otherwiseEmpty()
            .compose(read -> store.listPools())
            .map(
                all -> {
                  all.forEach(clusters::put);
                  return null;
                });
    return lastReading;
  }

  /** Puts some of what is stored in force; after any reading under way. */
  @Override
  public synchronized Future<Refreshed> refresh(List<String> names) {
    Future<Refreshed> reading =
        lastReading
            .otherwiseEmpty()
            .compose(read -> store.listPools(names))
            .map(
                found -> {
                  Set<String> changed = new HashSet<>();
                  for (Pool pool : found) {
                    if (!isHeld(pool)) {
                      changed.add(pool.name());
                      clusters.put(pool);
                    }
                  }
                  return new Refreshed(changed, Set.of());
                });
    lastReading = reading.mapEmpty();
    return reading;
  }

  @Override
  public Comparison compare() {
    return new SliceComparison<>(
        after -> store.listPools(after, SliceComparison.ROWS), Pool::name, this::isHeld, List::of);
  }

  private boolean isHeld(Pool stored) {
    return clusters.findPool(stored.name()).filter(stored::equals).isPresent();
  }

  /** What follows a commit: its failure must not read as if nothing had been stored. */
  private Future<Void> putInForce(String name) {
    return refresh(List.of(name))
        .<Void>mapEmpty()
        .recover(e -> Future.failedFuture(ApiException.storedOnly()));
  }

  /**
   * One page of the pools, by name.
   *
   * @param site of those at this site; empty for all
   */
  public Page<Pool> listPools(Optional<String> site, String after, int limit) {
    return Page.of(
        clusters.pools().stream()
            .filter(pool -> site.isEmpty() || site.get().equals(pool.site()))
            .filter(pool -> pool.name().compareTo(after) > 0)
            .limit(limit + 1L)
            .toList(),
        limit);
  }

  /** One pool. Refused with {@code not-found}. */
  public Pool readPool(String name) {
    return clusters.findPool(name).orElseThrow(() -> ApiException.notFound("pool", name));
  }

  /**
   * Makes a pool; its market opens at once, here and on every other process.
   *
   * <p>Refused with {@code bad-request} for a provider this service does not have or a reserve
   * price above the cap, with {@code conflict} when the name is taken.
   *
   * @param actor the operator
   */
  public Future<Pool> createPool(String actor, Pool pool) {
    if (!providers.contains(pool.provider())) {
      throw ApiException.badField(
          "provider", pool.provider(), "one this service has: " + String.join(", ", providers));
    }
    requireOrdered(pool.reserveCents(), pool.capCents());
    String detail =
        """
        provider=%s site=%s gpu_vendor=%s gpu_model=%s gpus_per_node=%s \
        reserve_price_per_gpu_hour=%s max_price_cap_per_gpu_hour=%s self_service=%s tenants=%s notice_ms=%s\
        """
            .formatted(
                pool.provider(),
                pool.site(),
                pool.gpuVendor(),
                pool.gpuModel(),
                pool.gpusPerNode(),
                Price.shown(pool.reserveCents()),
                Price.shown(pool.capCents()),
                pool.selfService(),
                pool.tenants().label(),
                pool.noticeMillis());
    return store
        .create(pool, audit(actor, "pool_create", pool.name(), detail))
        .compose(created -> putInForce(pool.name()))
        .map(loaded -> readPool(pool.name()));
  }

  /**
   * A halt of a pool's market, or its end.
   *
   * @param reason why it is paused, in words that tenants read; null for its end
   */
  public record PauseChange(boolean paused, @Nullable String reason) {
    public PauseChange {
      if (paused != (reason != null)) {
        throw new IllegalArgumentException("a pause has a reason, its end has none");
      }
    }
  }

  /**
   * What an operator changes of a pool; what is empty stays.
   *
   * @param gpuModel the GPU class
   * @param reserveCents under this nothing clears, in cents per GPU-hour
   * @param capCents the highest ceiling accepted, in cents per GPU-hour
   * @param detectorArmed whether {@code capacity_unavailable} is judged
   * @param swapsEnabled whether nodes can be swapped
   * @param selfService whether members may make clusters
   * @param tenants what rights tenants have; root rights are never taken back
   * @param noticeMillis how long before nodes are taken back for a rival their holders are told;
   *     cleared for as long as the service's setting says
   * @param paused whether its market grants and takes nothing
   * @param env environment variables, in the place of all there were
   * @param storage storage paths by purpose, in the place of all there were
   */
  public record Settings(
      Optional<String> gpuModel,
      Optional<Long> reserveCents,
      Optional<Long> capCents,
      Optional<Boolean> detectorArmed,
      Optional<Boolean> swapsEnabled,
      Optional<Boolean> selfService,
      Optional<Pool.Tenants> tenants,
      Setting<Long> noticeMillis,
      Optional<PauseChange> paused,
      Optional<Map<String, String>> env,
      Optional<Map<String, String>> storage) {

    /** As recorded; of variables and paths only the names, for their values may be long. */
    private String detail() {
      Map<String, String> fields = new TreeMap<>();
      gpuModel.ifPresent(model -> fields.put("gpu_model", model));
      reserveCents.ifPresent(c -> fields.put("reserve_price_per_gpu_hour", Price.shown(c)));
      capCents.ifPresent(c -> fields.put("max_price_cap_per_gpu_hour", Price.shown(c)));
      detectorArmed.ifPresent(on -> fields.put("detector_armed", String.valueOf(on)));
      swapsEnabled.ifPresent(on -> fields.put("swaps_enabled", String.valueOf(on)));
      selfService.ifPresent(on -> fields.put("self_service", String.valueOf(on)));
      tenants.ifPresent(rights -> fields.put("tenants", rights.label()));
      if (!(noticeMillis instanceof Setting.Kept<Long>)) {
        fields.put("notice_ms", String.valueOf(noticeMillis.over(null)));
      }
      paused.ifPresent(
          change -> {
            fields.put("paused", String.valueOf(change.paused()));
            if (change.reason() != null) {
              fields.put("pause_reason", Text.shown(change.reason()));
            }
          });
      env.ifPresent(map -> fields.put("env", names(map)));
      storage.ifPresent(map -> fields.put("storage", names(map)));
      return String.join(
          " ", fields.entrySet().stream().map(f -> f.getKey() + "=" + f.getValue()).toList());
    }

    private static String names(Map<String, String> map) {
      return "[" + String.join(",", new TreeSet<>(map.keySet())) + "]";
    }
  }

  /**
   * Changes a pool's terms. Standing declarations stay as they are. Refused with {@code not-found},
   * and with {@code bad-request} when the reserve price would lie above the cap or tenants would
   * lose root rights: a machine that one of them holds would then be granted without a new image.
   *
   * @param actor the operator
   */
  public Future<Pool> updatePool(String actor, String name, Settings changed) {
    Pool standing = readPool(name);
    requireOrdered(standing, changed);
    if (standing.tenants() == Pool.Tenants.ROOT
        && changed.tenants().filter(rights -> rights == Pool.Tenants.LOGIN).isPresent()) {
      throw ApiException.badField(
          "tenants",
          Pool.Tenants.LOGIN.label(),
          "root, because tenants of this pool have root rights; create another pool");
    }
    return store
        .update(name, changed, audit(actor, "pool_update", name, changed.detail()))
        .recover(
            e ->
                e instanceof PoolStore.PricesCrossedException
                    ? refuse(name, changed, e)
                    : Future.failedFuture(e))
        .compose(updated -> putInForce(name))
        .map(loaded -> readPool(name));
  }

  /** Another operator changed the prices meanwhile: refused for what is stored now. */
  private Future<Void> refuse(String name, Settings changed, Throwable failure) {
    return store
        .listPools(List.of(name))
        .compose(
            found -> {
              found.forEach(stored -> requireOrdered(stored, changed));
              return Future.failedFuture(failure);
            });
  }

  private static void requireOrdered(Pool standing, Settings changed) {
    if (changed.reserveCents().isPresent() || changed.capCents().isPresent()) {
      requireOrdered(
          changed.reserveCents().orElse(standing.reserveCents()),
          changed.capCents().orElse(standing.capCents()));
    }
  }

  private static void requireOrdered(long reserveCents, long capCents) {
    if (reserveCents > capCents) {
      throw ApiException.badField(
          "reserve_price_per_gpu_hour",
          Price.shown(reserveCents),
          "at most max_price_cap_per_gpu_hour, which is " + Price.shown(capCents));
    }
  }

  private AuditRow audit(String actor, String action, String pool, String detail) {
    return new AuditRow(clock.millis(), Trails.PLATFORM, actor, action, pool, detail);
  }
}
