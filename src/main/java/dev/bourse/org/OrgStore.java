package dev.bourse.org;

import dev.bourse.core.Page;
import dev.bourse.store.Columns;
import dev.bourse.store.Database;
import dev.bourse.store.InList;
import dev.bourse.store.Row;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads organizations, including retired ones, and their clusters. */
final class OrgStore {
  static final Columns<Org> ORG =
      Columns.<Org>of("org")
          .fixed("org_id", Org::orgId)
          .changing("display", Org::display)
          .changing("kind", Org::kind)
          .changing("max_clusters", Org::maxClusters)
          .fixed("created_at", Org::createdAtMillis)
          .changing("retired_at", Org::retiredAtMillis);

  private static final String SELECT = "SELECT " + ORG.names() + " FROM org";

  private final Database database;

  OrgStore(Database database) {
    this.database = database;
  }

  /** A page of all organizations, by id. */
  Future<Page<Org>> list(int limit, Optional<String> after) {
    return database
        .read(
            SELECT + " WHERE org_id > ? ORDER BY org_id LIMIT ?",
            List.of(after.orElse(""), limit + 1),
            OrgStore::org)
        .map(found -> Page.of(found, limit));
  }

  /** The existing ones among these organizations, by id. */
  Future<List<Org>> list(List<String> ids) {
    if (ids.isEmpty()) {
      return Future.succeededFuture(List.of());
    }
    List<String> all = InList.of(ids);
    return database.read(
        SELECT + " WHERE org_id IN " + InList.marks(all) + " ORDER BY org_id", all, OrgStore::org);
  }

  /** One organization; fails with {@code not-found} if it does not exist. */
  Future<Org> get(String orgId) {
    return database
        .read(SELECT + " WHERE org_id = ?", List.of(orgId), OrgStore::org)
        .map(found -> found.stream().findFirst().orElseThrow(() -> OrgWrite.unknown(orgId)));
  }

  /**
   * An organization's clusters that are not retired, by name.
   *
   * @param only the cluster that a token is bound to, null for all clusters
   */
  Future<List<AddressableCluster>> listClusters(String orgId, @Nullable String only) {
    List<String> parameters = new ArrayList<>(List.of(orgId));
    if (only != null) {
      parameters.add(only);
    }
    return database.read(
        """
        SELECT c.name, c.kind, p.gpu_vendor, p.gpu_model FROM cluster c
        JOIN pool p ON p.name = c.pool WHERE c.org_id = ? AND c.retired_at IS NULL %s ORDER BY c.name\
        """
            .formatted(only == null ? "" : "AND c.name = ?"),
        parameters,
        row ->
            new AddressableCluster(
                row.text("name"),
                row.text("kind"),
                row.text("gpu_vendor"),
                row.textOrNull("gpu_model")));
  }

  /**
   * Clusters of retired organizations with something left to release: armed writes, a declaration,
   * or nodes.
   */
  Future<List<String>> listClustersOfRetired() {
    return database.read(
        """
        SELECT c.name FROM cluster c
        WHERE c.org_id IN (SELECT org_id FROM org WHERE retired_at IS NOT NULL)
        AND (c.writes_armed <> 0 OR c.max_gpus > 0
        OR EXISTS (SELECT 1 FROM allocation a WHERE a.cluster = c.name
        AND a.gone_at IS NULL AND a.state <> 'RECLAIMING'))\
        """,
        List.of(),
        row -> row.text("name"));
  }

  private static Org org(Row row) {
    return new Org(
        row.text("org_id"),
        row.text("display"),
        row.text("kind"),
        row.integerOrNull("max_clusters") == null ? null : row.smallInteger("max_clusters"),
        row.integer("created_at"),
        row.integerOrNull("retired_at"));
  }
}
