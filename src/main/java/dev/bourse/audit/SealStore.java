package dev.bourse.audit;

import dev.bourse.store.Database;
import dev.bourse.store.GuardFailed;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** SQL of the seals and of the rows under them. */
final class SealStore {
  /** The one walk over the trail there is. */
  private static final String WALK = "audit";

  private static final String NOT_SEALED_ELSEWHERE = "sealed-through";
  private static final String NOT_PURGED_ELSEWHERE = "seal-kept";
  private static final String ROWS_AS_SEALED = "rows-as-sealed";

  private static final String SEAL =
      "org_id, is_read, batch, first_id, last_id, row_count, newest_at, row_digests, seal,"
          + " sealed_at, purged_at";

  /** Chains of one query: a page of queries costs little more than one of them. */
  private static final int CHAINS_PER_READ = 50;

  private static final String HEADS =
      String.join(
          " UNION ALL ",
          Collections.nCopies(
              CHAINS_PER_READ,
              "SELECT * FROM (SELECT "
                  + SEAL
                  + " FROM audit_seal WHERE org_id = ? AND is_read = ?"
                  + " ORDER BY batch DESC LIMIT 1) AS head"));

  private final Database database;

  SealStore(Database database) {
    this.database = database;
  }

  /** Whether another process may store rows whose ids come out of order. */
  boolean isShared() {
    return database.isShared();
  }

  /** The greatest id stored; 0 when there is none. */
  Future<Long> readGreatestId() {
    return one("SELECT COALESCE(MAX(id), 0) FROM audit");
  }

  /** The id up to which every row is in a batch. */
  Future<Long> readThroughId() {
    return one("SELECT COALESCE(MAX(through_id), 0) FROM audit_sealed WHERE name = ?", WALK);
  }

  private Future<Long> one(String sql, Object... parameters) {
    return database.read(sql, List.of(parameters), row -> row.integer(0)).map(rows -> rows.get(0));
  }

  /** Rows of all trails with ids after one and up to another, by id. */
  Future<List<RecordedRow>> listRows(long afterId, long upToId, int limit) {
    return database.read(
        "SELECT "
            + RecordedRow.COLUMNS
            + " FROM audit WHERE id > ? AND id <= ? ORDER BY id LIMIT ?",
        List.of(afterId, upToId, limit),
        RecordedRow::from);
  }

  /** The same of one chain. */
  Future<List<RecordedRow>> listRows(Chain chain, long afterId, long upToId, long limit) {
    return database.read(
        "SELECT "
            + RecordedRow.COLUMNS
            + " FROM audit WHERE org_id = ? AND is_read = ? AND id > ? AND id <= ?"
            + " ORDER BY id LIMIT ?",
        List.of(chain.orgId(), chain.isRead(), afterId, upToId, limit),
        RecordedRow::from);
  }

  /** The last batch of each chain that has any. */
  Future<Map<Chain, Seal.Link>> readHeads(List<Chain> chains) {
    List<Future<List<Seal>>> reads = new ArrayList<>();
    for (int from = 0; from < chains.size(); from += CHAINS_PER_READ) {
      List<Object> parameters = new ArrayList<>();
      for (int i = from; i < from + CHAINS_PER_READ; i++) {
        // The text must not vary with the number of chains, so the last one is asked for again.
        Chain chain = chains.get(Math.min(i, chains.size() - 1));
        parameters.add(chain.orgId());
        parameters.add(chain.isRead());
      }
      reads.add(database.read(HEADS, parameters, SealStore::seal));
    }
    return Future.all(reads)
        .map(
            all -> {
              Map<Chain, Seal.Link> heads = new HashMap<>();
              for (List<Seal> some : all.<List<Seal>>list()) {
                some.forEach(seal -> heads.put(seal.chain(), seal.link()));
              }
              return heads;
            });
  }

  /**
   * Stores batches and how far the trail is sealed with them. Fails with {@link GuardFailed} when
   * another process has sealed meanwhile.
   */
  Future<Void> seal(List<Seal> seals, long fromId, long throughId) {
    List<Statement> statements = new ArrayList<>(seals.size() + 2);
    statements.add(
        Statement.of(
            "INSERT INTO audit_sealed (name, through_id) VALUES (?, 0) ON CONFLICT DO NOTHING",
            WALK));
    statements.add(
        Statement.guarded(
            NOT_SEALED_ELSEWHERE,
            "UPDATE audit_sealed SET through_id = ? WHERE name = ? AND through_id = ?",
            throughId,
            WALK,
            fromId));
    for (Seal seal : seals) {
      statements.add(
          Statement.of(
              "INSERT INTO audit_seal (" + SEAL + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
              seal.chain().orgId(),
              seal.chain().isRead(),
              seal.batch(),
              seal.firstId(),
              seal.lastId(),
              seal.rowCount(),
              seal.newestAtMillis(),
              seal.rows().bytes(),
              seal.seal(),
              seal.sealedAtMillis(),
              seal.purgedAtMillis()));
    }
    return database.commit(statements);
  }

  /** Whether a commit failed only because another process had done the same. */
  static boolean isDoneElsewhere(Throwable failure) {
    return failure instanceof GuardFailed guard
        && (guard.guard().equals(NOT_SEALED_ELSEWHERE)
            || guard.guard().equals(NOT_PURGED_ELSEWHERE));
  }

  /** How large a batch says it is. */
  record Size(long batch, long rows) {}

  /** The sizes of a chain's batches after one; purged ones have no rows. */
  Future<List<Size>> listSizes(Chain chain, long afterBatch, int limit) {
    return database.read(
        "SELECT batch, CASE WHEN purged_at IS NULL THEN row_count ELSE 0 END FROM audit_seal"
            + " WHERE org_id = ? AND is_read = ? AND batch > ? ORDER BY batch LIMIT ?",
        List.of(chain.orgId(), chain.isRead(), afterBatch, limit),
        row -> new Size(row.integer(0), row.integer(1)));
  }

  /** A chain's batches from one to another, both included. */
  Future<List<Seal>> listSeals(Chain chain, long fromBatch, long toBatch) {
    return database.read(
        "SELECT "
            + SEAL
            + " FROM audit_seal WHERE org_id = ? AND is_read = ? AND batch >= ? AND batch <= ?"
            + " ORDER BY batch",
        List.of(chain.orgId(), chain.isRead(), fromBatch, toBatch),
        SealStore::seal);
  }

  /** The last batch of a chain. */
  Future<Optional<Seal>> findHead(Chain chain) {
    return database
        .read(
            "SELECT "
                + SEAL
                + " FROM audit_seal WHERE org_id = ? AND is_read = ? ORDER BY batch DESC LIMIT 1",
            List.of(chain.orgId(), chain.isRead()),
            SealStore::seal)
        .map(rows -> rows.stream().findFirst());
  }

  /**
   * Batches that are old enough to be purged and the first of their chain that is kept, oldest
   * first. Never the batch with the newest row of all: SQLite would give its id to another row.
   *
   * @param newestBefore the time all rows must be before
   */
  Future<List<Seal>> listPurgeable(boolean isRead, long newestBefore, int limit) {
    return database.read(
        "SELECT "
            + SEAL
            + " FROM audit_seal WHERE is_read = ? AND purged_at IS NULL AND newest_at < ?"
            + " AND last_id < (SELECT MAX(id) FROM audit)"
            + " AND NOT EXISTS (SELECT 1 FROM audit_seal AS earlier"
            + " WHERE earlier.org_id = audit_seal.org_id AND earlier.is_read = audit_seal.is_read"
            + " AND earlier.batch = audit_seal.batch - 1 AND earlier.purged_at IS NULL)"
            + " ORDER BY newest_at LIMIT ?",
        List.of(isRead, newestBefore, limit),
        SealStore::seal);
  }

  /**
   * Deletes the rows of a batch and notes it. Fails with {@link GuardFailed} when another process
   * has, or the rows are not as many as were sealed.
   */
  Future<Void> purge(Seal seal, long nowMillis) {
    Chain chain = seal.chain();
    List<Statement> statements = new ArrayList<>(2);
    statements.add(
        Statement.guarded(
            NOT_PURGED_ELSEWHERE,
            "UPDATE audit_seal SET purged_at = ?, row_digests = ?"
                + " WHERE org_id = ? AND is_read = ? AND batch = ? AND purged_at IS NULL",
            nowMillis,
            seal.rows().withoutRows().bytes(),
            chain.orgId(),
            chain.isRead(),
            seal.batch()));
    statements.add(
        new Statement(
            "DELETE FROM audit WHERE org_id = ? AND is_read = ? AND id >= ? AND id <= ?",
            List.of(chain.orgId(), chain.isRead(), seal.firstId(), seal.lastId()),
            () -> new GuardFailed(ROWS_AS_SEALED),
            Math.toIntExact(seal.rowCount())));
    return database.commit(statements);
  }

  private static Seal seal(Row row) {
    return new Seal(
        new Chain(row.text(0), row.truth(1)),
        row.integer(2),
        row.integer(3),
        row.integer(4),
        row.integer(5),
        row.integer(6),
        RowDigests.stored(row.bytes(7)),
        row.text(8),
        row.integer(9),
        row.integerOrNull(10));
  }
}
