package dev.bourse.capacity;

import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Rows of pools. */
public final class PoolStore {
  /** What other processes are told when a pool is added or changed. */
  public static final String CHANGED = "pool";

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

  public static Statement insert(Pool pool, long nowMillis) {
    return Statement.of(
        "INSERT INTO pool ("
            + COLUMNS
            + ", created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
