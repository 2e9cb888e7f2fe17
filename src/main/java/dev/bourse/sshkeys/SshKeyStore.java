package dev.bourse.sshkeys;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.core.ApiError;
import dev.bourse.store.Change;
import dev.bourse.store.Columns;
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
import java.util.stream.Stream;

/** Rows of ssh keys. */
public final class SshKeyStore {
  /** What other processes are told when keys come or go; the key is the organization. */
  public static final String CHANGED = "ssh-keys";

  private static final Columns<SshKey> COLUMNS =
      Columns.<SshKey>of("ssh_key")
          .fixed("key_id", SshKey::keyId)
          .fixed("org_id", SshKey::orgId)
          .fixed("name", SshKey::name)
          .fixed("public_key", SshKey::publicKey)
          .fixed("fingerprint", SshKey::fingerprint)
          .fixed("cluster", SshKey::cluster)
          .fixed("created_at", SshKey::createdAtMillis)
          .fixed("created_by", SshKey::createdBy);

  private static final String SELECT_LIVE =
      "SELECT %s FROM ssh_key WHERE revoked_at IS NULL".formatted(COLUMNS.names());

  private static final String OLDEST_FIRST = " ORDER BY created_at, key_id";

  private final Database database;

  public SshKeyStore(Database database) {
    this.database = database;
  }

  /** Every live key, oldest first. */
  Future<List<SshKey>> listLive() {
    return database.read(SELECT_LIVE + OLDEST_FIRST, List.of(), SshKeyStore::key);
  }

  /** Every live key of some organizations, oldest first. */
  Future<List<SshKey>> listLive(List<String> orgIds) {
    List<String> all = InList.of(orgIds);
    return database.read(
        SELECT_LIVE + " AND org_id IN " + InList.marks(all) + OLDEST_FIRST, all, SshKeyStore::key);
  }

  /** Which live keys an organization has, by id. */
  record Registry(String orgId, String keyIds) {}

  /** What so many organizations have, by id, after this one; those without a key too. */
  Future<List<Registry>> listRegistries(String after, int limit) {
    return database
        .read(
            """
            SELECT o.org_id, COALESCE(k.key_id, '') AS key_id FROM
            (SELECT org_id FROM org WHERE org_id > ? ORDER BY org_id LIMIT ?) o
            LEFT JOIN ssh_key k ON k.org_id = o.org_id AND k.revoked_at IS NULL
            ORDER BY o.org_id, k.key_id\
            """,
            List.of(after, limit),
            row -> new Registry(row.text("org_id"), row.text("key_id")))
        .map(
            rows -> {
              Map<String, String> byOrg = new LinkedHashMap<>();
              rows.forEach(
                  row ->
                      byOrg.merge(row.orgId(), row.keyIds(), (known, next) -> known + " " + next));
              return byOrg.entrySet().stream()
                  .map(entry -> new Registry(entry.getKey(), entry.getValue()))
                  .toList();
            });
  }

  /** The live key of the same material and reach. */
  Future<Optional<SshKey>> findSame(SshKey key) {
    return database.readFirst(
        SELECT_LIVE + " AND org_id = ? AND fingerprint = ? AND COALESCE(cluster, '') = ?",
        List.of(key.orgId(), key.fingerprint(), key.cluster() == null ? "" : key.cluster()),
        SshKeyStore::key);
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
        row -> row.text("public_key"));
  }

  Future<Void> add(SshKey key, AuditRow audit, List<Statement> fences) {
    return database.commit(
        with(fences, COLUMNS.insert(key), AuditStore.insert(audit)),
        List.of(new Change(CHANGED, key.orgId())));
  }

  /** Revokes a live key; refused with {@code not-found} when it is not live any more. */
  Future<Void> revoke(SshKey key, AuditRow audit, List<Statement> fences) {
    return database.commit(
        with(
            fences,
            Statement.guarded(
                () -> ApiError.notFound("ssh key", key.keyId()),
                "UPDATE ssh_key SET revoked_at = ? WHERE key_id = ? AND revoked_at IS NULL",
                audit.atMillis(),
                key.keyId()),
            AuditStore.insert(audit)),
        List.of(new Change(CHANGED, key.orgId())));
  }

  private static List<Statement> with(List<Statement> fences, Statement... writes) {
    return Stream.concat(fences.stream(), Stream.of(writes)).toList();
  }

  private static SshKey key(Row row) {
    return new SshKey(
        row.text("key_id"),
        row.text("org_id"),
        row.text("name"),
        row.text("public_key"),
        row.text("fingerprint"),
        row.textOrNull("cluster"),
        row.integer("created_at"),
        row.text("created_by"));
  }
}
