package dev.bourse.pools;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.capacity.Pool;
import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.GuardFailed;
import dev.bourse.store.InList;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Rows of pools. */
public final class PoolStore {
  /** What other processes are told when a pool is added or changed. */
  public static final String CHANGED = "pool";

  /** The guard of a new pool's row: there is one of that name. */
  static final String NAME_GUARD = "pool name is free";

  /** The guard of changed terms: the reserve price would lie above the cap. */
  static final String PRICES_GUARD = "reserve price is within the cap";

  private static final String COLUMNS =
      "name, site, provider, gpu_vendor, gpu_model, gpus_per_node, reserve_cents, cap_cents,"
          + " detector_armed, swaps_enabled, ssh_user, ssh_port, env, storage";

  private final Database database;

  public PoolStore(Database database) {
    this.database = database;
  }

  /** Every pool, by name. */
  public Future<List<Pool>> listPools() {
    return database.read(
        "SELECT " + COLUMNS + " FROM pool ORDER BY name", List.of(), PoolStore::pool);
  }

  /** A new pool's row; guarded by its name being free. */
  public static Statement insert(Pool pool, long nowMillis) {
    return Statement.guarded(
        NAME_GUARD,
        "INSERT INTO pool ("
            + COLUMNS
            + ", created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            + " ON CONFLICT (name) DO NOTHING",
        pool.name(),
        pool.site(),
        pool.provider(),
        pool.gpuVendor(),
        pool.gpuModel(),
        pool.gpusPerNode(),
        pool.reserveCents(),
        pool.capCents(),
        pool.detectorArmed(),
        pool.swapsEnabled(),
        pool.environment().sshUser(),
        pool.environment().sshPort(),
        json(pool.environment().env()),
        json(pool.environment().storage()),
        nowMillis);
  }

  /** Those of these pools that are there, as they are stored now. */
  Future<List<Pool>> listPools(List<String> names) {
    List<String> all = InList.of(names);
    return database.read(
        "SELECT " + COLUMNS + " FROM pool WHERE name IN " + InList.marks(all),
        all,
        PoolStore::pool);
  }

  /** So many pools, by name, after this one. */
  Future<List<Pool>> listPools(String after, int limit) {
    return database.read(
        "SELECT " + COLUMNS + " FROM pool WHERE name > ? ORDER BY name LIMIT ?",
        List.of(after, limit),
        PoolStore::pool);
  }

  /** One pool as it is stored now. */
  Future<Optional<Pool>> findPool(String name) {
    return database
        .read("SELECT " + COLUMNS + " FROM pool WHERE name = ?", List.of(name), PoolStore::pool)
        .map(found -> found.stream().findFirst());
  }

  /** Stores a new pool and the row that records it. Fails on {@link #NAME_GUARD}. */
  Future<Void> create(Pool pool, AuditRow audit) {
    return commit(pool.name(), insert(pool, audit.atMillis()), audit);
  }

  /** Stores what changes of a pool. Fails on {@link #PRICES_GUARD}. */
  Future<Void> update(String name, PoolService.Settings changed, AuditRow audit) {
    List<String> columns = new ArrayList<>();
    List<@Nullable Object> values = new ArrayList<>();
    changed.gpuModel().ifPresent(model -> set("gpu_model", model, columns, values));
    changed.reserveCents().ifPresent(cents -> set("reserve_cents", cents, columns, values));
    changed.capCents().ifPresent(cents -> set("cap_cents", cents, columns, values));
    changed.detectorArmed().ifPresent(on -> set("detector_armed", on, columns, values));
    changed.swapsEnabled().ifPresent(on -> set("swaps_enabled", on, columns, values));
    changed.env().ifPresent(env -> set("env", json(env), columns, values));
    changed.storage().ifPresent(storage -> set("storage", json(storage), columns, values));
    values.add(name);
    values.add(changed.reserveCents().orElse(null));
    values.add(changed.capCents().orElse(null));
    return commit(
        name,
        new Statement(
            "UPDATE pool SET "
                + String.join(", ", columns)
                // What another operator sets meanwhile counts too.
                + " WHERE name = ? AND COALESCE(?, reserve_cents) <= COALESCE(?, cap_cents)",
            values,
            () -> new GuardFailed(PRICES_GUARD),
            1),
        audit);
  }

  private static void set(
      String column, Object value, List<String> columns, List<@Nullable Object> values) {
    columns.add(column + " = ?");
    values.add(value);
  }

  private Future<Void> commit(String name, Statement statement, AuditRow audit) {
    return database.commit(
        List.of(statement, AuditStore.insert(audit)), List.of(new Change(CHANGED, name)));
  }

  private static Pool pool(Row row) {
    return new Pool(
        row.text(0),
        row.text(1),
        row.text(2),
        row.text(3),
        row.textOrNull(4),
        Math.toIntExact(row.integer(5)),
        row.integer(6),
        row.integer(7),
        row.truth(8),
        row.truth(9),
        new Pool.Environment(
            row.text(10), Math.toIntExact(row.integer(11)), map(row.text(12)), map(row.text(13))));
  }

  private static String json(Map<String, String> map) {
    JsonObject json = new JsonObject();
    new TreeMap<>(map).forEach(json::put);
    return json.encode();
  }

  private static Map<String, String> map(String json) {
    Map<String, String> map = new TreeMap<>();
    new JsonObject(json).forEach(e -> map.put(e.getKey(), String.valueOf(e.getValue())));
    return Map.copyOf(map);
  }
}
