package dev.bourse.audit;

import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The SQL of the audit trail. */
public final class AuditStore {
  static final String COLUMNS = "ts, org_id, actor, action, subject, detail, is_read";

  private static final String INSERT = "INSERT INTO audit (" + COLUMNS + ") ";
  private static final String ROW = "(?, ?, ?, ?, ?, ?, ?)";
  private static final String INSERT_ONE = INSERT + "VALUES " + ROW;

  /** The prefix of operators' actor names; the rest is the name of their token, which is unique. */
  private static final String OPERATOR = "operator:";

  /**
   * Appended to the detail of an operator's row: the token that the operator used. It is looked up
   * in the row's own commit, so that no part of the service can omit it.
   */
  private static final String OPERATOR_TOKEN =
      """
      COALESCE((SELECT CAST(? AS TEXT) || token_id FROM operator_token \
      WHERE name = CAST(? AS TEXT) ORDER BY created_at DESC, token_id LIMIT 1), '')\
      """;

  private static final String INSERT_OPERATORS =
      INSERT + "VALUES (?, ?, ?, ?, ?, CAST(? AS TEXT) || " + OPERATOR_TOKEN + ", 0)";

  /**
   * Rows per INSERT: several times cheaper per row than single INSERTs, and well within the limits
   * of bind parameters.
   */
  private static final int ROWS_PER_INSERT = 64;

  private static final String INSERT_MANY = INSERT_ONE + (", " + ROW).repeat(ROWS_PER_INSERT - 1);

  /**
   * The fewest reads of one trail in one commit that make a segment. Fewer take about as much space
   * as rows, and rows are indexed.
   */
  private static final int FEWEST_OF_SEGMENT = 4;

  private final Database database;
  private final ReadSegments segments;
  private final String insertWithNewId;

  public AuditStore(Database database) {
    this.database = database;
    this.segments = new ReadSegments(database);
    this.insertWithNewId =
        """
        INSERT INTO audit (id, %s) SELECT ids.first_id, CAST(? AS BIGINT), CAST(? AS TEXT), \
        CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), 1 FROM (%s) AS ids\
        """
            .formatted(COLUMNS, database.newTrailIdsSql());
  }

  /** Returns a statement that inserts the row of a write; it belongs in the write's own commit. */
  public static Statement insert(AuditRow row) {
    if (!isOperators(row)) {
      return inserting(INSERT_ONE, List.of(row), 0).appending().recording(row.actor());
    }
    List<@Nullable Object> values = new ArrayList<>(8);
    addAllButDetail(values, row);
    values.add(row.detail());
    addOperator(values, row, row.detail().isEmpty());
    return new Statement(INSERT_OPERATORS, values, null, 0).recording(row.actor());
  }

  private static boolean isOperators(AuditRow row) {
    return row.actor().startsWith(OPERATOR);
  }

  /** Adds the parameters of {@link #OPERATOR_TOKEN}. */
  private static void addOperator(List<@Nullable Object> values, AuditRow row, boolean isFirst) {
    values.add((isFirst ? "" : " ") + "operator_token=");
    values.add(row.actor().substring(OPERATOR.length()));
  }

  /**
   * Returns a statement that writes one audit row per row of a query, in its order. The rows differ
   * only in the detail, which the query selects. Put it into the commit of the write it records,
   * before any statement that changes the query's result.
   *
   * @param detail an SQL expression of type text
   * @param from the part after FROM, with {@code ?} placeholders
   */
  public static Statement insertEach(
      AuditRow row, String detail, String from, Object... parameters) {
    List<@Nullable Object> values = new ArrayList<>(7 + parameters.length);
    addAllButDetail(values, row);
    if (isOperators(row)) {
      addOperator(values, row, false);
    }
    Collections.addAll(values, parameters);
    return new Statement(
            """
        %sSELECT CAST(? AS BIGINT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), \
        CAST(? AS TEXT), %s%s, 0 FROM %s\
        """
                .formatted(INSERT, detail, isOperators(row) ? " || " + OPERATOR_TOKEN : "", from),
            values,
            null,
            0)
        .recording(row.actor());
  }

  /**
   * Returns a statement that writes one audit row of a system actor per row of a query, in the
   * trail of the organization that the query selects. Put it into the commit of the recorded
   * action.
   *
   * @param actor {@code system:<part>}, so that the row belongs to the organization's trail
   * @param columns the query's expressions for each row
   * @param from the part after FROM, with {@code ?} placeholders
   */
  public static Statement insertOfSystem(
      long atMillis,
      String actor,
      String action,
      OwnColumns columns,
      String from,
      Object... parameters) {
    List<@Nullable Object> values = new ArrayList<>(3 + parameters.length);
    Collections.addAll(values, atMillis, actor, action);
    Collections.addAll(values, parameters);
    return new Statement(
        """
        %sSELECT CAST(? AS BIGINT), %s, CAST(? AS TEXT), CAST(? AS TEXT), %s, %s, 0 FROM %s\
        """
            .formatted(INSERT, columns.orgId(), columns.subject(), columns.detail(), from),
        values,
        null,
        0);
  }

  /** SQL expressions of type text for the organization, the subject and the detail of a row. */
  public record OwnColumns(String orgId, String subject, String detail) {}

  /** An earlier attempt has stored the batch. */
  private static final class BatchStoredException extends RuntimeException {
    BatchStoredException() {
      super("the batch is already stored", null, false, false);
    }
  }

  /**
   * Stores reads once, however often the batch is retried: if the server is lost during a commit,
   * the outcome is unknown. An embedded engine cannot be lost in this way, so it needs no mark.
   *
   * @param batchId the batch's id, the same for each attempt
   * @param reads the result of {@link #encoded}
   * @param settled stored batches whose marks are deleted
   */
  Future<Void> insertReads(
      String batchId, List<Statement> reads, List<String> settled, long nowMillis) {
    List<Statement> statements = new ArrayList<>();
    if (database.isShared()) {
      statements.add(
          Statement.guarded(
              BatchStoredException::new,
              """
              INSERT INTO audit_read_batch (batch_id, made_at) VALUES (?, ?) \
              ON CONFLICT DO NOTHING\
              """,
              batchId,
              nowMillis));
      for (String known : settled) {
        statements.add(Statement.of("DELETE FROM audit_read_batch WHERE batch_id = ?", known));
      }
    }
    statements.addAll(reads);
    return database
        .commit(statements)
        .recover(
            e ->
                e instanceof BatchStoredException
                    ? Future.succeededFuture()
                    : Future.failedFuture(e));
  }

  /**
   * Returns the statements that store reads: rows for trails with few reads, segments for the
   * others. The last entry of a segment is a row, so that the largest id always belongs to a row,
   * from which an embedded engine continues. Takes half a millisecond per thousand rows, so do not
   * call it on an event loop.
   */
  List<Statement> encoded(List<AuditRow> rows) {
    List<Statement> statements = new ArrayList<>();
    Map<String, List<AuditRow>> trails = new LinkedHashMap<>();
    for (AuditRow row : rows) {
      trails.computeIfAbsent(Trails.owner(row), owner -> new ArrayList<>()).add(row);
    }
    List<AuditRow> few =
        rows.stream()
            .filter(row -> isFew(trails.getOrDefault(Trails.owner(row), List.of())))
            .toList();
    int at = 0;
    for (; at + ROWS_PER_INSERT <= few.size(); at += ROWS_PER_INSERT) {
      statements.add(inserting(INSERT_MANY, few.subList(at, at + ROWS_PER_INSERT), 1));
    }
    for (; at < few.size(); at++) {
      statements.add(inserting(INSERT_ONE, few.subList(at, at + 1), 1));
    }
    trails.values().removeIf(AuditStore::isFew);
    AuditRow last = null;
    for (Iterator<Map.Entry<String, List<AuditRow>>> it = trails.entrySet().iterator();
        it.hasNext(); ) {
      Map.Entry<String, List<AuditRow>> trail = it.next();
      List<AuditRow> reads = trail.getValue();
      if (!it.hasNext()) {
        last = reads.get(reads.size() - 1);
        reads = reads.subList(0, reads.size() - 1);
      }
      statements.add(segments.insert(trail.getKey(), reads));
    }
    if (last != null) {
      List<@Nullable Object> values = new ArrayList<>();
      addAllButDetail(values, last);
      values.add(last.detail());
      values.add(1);
      statements.add(new Statement(insertWithNewId, values, null, 0));
    }
    return statements;
  }

  private static boolean isFew(List<AuditRow> reads) {
    return reads.size() < FEWEST_OF_SEGMENT;
  }

  /** Deletes marks of processes that ended. */
  Future<Void> forgetBatches(long untilMillis) {
    return database.commit(
        List.of(Statement.of("DELETE FROM audit_read_batch WHERE made_at <= ?", untilMillis)));
  }

  private static Statement inserting(String sql, List<AuditRow> rows, int isRead) {
    List<@Nullable Object> values = new ArrayList<>(rows.size() * 7);
    for (AuditRow row : rows) {
      addAllButDetail(values, row);
      values.add(row.detail());
      values.add(isRead);
    }
    return new Statement(sql, values, null, 0);
  }

  private static void addAllButDetail(List<@Nullable Object> values, AuditRow row) {
    Collections.addAll(
        values, row.atMillis(), Trails.owner(row), row.actor(), row.action(), row.subject());
  }
}
