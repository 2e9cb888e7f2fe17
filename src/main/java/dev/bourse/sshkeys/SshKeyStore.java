package dev.bourse.sshkeys;

import dev.bourse.access.CallerGuard;
import dev.bourse.access.Offboarding;
import dev.bourse.access.Offboarding.Author;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.core.ApiException;
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
import org.jspecify.annotations.Nullable;

/** Rows of ssh keys. */
public final class SshKeyStore {
  /** The feed topic of changed keys; its key is the organization. */
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

  /** Returns every live key, oldest first. */
  Future<List<SshKey>> listLive() {
    return database.read(SELECT_LIVE + OLDEST_FIRST, List.of(), SshKeyStore::key);
  }

  /** Returns every live key of some organizations, oldest first. */
  Future<List<SshKey>> listLive(List<String> orgIds) {
    List<String> all = InList.of(orgIds);
    return database.read(
        SELECT_LIVE + " AND org_id IN " + InList.marks(all) + OLDEST_FIRST, all, SshKeyStore::key);
  }

  /** The ids of an organization's live keys. */
  record Registry(String orgId, String keyIds) {}

  /** Returns the registries of the organizations after this one, including those without a key. */
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

  /** Returns the live key of the same material and cluster. */
  Future<Optional<SshKey>> findSame(SshKey key) {
    return database.readFirst(
        SELECT_LIVE + " AND org_id = ? AND fingerprint = ? AND COALESCE(cluster, '') = ?",
        List.of(key.orgId(), key.fingerprint(), key.cluster() == null ? "" : key.cluster()),
        SshKeyStore::key);
  }

  /** Returns the lines of these keys without the revoked ones, for installation on a node. */
  public Future<List<String>> listLines(List<String> keyIds) {
    if (keyIds.isEmpty()) {
      return Future.succeededFuture(List.of());
    }
    String marks = String.join(", ", Collections.nCopies(keyIds.size(), "?"));
    return database.read(
        "SELECT public_key FROM ssh_key WHERE key_id IN ("
            + marks
            + ") AND revoked_at IS NULL ORDER BY key_id",
        new ArrayList<>(keyIds),
        row -> row.text("public_key"));
  }

  Future<Void> add(SshKey key, AuditRow audit, List<Statement> fences) {
    List<Statement> statements = new ArrayList<>(CallerGuard.of(key.orgId(), key.createdBy()));
    statements.addAll(with(fences, COLUMNS.insert(key), AuditStore.insert(audit)));
    return database.commit(statements, List.of(new Change(CHANGED, key.orgId())));
  }

  /** Revokes an author's live keys, with an audit row for each. */
  static List<Statement> offboard(Author author, long nowMillis) {
    String live = author.condition("created_by") + " AND revoked_at IS NULL";
    List<@Nullable Object> revoke = new ArrayList<>(List.of(nowMillis));
    revoke.addAll(author.parameters());
    return List.of(
        // Locks the rows first, so that no other call revokes one between its audit row and its
        // revocation.
        Statement.of(
            "UPDATE ssh_key SET revoked_at = NULL WHERE " + live, author.parameters().toArray()),
        AuditStore.insertEach(
            new AuditRow(
                nowMillis, author.orgId(), Offboarding.ACTOR, "vm_key_revoke", author.orgId(), ""),
            """
            'key_id=' || key_id || ' name=' || name || ' fingerprint=' || fingerprint
            || COALESCE(' cluster=' || cluster, '')\
            """,
            "ssh_key WHERE " + live + OLDEST_FIRST,
            author.parameters().toArray()),
        new Statement("UPDATE ssh_key SET revoked_at = ? WHERE " + live, revoke, null, 0));
  }

  /**
   * Lists an author's keys, oldest first.
   *
   * @param revokedAtMillis keys revoked at that time; empty for live keys
   */
  Future<List<SshKey>> listOf(Author author, Optional<Long> revokedAtMillis) {
    List<Object> parameters = new ArrayList<>(author.parameters());
    revokedAtMillis.ifPresent(parameters::add);
    return database.read(
        "SELECT %s FROM ssh_key WHERE %s AND revoked_at %s%s"
            .formatted(
                COLUMNS.names(),
                author.condition("created_by"),
                revokedAtMillis.isPresent() ? "= ?" : "IS NULL",
                OLDEST_FIRST),
        parameters,
        SshKeyStore::key);
  }

  /** Counts the organization's live keys of other authors. */
  Future<Long> countOthers(Author author) {
    List<Object> parameters = new ArrayList<>(List.of(author.orgId()));
    parameters.addAll(author.parameters());
    return database.readOne(
        """
        SELECT COUNT(*) AS others FROM ssh_key WHERE org_id = ? AND revoked_at IS NULL
        AND NOT (%s)\
        """
            .formatted(author.condition("created_by")),
        parameters,
        row -> row.integer("others"));
  }

  /** Revokes a live key; fails with {@code not-found} if it is not live. */
  Future<Void> revoke(SshKey key, AuditRow audit, List<Statement> fences) {
    return database.commit(
        with(
            fences,
            Statement.guarded(
                () -> ApiException.notFound("ssh key", key.keyId()),
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
