package dev.bourse.testing;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Has an engine explain the statements that services ran: none may read the whole of a table that
 * grows with use. Each text is explained once a run of tests on each engine.
 */
public final class StatementPlans {
  /** Their rows are bounded by what operators set up, or by the program. */
  private static final Set<String> SMALL =
      Set.of(
          "pool",
          "switch",
          "lease",
          "signing_key",
          "service_secret",
          "encrypted_secret",
          "mail_scan",
          "outbox_mail",
          "operator_token",
          "audit_sealed",
          "probe",
          "scrub_claim",
          "scrub_folder",
          "upkeep_process",
          "blob_move",
          "webhook_change",
          "webhook_lease",
          "migration");

  /** Beginnings of statements that read a table whole, and why they may. */
  private static final Map<String, String> WHOLE =
      Map.ofEntries(
          Map.entry("SELECT name, revision FROM cluster", "what is in memory, at the start"),
          Map.entry("SELECT c.name, c.org_id, c.pool", "what is in memory, at the start"),
          Map.entry(
              "SELECT org_id, display, kind, ssh_keys_need_write FROM org",
              "what is in memory, at the start"),
          Map.entry("SELECT org_id AS found FROM org", "what is seeded, at the start"),
          Map.entry("SELECT name AS found FROM cluster", "what is seeded, at the start"),
          Map.entry("SELECT org_id || '/' || name AS found FROM token", "what is seeded"),
          Map.entry("SELECT pool, node_id, public_ip FROM node", "what is seeded, at the start"),
          Map.entry("SELECT node_id, pool, public_ip, ssh_port", "what is seeded, at the start"),
          Map.entry("SELECT m.org_id, m.username", "what is in memory"),
          Map.entry("SELECT token_id, org_id, name, secret_sha256", "what is in memory"),
          Map.entry("SELECT key_id, org_id, name, public_key", "what is in memory"),
          Map.entry("SELECT (SELECT COUNT(*) FROM ledger_tran", "an operator checks the ledger"),
          Map.entry("SELECT t.id FROM ledger_transaction t", "an operator checks the ledger"),
          Map.entry("SELECT a.account, a.micros, CAST(COAL", "an operator checks the ledger"),
          Map.entry("SELECT c.name FROM cluster c WHERE c.org_id IN", "few organizations retire"),
          Map.entry("SELECT s.org_id, s.next_try_at", "a row an organization, at its own pace"),
          Map.entry("SELECT s.org_id, s.stream_id", "a row an organization, once a minute"),
          Map.entry("UPDATE billing_posted SET through = ? WHERE through >", "what was set aside"),
          Map.entry("DELETE FROM billing_posted WHERE name <>", "what was set aside, all of it"),
          Map.entry("SELECT COALESCE(MIN(through), 0) AS posted", "what was set aside, hourly"),
          Map.entry("SELECT (SELECT COUNT(*) FROM checkpoint_revision", "what is checked, rarely"),
          Map.entry("SELECT COUNT(*) AS n FROM scrub_fault", "what is lost, once a minute"),
          Map.entry("DELETE FROM blob_move_fault WHERE NOT", "all of it, when a move is asked for"),
          Map.entry("SELECT n.pool, CASE WHEN", "every machine, when an operator looks"),
          Map.entry(
              "SELECT CAST(COALESCE(SUM(month_micros)",
              "a row an organization, when an operator looks"),
          Map.entry("DELETE FROM scrub_fault AS s WHERE", "what is lost, once a minute"),
          Map.entry("DELETE FROM scrub_absence WHERE seen_at", "what waits for others, hourly"),
          Map.entry("WITH clock (now, latest)", "after a start, and after a step back of a clock"),
          Map.entry("SELECT org_id, username, created_at FROM member", "as the one before"),
          Map.entry("SELECT COUNT(*) AS ahead FROM (SELECT 1 FROM ceiling_point", "likewise"),
          Map.entry(
              "INSERT INTO ceiling_point (cluster, ts, ceiling_cents, priced_at) SELECT",
              "likewise"),
          Map.entry("DELETE FROM ceiling_point WHERE ts >", "likewise"),
          Map.entry("SELECT org_id, username FROM mail_choice", "five rows a member, hourly"),
          Map.entry("DELETE FROM oauth_client WHERE client_id IN", "20,000 rows at most"),
          Map.entry("DELETE FROM oauth_device WHERE device_sha256 IN", "20,000 rows at most"));

  private static final Pattern TABLE =
      Pattern.compile(
          "\\b(?:FROM|JOIN|UPDATE|INTO)\\s+([a-z_]+)(?:\\s+(?:AS\\s+)?([a-z_]+))?",
          Pattern.CASE_INSENSITIVE);

  private static final Pattern SQLITE_SCAN =
      Pattern.compile("SCAN ([a-z_]+)(?: USING (?:COVERING )?INDEX ([a-z0-9_]+))?.*");

  /** A name that stands for rows found before, not for a table. */
  private static final Pattern SQLITE_DERIVED =
      Pattern.compile("(?:MATERIALIZE|CO-ROUTINE) ([a-z_]+)");

  /** The texts that each engine has explained in this run. */
  private static final Map<String, Set<String>> EXPLAINED = new ConcurrentHashMap<>();

  private StatementPlans() {}

  /** Returns the faults of statements, each explained once a run by the engine that ran it. */
  static List<String> faults(Set<String> texts, String url, Path data) throws SQLException {
    Set<String> fresh = unexplained(texts, url.equals("sqlite") ? "sqlite" : "postgres");
    if (fresh.isEmpty()) {
      return List.of();
    }
    if (url.equals("sqlite")) {
      try (Connection store =
          DriverManager.getConnection("jdbc:sqlite:" + data.resolve("bourse.db"))) {
        return faultsOnSqlite(store, fresh);
      }
    }
    try (Connection store = connect(url)) {
      return faultsOnPostgres(store, fresh);
    } catch (SQLException away) {
      // Some tests stop their server; other tests explain what they ran.
      if (!"08001".equals(away.getSQLState())) {
        throw away;
      }
      EXPLAINED.remove("postgres");
      return List.of();
    }
  }

  /** Returns the texts that an engine has not explained in this run, and notes them. */
  static Set<String> unexplained(Set<String> texts, String engine) {
    Set<String> explained =
        EXPLAINED.computeIfAbsent(engine, unknown -> ConcurrentHashMap.newKeySet());
    Set<String> fresh = new HashSet<>();
    // Text blocks have line breaks where the reasons above have blanks.
    texts.forEach(sql -> fresh.add(sql.replaceAll("\\s+", " ")));
    fresh.removeIf(sql -> !explained.add(sql));
    return fresh;
  }

  /** A session that takes statements with placeholders nobody fills. */
  public static Connection connect(String url) throws SQLException {
    return DriverManager.getConnection(
        url.replaceFirst(
            "postgres://([^@]*)@(.*)", "jdbc:postgresql://$2?user=$1&preferQueryMode=simple"));
  }

  public static List<String> faultsOnSqlite(Connection store, Set<String> statements)
      throws SQLException {
    Set<String> tables = names(store, "SELECT name FROM sqlite_schema WHERE type = 'table'");
    Set<String> partial =
        names(
            store, "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql LIKE '% WHERE %'");
    List<String> faults = new ArrayList<>();
    for (String sql : statements) {
      Map<String, String> aliases = aliases(sql);
      aliases.values().retainAll(tables);
      try (PreparedStatement explain = store.prepareStatement("EXPLAIN QUERY PLAN " + sql);
          ResultSet rows = explain.executeQuery()) {
        while (rows.next()) {
          String detail = rows.getString("detail");
          Matcher derived = SQLITE_DERIVED.matcher(detail);
          if (derived.matches()) {
            aliases.remove(derived.group(1));
          }
          Matcher scan = SQLITE_SCAN.matcher(detail);
          if (scan.matches()
              && aliases.containsKey(scan.group(1))
              && !partial.contains(String.valueOf(scan.group(2)))
              && !(scan.group(2) != null && isCutOff(sql))) {
            add(faults, sql, aliases.get(scan.group(1)), detail);
          }
        }
      }
    }
    return faults;
  }

  private static Set<String> names(Connection store, String sql) throws SQLException {
    Set<String> names = new HashSet<>();
    try (var statement = store.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      while (rows.next()) {
        names.add(rows.getString(1));
      }
    }
    return names;
  }

  /** Rows that come in the order of an index are read until there are enough. */
  private static boolean isCutOff(String sql) {
    return sql.contains(" LIMIT ");
  }

  /**
   * Which plan is the cheapest depends on what PostgreSQL knows of the tables, and when it looks at
   * them is its own affair: for as long as it explains, it has never looked at any.
   */
  private static final String KNOWS_NOTHING =
      """
      UPDATE pg_class SET relpages = 0, reltuples = -1, relallvisible = 0
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i');
      DELETE FROM pg_statistic s USING pg_class c
      WHERE c.oid = s.starelid AND c.relnamespace = 'public'::regnamespace\
      """;

  /** What is left is what no index could serve, however many rows there are. */
  private static final String INDEXES_ALONE =
      """
      SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; \
      SET LOCAL enable_mergejoin = off\
      """;

  public static List<String> faultsOnPostgres(Connection store, Set<String> statements)
      throws SQLException {
    Set<String> partial =
        names(
            store,
            "SELECT i.relname FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid"
                + " WHERE x.indpred IS NOT NULL");
    List<String> faults = new ArrayList<>();
    store.setAutoCommit(false);
    try (var session = store.createStatement()) {
      session.execute(KNOWS_NOTHING);
      session.execute(INDEXES_ALONE);
      for (String sql : statements) {
        String explain = "EXPLAIN (GENERIC_PLAN, FORMAT JSON) " + numbered(sql);
        try (ResultSet rows = session.executeQuery(explain)) {
          rows.next();
          JsonObject plan = new JsonArray(rows.getString(1)).getJsonObject(0).getJsonObject("Plan");
          walk(plan, false, partial, sql, faults);
        }
      }
    } finally {
      store.rollback();
      store.setAutoCommit(true);
    }
    return faults;
  }

  private static void walk(
      JsonObject node, boolean isLimited, Set<String> partial, String sql, List<String> faults) {
    String type = node.getString("Node Type");
    boolean isWholeIndex =
        type.startsWith("Index")
            && !node.containsKey("Index Cond")
            && !partial.contains(node.getString("Index Name"))
            && !isLimited;
    if (type.equals("Seq Scan") || isWholeIndex) {
      add(faults, sql, node.getString("Relation Name"), type);
    }
    for (Object child : node.getJsonArray("Plans", new JsonArray())) {
      walk((JsonObject) child, isLimited || type.equals("Limit"), partial, sql, faults);
    }
  }

  private static void add(List<String> faults, String sql, String table, String how) {
    // Statements may stand in several lines.
    String line = sql.replaceAll("\\s+", " ");
    if (!SMALL.contains(table) && WHOLE.keySet().stream().noneMatch(line::startsWith)) {
      faults.add(how + " of " + table + ": " + sql);
    }
  }

  /** Placeholders as PostgreSQL numbers them; no text of a store has one inside quotes. */
  private static String numbered(String sql) {
    StringBuilder text = new StringBuilder();
    int number = 0;
    for (int i = 0; i < sql.length(); i++) {
      char c = sql.charAt(i);
      text.append(c == '?' ? "$" + ++number : String.valueOf(c));
    }
    return text.toString();
  }

  /** The tables of a statement by the names it gives them. */
  private static Map<String, String> aliases(String sql) {
    Map<String, String> tables = new HashMap<>();
    Matcher found = TABLE.matcher(sql);
    while (found.find()) {
      String table = found.group(1).toLowerCase(Locale.ROOT);
      tables.put(table, table);
      if (found.group(2) != null) {
        tables.put(found.group(2), table);
      }
    }
    return tables;
  }
}
