package dev.bourse.org;

import dev.bourse.core.Page;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads of organizations as operators see them, the retired ones too. */
public final class OrgAdminStore {
  private static final String COLUMNS =
      "SELECT org_id, display, kind, created_at, retired_at FROM org";

  private final Database database;

  OrgAdminStore(Database database) {
    this.database = database;
  }

  /**
   * An organization.
   *
   * @param orgId its identifier, never used again
   * @param display its name for people
   * @param kind {@code standard} or {@code public_research}
   * @param createdAtMillis since when it exists
   * @param retiredAtMillis since when it is retired, null while it is not
   */
  public record Org(
      String orgId,
      String display,
      String kind,
      long createdAtMillis,
      @Nullable Long retiredAtMillis) {}

  /** A page of all of them, by id. */
  Future<Page<Org>> list(int limit, Optional<String> after) {
    List<Object> parameters = new ArrayList<>();
    after.ifPresent(parameters::add);
    parameters.add(limit + 1);
    return database
        .read(
            COLUMNS + (after.isPresent() ? " WHERE org_id > ?" : "") + " ORDER BY org_id LIMIT ?",
            parameters,
            OrgAdminStore::org)
        .map(found -> Page.of(found, limit));
  }

  /** One of them; fails with {@code not-found} when there is none. */
  Future<Org> find(String orgId) {
    return database
        .read(COLUMNS + " WHERE org_id = ?", List.of(orgId), OrgAdminStore::org)
        .map(found -> found.stream().findFirst().orElseThrow(() -> OrgWrite.unknown(orgId)));
  }

  /**
   * Clusters of retired organizations that are not laid to rest yet: writes armed, capacity
   * declared, or nodes held.
   */
  Future<List<String>> listClustersOfRetired() {
    return database.read(
        "SELECT c.name FROM cluster c"
            + " WHERE c.org_id IN (SELECT org_id FROM org WHERE retired_at IS NOT NULL)"
            + " AND (c.writes_armed <> 0 OR c.max_gpus > 0"
            + " OR EXISTS (SELECT 1 FROM allocation a WHERE a.cluster = c.name"
            + " AND a.gone_at IS NULL AND a.state <> 'RECLAIMING'))",
        List.of(),
        row -> row.text(0));
  }

  private static Org org(Row row) {
    return new Org(row.text(0), row.text(1), row.text(2), row.integer(3), row.integerOrNull(4));
  }
}
