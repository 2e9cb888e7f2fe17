package dev.bourse.pools.settings;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.Trails;
import dev.bourse.capacity.Clusters;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Page;
import dev.bourse.core.Price;
import dev.bourse.core.Text;
import dev.bourse.json.Setting;
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

/** Manages the pools' stored terms, and puts them in force in this process. */
public final class PoolService implements Mirror {
  private final PoolStore store;
  private final Clusters clusters;
  private final Set<String> providers;
  private final Clock clock;

  /** The last read of the store; reads run one after the other, see {@link #load}. */
  private Future<Void> lastReading = Future.succeededFuture();

  /**
   * @param clusters publishes the terms in force
   * @param providers the names of this service's node providers
   */
  public PoolService(Database database, Clusters clusters, Set<String> providers, Clock clock) {
    this.store = new PoolStore(database);
    this.clusters = clusters;
    this.providers = new TreeSet<>(providers);
    this.clock = clock;
  }

  /**
   * Puts the stored terms in force. Reads run one after the other, so an older result cannot
   * replace a newer one.
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

  /** Puts some pools' stored terms in force, after the reads in progress. */
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

  /** Puts committed terms in force; the error of a failure says that they are stored. */
  private Future<Void> putInForce(String name) {
    return refresh(List.of(name))
        .<Void>mapEmpty()
        .recover(e -> Future.failedFuture(ApiException.storedOnly()));
  }

  /**
   * Lists one page of pools by name.
   *
   * @param site the site of the pools; empty for all
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

  /** Returns a pool. Fails with {@code not-found}. */
  public Pool readPool(String name) {
    return clusters.findPool(name).orElseThrow(() -> ApiException.notFound("pool", name));
  }

  /**
   * Creates a pool; its market opens at once in all processes.
   *
   * <p>Fails with {@code bad-request} if this service does not have the provider or the reserve
   * price is above the cap, and with {@code conflict} if the name is taken.
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
   * A pause of a pool's market, or its end.
   *
   * @param reason the reason, which tenants see; null for the end
   */
  public record PauseChange(boolean paused, @Nullable String reason) {
    public PauseChange {
      if (paused != (reason != null)) {
        throw new IllegalArgumentException("a pause has a reason, its end has none");
      }
    }
  }

  /**
   * An operator's change of a pool; an empty field stays as it is.
   *
   * @param gpuModel the GPU class; cleared only among expected terms, for a pool without one
   * @param reserveCents the reserve price, in cents per GPU-hour
   * @param capCents the highest ceiling accepted, in cents per GPU-hour
   * @param detectorArmed true if the market decides {@code capacity_unavailable}
   * @param swapsEnabled true if nodes can be swapped
   * @param selfService true if members may create clusters
   * @param tenants the rights of tenants; root rights cannot be revoked
   * @param noticeMillis the length of the notice before nodes are reclaimed for a rival; cleared
   *     for the service's setting
   * @param paused the pause of its market, or its end
   * @param env environment variables, which replace all earlier ones
   * @param storage storage paths by purpose, which replace all earlier ones
   */
  public record Settings(
      Setting<String> gpuModel,
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
    /** Settings that change and expect nothing. */
    public static final Settings NONE =
        new Settings(
            Setting.kept(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Setting.kept(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty());

    /** Returns the detail of the audit row; it names variables only, because values may be long. */
    private String detail() {
      Map<String, String> fields = new TreeMap<>();
      if (!(gpuModel instanceof Setting.Kept<String>)) {
        fields.put("gpu_model", String.valueOf(gpuModel.over(null)));
      }
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
   * Changes a pool's terms. Standing declarations stay as they are. Fails with {@code not-found},
   * and with {@code bad-request} if the reserve price would be above the cap or tenants would lose
   * root rights, because a machine that one of them holds would be granted without a new image.
   * Fails with {@code conflict} if a stored term is not the expected one, so that no operator
   * overwrites a change that they have not seen.
   *
   * @param actor the operator
   * @param expected the terms that the operator read; empty fields expect nothing
   */
  public Future<Pool> updatePool(String actor, String name, Settings changed, Settings expected) {
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
        .update(name, changed, expected, audit(actor, "pool_update", name, changed.detail()))
        .recover(
            e -> {
              if (e instanceof PoolStore.TermsChangedException) {
                return Future.failedFuture(
                    ApiException.of(
                            ErrorCode.CONFLICT,
                            """
                            the terms of pool '%s' have changed since you read them; read them \
                            again; nothing was written\
                            """,
                            name)
                        .with("reason", "changed"));
              }
              return e instanceof PoolStore.PricesCrossedException
                  ? refuse(name, changed, e)
                  : Future.failedFuture(e);
            })
        .compose(updated -> putInForce(name))
        .map(loaded -> readPool(name));
  }

  /** Returns the error for a price that conflicts with another operator's change. */
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
