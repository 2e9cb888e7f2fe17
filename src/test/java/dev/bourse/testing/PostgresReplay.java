package dev.bourse.testing;

import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.RowMapper;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreUnavailableException;
import dev.bourse.store.postgres.PostgresDatabase;
import io.vertx.core.Future;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Replays the statements of services on PostgreSQL and compares it with the embedded store: each
 * commit must have the same outcome, because its guards count the same rows; all tables must hold
 * the same rows; and the last query of each text must have the same result, with no two rows of it
 * in an order that is left to the engine. So a test of a feature on the embedded store holds for
 * both engines. Rules that depend on locks, on several processes or on lost connections need the
 * engine itself, see {@link EachEngine}.
 */
final class PostgresReplay {
  /** Statements on their way at once: the engine groups commits, and its queue is bounded. */
  private static final int WINDOW_STATEMENTS = 1_000;

  /** Rows shown of a table that differs. */
  private static final int SHOWN = 20;

  /** The columns whose values a sequence gives, and their sequences. */
  private static final String SEQUENCES =
      """
      SELECT table_name, column_name, pg_get_serial_sequence(table_name, column_name) AS sequence
      FROM information_schema.columns
      WHERE table_schema = 'public' AND is_identity = 'YES'\
      """;

  private static final String EMBEDDED_TABLES =
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'";

  private static final String POSTGRES_TABLES =
      "SELECT tablename FROM pg_tables WHERE schemaname = 'public'";

  /** Tables of an engine's own. */
  private static final Set<String> OWN = Set.of("migration", "commit_log");

  /** A column in an ORDER BY. */
  private static final Pattern ORDERED =
      Pattern.compile("(?:[a-z_]+\\.)?([a-z_]\\w*)(?: ASC| DESC)?");

  /** The store on PostgreSQL of this process, emptied for each replay: a new one takes a second. */
  private static @Nullable Target target;

  private final StatementRecord record;
  private final Database postgres;
  private final Connection session;
  private final Map<String, String> resets;
  private final List<String> differences = new ArrayList<>();

  private PostgresReplay(StatementRecord record, Target target) {
    this.record = record;
    this.postgres = target.store;
    this.session = target.session;
    this.resets = target.resets;
  }

  /**
   * Returns how a store on PostgreSQL differs from the embedded one in a folder once the record's
   * commits are replayed, and the faults of the statements' plans there; empty for a match.
   */
  static synchronized List<String> differences(StatementRecord record, Path data)
      throws SQLException {
    Target open = target;
    if (open == null) {
      open = new Target();
      target = open;
    }
    open.empty();
    PostgresReplay replay = new PostgresReplay(record, open);
    replay.run(data.resolve("bourse.db"));
    return replay.differences;
  }

  /** Closes the store of this process, if it has one. */
  static synchronized void close() throws SQLException {
    if (target != null) {
      target.session.close();
      RunningBourse.await(target.store.close());
      target = null;
    }
  }

  private void run(Path file) throws SQLException {
    if (!replayCommits()) {
      return;
    }
    try (Connection embedded = DriverManager.getConnection("jdbc:sqlite:" + file)) {
      compareTables(embedded);
    }
    if (differences.isEmpty()) {
      compareQueries(file);
    }
    Set<String> texts = new HashSet<>();
    record.texts().forEach(sql -> texts.add(forPostgres(sql)));
    differences.addAll(
        StatementPlans.faultsOnPostgres(session, StatementPlans.unexplained(texts, "postgres")));
  }

  /** Returns false at the first stored commit that PostgreSQL refuses. */
  private boolean replayCommits() throws SQLException {
    List<StatementRecord.Commit> waiting = new ArrayList<>();
    int waitingStatements = 0;
    for (StatementRecord.Commit commit : record.commits()) {
      Throwable refusal = commit.outcome().cause();
      if (refusal instanceof StoreUnavailableException away) {
        if (away.mayBeStored()) {
          throw new AssertionError("whether a commit is stored is not known", away);
        }
        continue;
      }
      boolean isAlone = refusal != null || mayBurnIds(commit);
      waitingStatements += commit.statements().size();
      if (isAlone || waitingStatements > WINDOW_STATEMENTS) {
        if (!replayStored(waiting)) {
          return false;
        }
        waitingStatements = 0;
      }
      if (refusal != null) {
        replayRefused(commit, refusal);
      } else {
        waiting.add(commit);
      }
      if (isAlone) {
        if (!replayStored(waiting)) {
          return false;
        }
        resetSequences(session, resets);
      }
    }
    return replayStored(waiting);
  }

  /**
   * Returns whether a commit takes ids from a sequence for rows that it may not insert: the
   * embedded engine gives such ids again, and so does the replay.
   */
  private boolean mayBurnIds(StatementRecord.Commit commit) {
    return commit.statements().stream()
        .anyMatch(
            statement ->
                statement.sql().contains("ON CONFLICT")
                    && resets.keySet().stream()
                        .anyMatch(table -> statement.sql().contains("INTO " + table + " ")));
  }

  private static void resetSequences(Connection session, Map<String, String> resets)
      throws SQLException {
    try (var statement = session.createStatement()) {
      for (String reset : resets.values()) {
        statement.execute(reset);
      }
    }
  }

  /** Replays commits that were stored, and forgets them; false if one is refused. */
  private boolean replayStored(List<StatementRecord.Commit> commits) {
    List<Future<Void>> outcomes =
        commits.stream().map(commit -> postgres.commit(statements(commit))).toList();
    for (int i = 0; i < outcomes.size(); i++) {
      Future<Void> outcome = settled(outcomes.get(i));
      if (outcome.failed()) {
        differ("stored, and on PostgreSQL " + outcome.cause(), commits.get(i));
        return false;
      }
    }
    commits.clear();
    return true;
  }

  private void replayRefused(StatementRecord.Commit commit, Throwable refusal) {
    Future<Void> outcome = settled(postgres.commit(statements(commit)));
    if (outcome.succeeded()) {
      differ("stored on PostgreSQL, and refused with " + refusal, commit);
    } else if (!(refusal instanceof SQLException)
        && outcome.cause().getClass() != refusal.getClass()) {
      differ(refusal + ", and on PostgreSQL " + outcome.cause(), commit);
    }
  }

  private void differ(String how, StatementRecord.Commit commit) {
    StringBuilder text = new StringBuilder(how);
    commit
        .statements()
        .forEach(
            statement ->
                text.append("\n  ").append(statement.sql()).append(statement.parameters()));
    differences.add(text.toString());
  }

  private List<Statement> statements(StatementRecord.Commit commit) {
    return commit.statements().stream()
        .map(
            statement ->
                new Statement(
                    forPostgres(statement.sql()),
                    statement.parameters(),
                    statement.refusal(),
                    statement.demandedRows(),
                    statement.appends()))
        .toList();
  }

  /** Replaces the expressions that each engine has its own for. */
  private String forPostgres(String sql) {
    return sql.replace(record.trailIdsSql(), postgres.newTrailIdsSql())
        .replace(record.clockSql(), postgres.clockSql());
  }

  private static <T> Future<T> settled(Future<T> future) {
    return RunningBourse.await(future.transform(end -> Future.succeededFuture(future)));
  }

  private void compareTables(Connection embedded) throws SQLException {
    Set<String> tables = tables(embedded, EMBEDDED_TABLES);
    Set<String> others = tables(session, POSTGRES_TABLES);
    if (!tables.equals(others)) {
      differences.add("tables " + tables + ", and on PostgreSQL " + others);
      return;
    }
    for (String table : tables) {
      List<String> rows = rows(embedded, table);
      List<String> otherRows = rows(session, table);
      if (!rows.equals(otherRows)) {
        List<String> only = new ArrayList<>(rows);
        only.removeAll(otherRows);
        otherRows.removeAll(rows);
        differences.add(
            table + ": only embedded " + first(only) + ", only on PostgreSQL " + first(otherRows));
      }
    }
  }

  private static Set<String> tables(Connection store, String sql) throws SQLException {
    Set<String> names = new TreeSet<>();
    try (var statement = store.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      while (rows.next()) {
        names.add(rows.getString(1));
      }
    }
    names.removeAll(OWN);
    return names;
  }

  private static List<String> rows(Connection store, String table) throws SQLException {
    List<String> texts = new ArrayList<>();
    try (var statement = store.createStatement();
        ResultSet rows = statement.executeQuery("SELECT * FROM \"" + table + '"')) {
      ResultSetMetaData columns = rows.getMetaData();
      while (rows.next()) {
        // By name, because added columns stand in another order in each engine.
        TreeMap<String, String> row = new TreeMap<>();
        for (int i = 1; i <= columns.getColumnCount(); i++) {
          row.put(columns.getColumnName(i), text(rows.getObject(i)));
        }
        texts.add(row.toString());
      }
    }
    Collections.sort(texts);
    return texts;
  }

  private static String text(@Nullable Object value) {
    return value instanceof byte[] bytes ? Arrays.toString(bytes) : String.valueOf(value);
  }

  private void compareQueries(Path file) {
    Database sqlite =
        RunningBourse.await(
            TestStore.openEmbedded(SharedPostgres.vertx(), file, Clock.systemUTC()));
    try {
      for (StatementRecord.Query<?> query : record.queries()) {
        List<String> rows = read(query, query.sql(), sqlite);
        List<String> others = read(query, forPostgres(query.sql()), postgres);
        if (!rows.equals(others)) {
          differences.add(
              query.sql() + query.parameters() + ": " + rows + ", and on PostgreSQL " + others);
        }
        if (rows.size() > 1 && isOrdered(query.sql())) {
          ties(query, sqlite).stream()
              .limit(1)
              .map(tie -> query.sql() + query.parameters() + ": no order between " + tie)
              .forEach(differences::add);
        }
      }
    } finally {
      RunningBourse.await(sqlite.close());
    }
  }

  /**
   * Returns what a query's own mapper reads of each row, sorted if the query does not order them.
   */
  private static List<String> read(StatementRecord.Query<?> query, String sql, Database store) {
    List<String> rows = new ArrayList<>();
    Future<?> read =
        settled(
            store.read(
                sql,
                query.parameters(),
                row -> {
                  ReadColumns columns = new ReadColumns(row);
                  query.mapper().map(columns);
                  rows.add(columns.toString());
                  return rows;
                }));
    if (read.failed()) {
      return List.of(read.cause().getClass().getSimpleName());
    }
    if (!isOrdered(sql)) {
      Collections.sort(rows);
    }
    return rows;
  }

  /** Returns whether an ORDER BY follows the last subquery, so that it is the query's own. */
  private static boolean isOrdered(String sql) {
    return sql.lastIndexOf("ORDER BY") > sql.lastIndexOf(')');
  }

  /**
   * Returns pairs of rows that have the same values in all columns by which a query orders them, so
   * that each engine, and each plan, may give another of the two first. Times do not count: two
   * rows have the same time in one run of a test and not in the next. A query that does not return
   * the columns, or is ordered by anything else, has none here.
   */
  private static <T> List<String> ties(StatementRecord.Query<T> query, Database store) {
    String order = query.sql().substring(query.sql().lastIndexOf("ORDER BY"));
    String[] terms =
        order
            .replaceAll("\\s+", " ")
            .replaceAll("^ORDER BY | (LIMIT|OFFSET) .*", "")
            .strip()
            .split(", ?", -1);
    List<String> columns = new ArrayList<>();
    for (String term : terms) {
      Matcher column = ORDERED.matcher(term);
      if (!column.matches()) {
        return List.of();
      }
      if (!column.group(1).endsWith("_at")) {
        columns.add(column.group(1));
      }
    }
    Map<List<String>, String> rows = new HashMap<>();
    List<String> ties = new ArrayList<>();
    RowMapper<T> look =
        row -> {
          List<String> place =
              columns.stream().map(column -> text(row.textOrNull(column))).toList();
          ReadColumns read = new ReadColumns(row);
          T mapped = query.mapper().map(read);
          String other = rows.put(place, read.toString());
          if (other != null && !other.equals(read.toString())) {
            ties.add(other + " and " + read);
          }
          return mapped;
        };
    // It fails where a column is not returned.
    return settled(store.read(query.sql(), query.parameters(), look)).succeeded()
        ? ties
        : List.of();
  }

  private static String first(List<String> rows) {
    return rows.size() + " rows " + rows.subList(0, Math.min(rows.size(), SHOWN));
  }

  /** A store on PostgreSQL that can be made what it was when it was new. */
  private static final class Target {
    final PostgresDatabase store;
    final Connection session;

    /** Statements that set each sequence behind the greatest id there is, by their table. */
    final Map<String, String> resets = new HashMap<>();

    private final Set<String> tables;

    Target() throws SQLException {
      String url = SharedPostgres.server().newStore();
      store =
          RunningBourse.await(
              SharedPostgres.openStore(SharedPostgres.vertx(), url, Clock.systemUTC()));
      session = StatementPlans.connect(url);
      tables = tables(session, POSTGRES_TABLES);
      try (var statement = session.createStatement()) {
        try (ResultSet rows = statement.executeQuery(SEQUENCES)) {
          while (rows.next()) {
            resets.put(
                rows.getString("table_name"),
                "SELECT setval('%s', COALESCE(MAX(%s), 0) + 1, false) FROM %s"
                    .formatted(
                        rows.getString("sequence"),
                        rows.getString("column_name"),
                        rows.getString("table_name")));
          }
        }
        // Tables refer to each other, and some in circles.
        statement.execute("SET session_replication_role = replica");
        statement.execute("CREATE SCHEMA original");
        for (String table : tables) {
          statement.execute("CREATE TABLE original.%1$s AS TABLE public.%1$s".formatted(table));
        }
      }
    }

    void empty() throws SQLException {
      try (var statement = session.createStatement()) {
        for (String table : tables) {
          statement.execute(
              "DELETE FROM public.%1$s; INSERT INTO public.%1$s TABLE original.%1$s"
                  .formatted(table));
        }
      }
      resetSequences(session, resets);
    }
  }

  /** A row that remembers what was read of it. */
  private static final class ReadColumns implements Row {
    private final Row row;
    private final Map<String, String> read = new TreeMap<>();

    ReadColumns(Row row) {
      this.row = row;
    }

    @Override
    public @Nullable String textOrNull(String column) {
      String value = row.textOrNull(column);
      read.put(column, PostgresReplay.text(value));
      return value;
    }

    @Override
    public @Nullable Long integerOrNull(String column) {
      Long value = row.integerOrNull(column);
      read.put(column, PostgresReplay.text(value));
      return value;
    }

    @Override
    public byte @Nullable [] bytesOrNull(String column) {
      byte[] value = row.bytesOrNull(column);
      read.put(column, PostgresReplay.text(value));
      return value;
    }

    @Override
    public String toString() {
      return read.toString();
    }
  }
}
