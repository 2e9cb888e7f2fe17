package dev.bourse.audit;

import dev.bourse.store.Columns;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** The SQL of the seals and of their rows. */
final class SealStore {
  /** The name of the position in the trail. Releases without segments used another name. */
  private static final String WALK = "trail";

  /** Another process has done the same work, or the rows have changed. */
  static final class DoneElsewhereException extends RuntimeException {
    private DoneElsewhereException() {
      super("these rows were sealed, purged or lost by another process", null, false, false);
    }
  }

  private static final Columns<Seal> SEAL =
      Columns.<Seal>of("audit_seal")
          .fixed("org_id", seal -> seal.chain().orgId())
          .fixed("is_read", seal -> seal.chain().isRead())
          .fixed("batch", Seal::batch)
          .fixed("first_id", Seal::firstId)
          .fixed("last_id", Seal::lastId)
          .fixed("row_count", Seal::rowCount)
          .fixed("newest_at", Seal::newestAtMillis)
          .fixed("row_digests", seal -> seal.rows().bytes())
          .fixed("seal", Seal::seal)
          .fixed("sealed_at", Seal::sealedAtMillis)
          .fixed("purged_at", Seal::purgedAtMillis);

  private static final String SELECT = "SELECT " + SEAL.names() + " FROM audit_seal ";

  /** Chains of one query; a query of many chains costs little more than a query of one. */
  private static final int CHAINS_PER_READ = 50;

  private static final String HEADS =
      String.join(
          " UNION ALL ",
          Collections.nCopies(
              CHAINS_PER_READ,
              """
              SELECT * FROM (%sWHERE org_id = ? AND is_read = ? ORDER BY batch DESC LIMIT 1) AS head\
              """
                  .formatted(SELECT)));

  private final Database database;
  private final ReadSegments segments;

  SealStore(Database database) {
    this.database = database;
    this.segments = new ReadSegments(database);
  }

  /** Returns the id up to which the rows are settled. */
  Future<Long> readSettledId() {
    return database.settledTrail(Long.MAX_VALUE);
  }

  /** Returns the id up to which every row is in a batch. */
  Future<Long> readThroughId() {
    return one("SELECT COALESCE(MAX(through_id), 0) AS id FROM audit_sealed WHERE name = ?", WALK);
  }

  private Future<Long> one(String sql, Object... parameters) {
    return database.readOne(sql, List.of(parameters), row -> row.integer("id"));
  }

  /**
   * Lists rows and segment entries of all trails between two ids, in order: all of them, or about
   * {@code enough} up to some id.
   */
  Future<ReadSegments.Listed> listRows(long afterId, long upToId, int enough) {
    Future<List<RecordedRow>> rows =
        database.read(
            RecordedRow.SELECT + "WHERE id > ? AND id <= ? ORDER BY id LIMIT ?",
            List.of(afterId, upToId, enough),
            RecordedRow::from);
    Future<ReadSegments.Listed> reads = segments.list(Optional.empty(), afterId, upToId, enough);
    return Future.all(rows, reads)
        .map(
            both -> {
              long through = reads.result().throughId();
              if (rows.result().size() == enough) {
                through = Math.min(through, rows.result().get(enough - 1).id());
              }
              return new ReadSegments.Listed(
                  merged(rows.result(), reads.result().rows(), through, Long.MAX_VALUE), through);
            });
  }

  /** Lists rows and segment entries of one chain, at most {@code limit}. */
  Future<List<RecordedRow>> listRows(Chain chain, long afterId, long upToId, long limit) {
    Future<List<RecordedRow>> rows =
        database.read(
            RecordedRow.SELECT
                + "WHERE org_id = ? AND is_read = ? AND id > ? AND id <= ? ORDER BY id LIMIT ?",
            List.of(chain.orgId(), chain.isRead(), afterId, upToId, limit),
            RecordedRow::from);
    if (!chain.isRead()) {
      return rows;
    }
    int enough = (int) Math.min(limit, Integer.MAX_VALUE);
    Future<ReadSegments.Listed> reads =
        segments.list(Optional.of(chain.orgId()), afterId, upToId, enough);
    return Future.all(rows, reads)
        .map(both -> merged(rows.result(), reads.result().rows(), upToId, limit));
  }

  private static List<RecordedRow> merged(
      List<RecordedRow> rows, List<RecordedRow> reads, long throughId, long limit) {
    return Stream.concat(rows.stream(), reads.stream())
        .filter(row -> row.id() <= throughId)
        .sorted(Comparator.comparingLong(RecordedRow::id))
        .limit(limit)
        .toList();
  }

  /** Returns the last batch of each chain that has one. */
  Future<Map<Chain, Seal.Link>> readHeads(List<Chain> chains) {
    List<Future<List<Seal>>> reads = new ArrayList<>();
    for (int from = 0; from < chains.size(); from += CHAINS_PER_READ) {
      List<Object> parameters = new ArrayList<>();
      for (int i = from; i < from + CHAINS_PER_READ; i++) {
        // The SQL text must not vary with the number of chains, so the last one is repeated.
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
   * Stores batches, the actors of their reads, and the new seal position. Fails with {@link
   * DoneElsewhereException} if another process has sealed in the meantime, or if the table has
   * fewer rows than were read, because another primary was promoted that may lack some.
   *
   * @param taken the rows of the batches
   */
  Future<Void> seal(List<Seal> seals, BatchBuilder taken) {
    List<Statement> statements = new ArrayList<>(seals.size() + 2);
    statements.add(
        Statement.of(
            "INSERT INTO audit_sealed (name, through_id) VALUES (?, 0) ON CONFLICT DO NOTHING",
            WALK));
    statements.add(
        Statement.guarded(
            DoneElsewhereException::new,
            """
            UPDATE audit_sealed SET through_id = ? WHERE name = ? AND through_id = ? \
            AND (SELECT COUNT(*) FROM audit WHERE id > ? AND id <= ?) = ?\
            """,
            taken.throughId(),
            WALK,
            taken.fromId(),
            taken.fromId(),
            taken.throughId(),
            taken.tableRows()));
    seals.forEach(seal -> statements.add(SEAL.insert(seal)));
    statements.addAll(ReadActors.insert(taken.readers()));
    return database.commit(statements);
  }

  /** The declared size of a batch. */
  record Size(long batch, long rows) {}

  /** Lists the sizes of a chain's batches after one; purged ones have no rows. */
  Future<List<Size>> listSizes(Chain chain, long afterBatch, int limit) {
    return database.read(
        """
        SELECT batch, CASE WHEN purged_at IS NULL THEN row_count ELSE 0 END AS row_count \
        FROM audit_seal WHERE org_id = ? AND is_read = ? AND batch > ? ORDER BY batch LIMIT ?\
        """,
        List.of(chain.orgId(), chain.isRead(), afterBatch, limit),
        row -> new Size(row.integer("batch"), row.integer("row_count")));
  }

  /** Lists a chain's batches from one to another, inclusive. */
  Future<List<Seal>> listSeals(Chain chain, long fromBatch, long toBatch) {
    return database.read(
        SELECT + "WHERE org_id = ? AND is_read = ? AND batch >= ? AND batch <= ? ORDER BY batch",
        List.of(chain.orgId(), chain.isRead(), fromBatch, toBatch),
        SealStore::seal);
  }

  /** Returns the last batch of a chain. */
  Future<Optional<Seal>> findHead(Chain chain) {
    return database.readFirst(
        SELECT + "WHERE org_id = ? AND is_read = ? ORDER BY batch DESC LIMIT 1",
        List.of(chain.orgId(), chain.isRead()),
        SealStore::seal);
  }

  /** Returns the last purged batch of a chain, 0 if there is none. Batches are purged in order. */
  Future<Long> readLastPurged(Chain chain) {
    return one(
        """
        SELECT COALESCE(MAX(batch), 0) AS id FROM audit_seal
        WHERE org_id = ? AND is_read = ? AND purged_at IS NOT NULL\
        """,
        chain.orgId(),
        chain.isRead());
  }

  /**
   * Lists batches that are old enough to be purged and the first kept ones of their chains, oldest
   * first. It excludes the batch with the newest row of all, because SQLite would reuse that row's
   * id.
   *
   * @param newestBefore all rows of a batch must be older than this
   */
  Future<List<Seal>> listPurgeable(boolean isRead, long newestBefore, int limit) {
    return database.read(
        SELECT
            + """
            WHERE is_read = ? AND purged_at IS NULL AND newest_at < ? \
            AND last_id < (SELECT MAX(id) FROM audit) \
            AND NOT EXISTS (SELECT 1 FROM audit_seal AS earlier \
            WHERE earlier.org_id = audit_seal.org_id AND earlier.is_read = audit_seal.is_read \
            AND earlier.batch = audit_seal.batch - 1 AND earlier.purged_at IS NULL) \
            ORDER BY newest_at, org_id, batch LIMIT ?\
            """,
        List.of(isRead, newestBefore, limit),
        SealStore::seal);
  }

  /**
   * Deletes the rows of a batch and records the purge. Fails with {@link DoneElsewhereException} if
   * another process has done so, and with another exception if the number of rows differs from the
   * seal.
   */
  Future<Void> purge(Seal seal, long nowMillis) {
    Chain chain = seal.chain();
    RuntimeException unlike = new IllegalStateException("the number of rows differs from the seal");
    return (chain.isRead()
            ? segments.remove(chain.orgId(), seal.firstId(), seal.lastId(), unlike)
            : Future.succeededFuture(new ReadSegments.Removal(List.of(), 0)))
        .compose(reads -> database.commit(purging(seal, nowMillis, reads, unlike)));
  }

  private static List<Statement> purging(
      Seal seal, long nowMillis, ReadSegments.Removal reads, RuntimeException unlike) {
    Chain chain = seal.chain();
    List<Statement> statements = new ArrayList<>(2 + reads.statements().size());
    statements.add(
        Statement.guarded(
            DoneElsewhereException::new,
            """
            UPDATE audit_seal SET purged_at = ?, row_digests = ? \
            WHERE org_id = ? AND is_read = ? AND batch = ? AND purged_at IS NULL\
            """,
            nowMillis,
            seal.rows().withoutRows().bytes(),
            chain.orgId(),
            chain.isRead(),
            seal.batch()));
    statements.add(
        Statement.of(
                "DELETE FROM audit WHERE org_id = ? AND is_read = ? AND id >= ? AND id <= ?",
                chain.orgId(),
                chain.isRead(),
                seal.firstId(),
                seal.lastId())
            .demanding(Math.toIntExact(seal.rowCount() - reads.entries()), () -> unlike));
    statements.addAll(reads.statements());
    if (chain.isRead()) {
      // Batches are purged in order, so no reads of the trail remain below.
      statements.add(ReadActors.forget(chain.orgId(), seal.lastId()));
    }
    return statements;
  }

  private static Seal seal(Row row) {
    return new Seal(
        new Chain(row.text("org_id"), row.truth("is_read")),
        row.integer("batch"),
        row.integer("first_id"),
        row.integer("last_id"),
        row.integer("row_count"),
        row.integer("newest_at"),
        RowDigests.stored(row.bytes("row_digests")),
        row.text("seal"),
        row.integer("sealed_at"),
        row.integerOrNull("purged_at"));
  }
}
