package dev.bourse.simulation;

import dev.bourse.store.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Gives rows of the trail their ids as a server with concurrent transactions does: when a commit
 * has arrived, and not when it is stored. So rows appear in another order than that of their ids,
 * and what is undone leaves a gap.
 */
final class TrailNumbers {
  private static final String INSERT =
      "INSERT INTO audit (ts, org_id, actor, action, subject, detail, is_read) ";

  private static final int COLUMNS = 7;

  /**
   * See {@link dev.bourse.store.Database#newTrailIdsSql}. The numbers are put in when it arrives.
   */
  static final String NEW_IDS = "SELECT :first AS first_id, :last + ? AS last_id, :skips AS skips";

  /** Rows of a statement that copies what it finds: more than a small world has of anything. */
  private static final int MOST_FOUND = 1_000;

  private final TreeSet<Long> underWay = new TreeSet<>();
  private long last;

  /**
   * A commit that has its ids.
   *
   * @param firstId 0 when it stores no rows of the trail
   */
  record Numbered(List<Statement> statements, long firstId) {}

  /** The id up to which no commit under way can bring a row any more. */
  long settled() {
    return underWay.isEmpty() ? last : underWay.first() - 1;
  }

  /** Gives ids to the rows of a commit, which is under way from now on. */
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

  /** The commit is stored or undone. */
  void end(Numbered commit) {
    underWay.remove(commit.firstId);
  }

  /** Another takes an id amid those of several. */
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
    for (int i = 0; i < statement.parameters().size(); i++) {
      if (i % COLUMNS == 0) {
        values.add(++last);
      }
      values.add(statement.parameters().get(i));
    }
    return new Statement(
        into + rest.replace("(?,", "(?, ?,"),
        values,
        statement.refusal(),
        statement.demandedRows());
  }
}
