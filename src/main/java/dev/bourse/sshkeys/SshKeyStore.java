package dev.bourse.sshkeys;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.InList;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Rows of ssh keys. */
public final class SshKeyStore {
  /** What other processes are told when keys come or go; the key is the organization. */
  public static final String CHANGED = "ssh-keys";

  /** The guard of a revoke: the key is not live any more. */
  static final String LIVE_GUARD = "ssh key is live";

  private static final String COLUMNS =
      "key_id, org_id, name, public_key, fingerprint, cluster, created_at, created_by";

  private final Database database;

  public SshKeyStore(Database database) {
    this.database = database;
  }

  /** Every live key, oldest first. */
  Future<List<SshKey>> listLive() {
    return database.read(
        "SELECT " + COLUMNS + " FROM ssh_key WHERE revoked_at IS NULL ORDER BY created_at, key_id",
        List.of(),
        SshKeyStore::key);
  }

  /** Every live key of some organizations, oldest first. */
  Future<List<SshKey>> listLive(List<String> orgIds) {
    List<String> all = InList.of(orgIds);
    return database.read(
        "SELECT "
            + COLUMNS
            + " FROM ssh_key WHERE org_id IN "
            + InList.marks(all)
            + " AND revoked_at IS NULL ORDER BY created_at, key_id",
        all,
        SshKeyStore::key);
  }

  /** Which live keys an organization has. */
  record Registry(String orgId, String keyIds) {}

  /** What so many organizations have, by id, after this one; those without a key too. */
  Future<List<Registry>> listRegistries(String after, int limit) {
    return database
        .read(
            "SELECT o.org_id, k.key_id FROM"
                + " (SELECT org_id FROM org WHERE org_id > ? ORDER BY org_id LIMIT ?) o"
                + " LEFT JOIN ssh_key k ON k.org_id = o.org_id AND k.revoked_at IS NULL"
                + " ORDER BY o.org_id, k.key_id",
            List.of(after, limit),
            row -> new OfOrg(row.text(0), row.textOrNull(1)))
        .map(
            rows -> {
              Map<String, String> byOrg = new LinkedHashMap<>();
              for (OfOrg row : rows) {
                byOrg.merge(
                    row.orgId(),
                    row.keyId() == null ? "" : row.keyId(),
                    (known, next) -> known + " " + next);
              }
              return byOrg.entrySet().stream()
                  .map(entry -> new Registry(entry.getKey(), entry.getValue()))
                  .toList();
            });
  }

  private record OfOrg(String orgId, @Nullable String keyId) {}

  /** The live key of the same material and reach. */
  Future<Optional<SshKey>> findSame(SshKey key) {
    return database
        .read(
            "SELECT "
                + COLUMNS
                + " FROM ssh_key WHERE org_id = ? AND fingerprint = ?"
                + " AND COALESCE(cluster, '') = ? AND revoked_at IS NULL",
            List.of(key.orgId(), key.fingerprint(), key.cluster() == null ? "" : key.cluster()),
            SshKeyStore::key)
        .map(found -> found.stream().findFirst());
  }

  /** The lines of these keys, revoked ones too: an allocation keeps what it was granted with. */
  public Future<List<String>> listLines(List<String> keyIds) {
    if (keyIds.isEmpty()) {
      return Future.succeededFuture(List.of());
    }
    String marks = String.join(", ", Collections.nCopies(keyIds.size(), "?"));
    return database.read(
        "SELECT public_key FROM ssh_key WHERE key_id IN (" + marks + ") ORDER BY key_id",
        new ArrayList<>(keyIds),
        row -> row.text(0));
  }

  Future<Void> add(SshKey key, AuditRow audit) {
    return database.commit(
        List.of(
            Statement.of(
                "INSERT INTO ssh_key (" + COLUMNS + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                key.keyId(),
                key.orgId(),
                key.name(),
                key.publicKey(),
                key.fingerprint(),
                key.cluster(),
                key.createdAtMillis(),
                key.createdBy()),
            AuditStore.insert(audit)),
        List.of(new Change(CHANGED, key.orgId())));
  }

  Future<Void> revoke(SshKey key, AuditRow audit) {
    return database.commit(
        List.of(
            Statement.guarded(
                LIVE_GUARD,
                "UPDATE ssh_key SET revoked_at = ? WHERE key_id = ? AND revoked_at IS NULL",
                audit.atMillis(),
                key.keyId()),
            AuditStore.insert(audit)),
        List.of(new Change(CHANGED, key.orgId())));
  }

  private static SshKey key(Row row) {
    return new SshKey(
        row.text(0),
        row.text(1),
        row.text(2),
        row.text(3),
        row.text(4),
        row.textOrNull(5),
        row.integer(6),
        row.text(7));
  }
}
