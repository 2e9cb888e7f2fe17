package dev.bourse.org;

import dev.bourse.store.Database;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads about an organization. */
public final class OrgStore {
  private final Database database;

  public OrgStore(Database database) {
    this.database = database;
  }

  /** A cluster a token can address. */
  record Addressable(String name, String kind, String gpuVendor, @Nullable String gpuModel) {}

  /**
   * An organization's clusters, by name.
   *
   * @param only the one a token is bound to, null for all
   */
  Future<List<Addressable>> listClusters(String orgId, @Nullable String only) {
    List<String> parameters = new ArrayList<>(List.of(orgId));
    if (only != null) {
      parameters.add(only);
    }
    return database.read(
        "SELECT c.name, c.kind, p.gpu_vendor, p.gpu_model FROM cluster c"
            + " JOIN pool p ON p.name = c.pool WHERE c.org_id = ?"
            + (only == null ? "" : " AND c.name = ?")
            + " ORDER BY c.name",
        parameters,
        row -> new Addressable(row.text(0), row.text(1), row.text(2), row.textOrNull(3)));
  }
}
