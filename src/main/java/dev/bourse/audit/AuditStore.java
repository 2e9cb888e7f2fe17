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

/** SQL of the audit trail. */
public final class AuditStore {
  /** All columns but the id, which the store assigns. */
  static final String COLUMNS = "ts, org_id, actor, action, subject, detail, is_read";

  private static final String INSERT = "INSERT INTO audit (" + COLUMNS + ") ";
  private static final String ROW = "(?, ?, ?, ?, ?, ?, ?)";
  private static final String INSERT_ONE = INSERT + "VALUES " + ROW;

  /** How actors begin that are operators; the name of their token follows, which no other has. */
  private static final String OPERATOR = "operator:";

  /**
   * What follows the detail of an operator's row: the token that the operator used. It is looked up
   * in the row's own commit, so that no part of the service can leave it out.
   */
  private static final String OPERATOR_TOKEN =
      """
      COALESCE((SELECT CAST(? AS TEXT) || token_id FROM operator_token \
      WHERE name = CAST(? AS TEXT) ORDER BY created_at DESC, token_id LIMIT 1), '')\
      """;

  private static final String INSERT_OPERATORS =
      INSERT + "VALUES (?, ?, ?, ?, ?, CAST(? AS TEXT) || " + OPERATOR_TOKEN + ", 0)";

  /**
   * Rows of one INSERT: several times cheaper per row than single INSERTs, and well within bind
   * limits.
   */
  private static final int ROWS_PER_INSERT = 64;

  private static final String INSERT_MANY = INSERT_ONE + (", " + ROW).repeat(ROWS_PER_INSERT - 1);

  /**
   * Reads of one trail in one commit that make a segment: fewer take about as much room as rows,
   * and are found by their index.
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

  /** A write's row; goes into the write's own commit. */
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

  /** The parameters of {@link #OPERATOR_TOKEN}. */
  private static void addOperator(List<@Nullable Object> values, AuditRow row, boolean isFirst) {
    values.add((isFirst ? "" : " ") + "operator_token=");
    values.add(row.actor().substring(OPERATOR.length()));
  }

  /**
   * A row for each row of a query, in its order: alike but for the detail, which is selected. Goes
   * into the commit of the write it records, before that changes what the query finds.
   *
   * @param detail an SQL expression of type text
   * @param from what follows FROM, with {@code ?} placeholders
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
   * A row of the service's own for each row of a query, in the trail of the organization that the
   * query names. Goes into the commit of what it records.
   *
   * @param actor {@code system:<part>}, so that it is the organization's to read
   * @param columns what the query tells of each
   * @param from what follows FROM, with {@code ?} placeholders
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

  /** SQL expressions of type text, which tell whose a row is and what it is about. */
  public record OwnColumns(String orgId, String subject, String detail) {}

  /** The batch is stored already, by an earlier try. */
  private static final class BatchStored extends RuntimeException {
    BatchStored() {
      super("the batch is stored already", null, false, false);
    }
  }

  /**
   * Stores reads once, however often the same batch is tried: when the server is lost during a
   * commit, nobody knows whether it committed. An embedded engine cannot be lost like that and
   * needs no mark.
   *
   * @param batchId the batch's own, the same at each try
   * @param reads see {@link #encoded}
   * @param settled batches that are known to be stored, whose marks are deleted
   */
  Future<Void> insertReads(
      String batchId, List<Statement> reads, List<String> settled, long nowMillis) {
    List<Statement> statements = new ArrayList<>();
    if (database.isShared()) {
      statements.add(
          Statement.guarded(
              BatchStored::new,
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
        .recover(e -> e instanceof BatchStored ? Future.succeededFuture() : Future.failedFuture(e));
  }

  /**
   * What stores reads: rows of those trails that have few, segments of the others, and then the
   * last entry of a segment as a row: so the greatest id of all is always a row's, from which an
   * embedded engine goes on. Takes half a millisecond for a thousand, so not on an event loop.
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

  /** Forgets marks that a process left behind when it ended. */
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
