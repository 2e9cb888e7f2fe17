package dev.bourse.simulation;

import dev.bourse.store.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Assigns trail ids like a server with concurrent transactions: when a commit arrives, not when it
 * is stored. So rows appear in another order than their ids, and rollbacks leave gaps.
 */
final class TrailNumbers {
  private static final String INSERT =
      "INSERT INTO audit (ts, org_id, actor, action, subject, detail, is_read) ";

  /** The beginning of each row of a statement. */
  private static final String ROW = "(?,";

  /**
   * See {@link dev.bourse.store.Database#newTrailIdsSql}. The numbers are filled in when the commit
   * arrives.
   */
  static final String NEW_IDS = "SELECT :first AS first_id, :last + ? AS last_id, :skips AS skips";

  /** Rows of a statement that copies a query's result: more than a small world has of anything. */
  private static final int MOST_FOUND = 1_000;

  private final TreeSet<Long> underWay = new TreeSet<>();
  private long last;

  /**
   * A commit with its ids.
   *
   * @param firstId 0 if it stores no rows of the trail
   */
  record Numbered(List<Statement> statements, long firstId) {}

  /** Returns the id below which no commit in progress can add a row. */
  long settled() {
    return underWay.isEmpty() ? last : underWay.first() - 1;
  }

  /** Returns the newest assigned id. */
  long last() {
    return last;
  }

  /** Another server assigns ids from here on; commits in progress are lost. */
  void restart(long afterId) {
    underWay.clear();
    last = afterId;
  }

  /** Assigns ids to the rows of a commit, which is in progress from now on. */
  Numbered begin(List<Statement> statements) {
    long first = last + 1;
    List<Statement> numbered = new ArrayList<>();
    for (Statement statement : statements) {
      numbered.add(
          statement.sql().startsWith(INSERT)
              ? numbered(statement)
              : statement.sql().contains(NEW_IDS) ? withIds(statement) : statement);
    }
    if (last < first) {
      return new Numbered(statements, 0);
    }
    underWay.add(first);
    return new Numbered(numbered, first);
  }

  /** The commit is stored or rolled back. */
  void end(Numbered commit) {
    underWay.remove(commit.firstId);
  }

  /** Another commit takes an id amid those of a statement with several rows. */
  private Statement withIds(Statement statement) {
    List<@Nullable Object> values = statement.parameters();
    int count = values.get(values.size() - 1) instanceof Integer some ? some : 1;
    boolean isSkipping = count > 1;
    String sql =
        statement
            .sql()
            .replace(":first", String.valueOf(last + 1))
            .replace(":last", String.valueOf(last + (isSkipping ? 1 : 0)))
            .replace(":skips", isSkipping ? "'1:1'" : "''");
    last += count + (isSkipping ? 1 : 0);
    return new Statement(sql, values, statement.refusal(), statement.demandedRows());
  }

  /**
   * Returns how many values each row has that a statement inserts. An operator's row has more than
   * columns, because its detail is made of several.
   */
  static int valuesOfRow(Statement statement) {
    return statement.parameters().size()
        / (statement.sql().split(Pattern.quote(ROW), -1).length - 1);
  }

  private Statement numbered(Statement statement) {
    String rest = statement.sql().substring(INSERT.length());
    String into = INSERT.replace("(ts", "(id, ts");
    List<@Nullable Object> values = new ArrayList<>();
    if (!rest.startsWith("VALUES")) {
      values.add(last);
      values.addAll(statement.parameters());
      last += MOST_FOUND;
      return new Statement(
          into
              + "SELECT CAST(? AS BIGINT) + ROW_NUMBER() OVER (), found.* FROM ("
              + rest
              + ") AS found",
          values,
          statement.refusal(),
          statement.demandedRows());
    }
    int valuesOfRow = valuesOfRow(statement);
    for (int i = 0; i < statement.parameters().size(); i++) {
      if (i % valuesOfRow == 0) {
        values.add(++last);
      }
      values.add(statement.parameters().get(i));
    }
    return new Statement(
        into + rest.replace(ROW, "(?, ?,"), values, statement.refusal(), statement.demandedRows());
  }
}
