package dev.bourse.pools.settings;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.json.Setting;
import dev.bourse.pools.Pool;
import dev.bourse.store.Change;
import dev.bourse.store.Columns;
import dev.bourse.store.Database;
import dev.bourse.store.InList;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Reads and writes the rows of pools. */
public final class PoolStore {
  /** The topic of changes that other processes get when a pool is added or changed. */
  public static final String CHANGED = "pool";

  /** Thrown if the reserve price would be above the cap after another operator's change. */
  static final class PricesCrossedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    PricesCrossedException() {
      super("the reserve price would be above the cap", null, false, false);
    }
  }

  /** Thrown if a term is no longer the one that the operator read. */
  static final class TermsChangedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    TermsChangedException() {
      super("the terms have changed since they were read", null, false, false);
    }
  }

  private record PoolRow(Pool pool, long createdAtMillis) {}

  private static final Columns<PoolRow> COLUMNS =
      Columns.<PoolRow>of("pool")
          .fixed("name", r -> r.pool.name())
          .fixed("site", r -> r.pool.site())
          .fixed("provider", r -> r.pool.provider())
          .fixed("gpu_vendor", r -> r.pool.gpuVendor())
          .fixed("gpu_model", r -> r.pool.gpuModel())
          .fixed("gpus_per_node", r -> r.pool.gpusPerNode())
          .fixed("reserve_cents", r -> r.pool.reserveCents())
          .fixed("cap_cents", r -> r.pool.capCents())
          .fixed("detector_armed", r -> r.pool.detectorArmed())
          .fixed("swaps_enabled", r -> r.pool.swapsEnabled())
          .fixed("self_service", r -> r.pool.selfService())
          .fixed("tenants", r -> r.pool.tenants().name())
          .fixed("notice_millis", r -> r.pool.noticeMillis())
          .fixed("paused_at", r -> pause(r, Pool.Pause::sinceMillis))
          .fixed("paused_by", r -> pause(r, Pool.Pause::by))
          .fixed("pause_reason", r -> pause(r, Pool.Pause::reason))
          .fixed("ssh_user", r -> r.pool.environment().sshUser())
          .fixed("ssh_port", r -> r.pool.environment().sshPort())
          .fixed("env", r -> json(r.pool.environment().env()))
          .fixed("storage", r -> json(r.pool.environment().storage()))
          .fixed("created_at", PoolRow::createdAtMillis);

  private static final String SELECT = "SELECT " + COLUMNS.names() + " FROM pool";

  private static @Nullable Object pause(PoolRow row, Function<Pool.Pause, Object> part) {
    Pool.Pause pause = row.pool.pause();
    return pause == null ? null : part.apply(pause);
  }

  private final Database database;

  public PoolStore(Database database) {
    this.database = database;
  }

  /** Lists all pools by name. */
  public Future<List<Pool>> listPools() {
    return database.read(SELECT + " ORDER BY name", List.of(), PoolStore::pool);
  }

  /** Returns the insert of a pool; fails with {@code conflict} if the name is taken. */
  public static Statement insert(Pool pool, long nowMillis) {
    return COLUMNS
        .insert(new PoolRow(pool, nowMillis), "ON CONFLICT (name) DO NOTHING")
        .orElse(
            () ->
                ApiException.of(ErrorCode.CONFLICT, "there is a pool '%s' already", pool.name())
                    .with("reason", "exists"));
  }

  /** Reads these pools; pools that are not stored are left out. */
  Future<List<Pool>> listPools(List<String> names) {
    List<String> all = InList.of(names);
    return database.read(SELECT + " WHERE name IN " + InList.marks(all), all, PoolStore::pool);
  }

  /** Lists pools by name, after this name. */
  Future<List<Pool>> listPools(String after, int limit) {
    return database.read(
        SELECT + " WHERE name > ? ORDER BY name LIMIT ?", List.of(after, limit), PoolStore::pool);
  }

  /** Stores a new pool and its audit row. */
  Future<Void> create(Pool pool, AuditRow audit) {
    return commit(pool.name(), insert(pool, audit.atMillis()), AuditStore.insert(audit));
  }

  /**
   * Stores the changes of a pool if its terms are the expected ones. Fails with {@link
   * TermsChangedException} and with {@link PricesCrossedException}.
   */
  Future<Void> update(
      String name, PoolService.Settings changed, PoolService.Settings expected, AuditRow audit) {
    List<String> columns = new ArrayList<>();
    List<@Nullable Object> values = new ArrayList<>();
    terms(changed).forEach((column, value) -> set(column, value, columns, values));
    changed
        .tenants()
        .ifPresent(
            rights -> {
              // Root rights that another operator granted at the same time stay.
              columns.add("tenants = CASE WHEN tenants = 'ROOT' THEN tenants ELSE ? END");
              values.add(rights.name());
            });
    changed.paused().ifPresent(change -> setPause(change, audit, columns, values));
    changed.env().ifPresent(env -> set("env", json(env), columns, values));
    changed.storage().ifPresent(storage -> set("storage", json(storage), columns, values));
    values.add(name);
    values.add(changed.reserveCents().orElse(null));
    values.add(changed.capCents().orElse(null));
    return commit(
        name,
        expect(name, expected),
        // The check uses the stored prices, because another operator may have changed them.
        new Statement(
            """
            UPDATE pool SET %s
            WHERE name = ? AND COALESCE(?, reserve_cents) <= COALESCE(?, cap_cents)\
            """
                .formatted(String.join(", ", columns)),
            values,
            PricesCrossedException::new,
            1),
        AuditStore.insert(audit));
  }

  /** Returns the terms that are stored as they are, by column. */
  private static Map<String, @Nullable Object> terms(PoolService.Settings settings) {
    Map<String, @Nullable Object> terms = new LinkedHashMap<>();
    putSetting("gpu_model", settings.gpuModel(), terms);
    settings.reserveCents().ifPresent(cents -> terms.put("reserve_cents", cents));
    settings.capCents().ifPresent(cents -> terms.put("cap_cents", cents));
    settings.detectorArmed().ifPresent(on -> terms.put("detector_armed", on));
    settings.swapsEnabled().ifPresent(on -> terms.put("swaps_enabled", on));
    settings.selfService().ifPresent(on -> terms.put("self_service", on));
    putSetting("notice_millis", settings.noticeMillis(), terms);
    return terms;
  }

  private static <T> void putSetting(
      String column, Setting<T> setting, Map<String, @Nullable Object> terms) {
    if (!(setting instanceof Setting.Kept<T>)) {
      terms.put(column, setting.over(null));
    }
  }

  /** Fails the commit with {@link TermsChangedException} unless these terms are stored. */
  private static Statement expect(String name, PoolService.Settings expected) {
    Map<String, @Nullable Object> terms = terms(expected);
    expected.tenants().ifPresent(rights -> terms.put("tenants", rights.name()));
    StringBuilder sql = new StringBuilder("UPDATE pool SET name = name WHERE name = ?");
    List<@Nullable Object> values = new ArrayList<>(List.of(name));
    terms.forEach(
        (column, value) -> {
          sql.append(" AND ").append(column).append(value == null ? " IS NULL" : " = ?");
          if (value != null) {
            values.add(value);
          }
        });
    return new Statement(sql.toString(), values, TermsChangedException::new, 1);
  }

  /** Stores a pause; for a market that is paused already, only the reason changes. */
  private static void setPause(
      PoolService.PauseChange change,
      AuditRow audit,
      List<String> columns,
      List<@Nullable Object> values) {
    if (change.paused()) {
      columns.add("paused_by = CASE WHEN paused_at IS NULL THEN ? ELSE paused_by END");
      values.add(audit.actor());
      columns.add("paused_at = COALESCE(paused_at, ?)");
      values.add(audit.atMillis());
      set("pause_reason", change.reason(), columns, values);
    } else {
      for (String column : List.of("paused_at", "paused_by", "pause_reason")) {
        columns.add(column + " = NULL");
      }
    }
  }

  private static void set(
      String column, @Nullable Object value, List<String> columns, List<@Nullable Object> values) {
    columns.add(column + " = ?");
    values.add(value);
  }

  private Future<Void> commit(String name, Statement... statements) {
    return database.commit(List.of(statements), List.of(new Change(CHANGED, name)));
  }

  private static Pool pool(Row row) {
    return new Pool(
        row.text("name"),
        row.text("site"),
        row.text("provider"),
        new Pool.Hardware(
            row.text("gpu_vendor"), row.textOrNull("gpu_model"), row.smallInteger("gpus_per_node")),
        new Pool.Bounds(row.integer("reserve_cents"), row.integer("cap_cents")),
        new Pool.Rules(
            row.truth("detector_armed"),
            row.truth("swaps_enabled"),
            row.truth("self_service"),
            row.value(Pool.Tenants.class, "tenants"),
            row.integerOrNull("notice_millis")),
        pauseOf(row),
        new Pool.Environment(
            row.text("ssh_user"),
            row.smallInteger("ssh_port"),
            map(row.text("env")),
            map(row.text("storage"))));
  }

  private static Pool.@Nullable Pause pauseOf(Row row) {
    Long since = row.integerOrNull("paused_at");
    return since == null
        ? null
        : new Pool.Pause(since, row.text("paused_by"), row.text("pause_reason"));
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
