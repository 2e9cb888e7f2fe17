package dev.bourse.store;

import dev.bourse.logs.RequestContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One write of a commit.
 *
 * @param sql one INSERT, UPDATE or DELETE with {@code ?} placeholders; in migrations also one that
 *     defines the schema, which cannot be guarded
 * @param parameters their values: String, Long, Integer, Boolean (stored as 0 or 1), byte[] or null
 * @param refusal what the commit fails with when the statement changes another number of rows than
 *     it demands; null when any number will do
 * @param demandedRows how many rows the statement must change; read only with a refusal
 * @param appends whether it adds a row to a log: an engine may run it later, before whatever else
 *     names the log's table, and rows of several commits at once. An INSERT that ends with its
 *     {@code VALUES (?, …)}, without a refusal
 * @param actor whose act it records in the trail; null for a statement that records none
 */
public record Statement(
    String sql,
    List<@Nullable Object> parameters,
    @Nullable Supplier<? extends RuntimeException> refusal,
    int demandedRows,
    boolean appends,
    @Nullable String actor) {

  public Statement {
    parameters = Collections.unmodifiableList(new ArrayList<>(parameters));
    if (appends && refusal != null) {
      throw new IllegalArgumentException("a statement that appends demands nothing: " + sql);
    }
  }

  /** A statement that records no act. */
  public Statement(
      String sql,
      List<@Nullable Object> parameters,
      @Nullable Supplier<? extends RuntimeException> refusal,
      int demandedRows,
      boolean appends) {
    this(sql, parameters, refusal, demandedRows, appends, null);
  }

  /** A statement whose place among a commit's others is kept. */
  public Statement(
      String sql,
      List<@Nullable Object> parameters,
      @Nullable Supplier<? extends RuntimeException> refusal,
      int demandedRows) {
    this(sql, parameters, refusal, demandedRows, false);
  }

  /** A statement that may change any number of rows. */
  public static Statement of(String sql, @Nullable Object... parameters) {
    return new Statement(sql, Arrays.asList(parameters), null, 0);
  }

  /**
   * A statement that must change exactly one row, else the whole commit is undone.
   *
   * @param refusal what the commit fails with then
   */
  public static Statement guarded(
      Supplier<? extends RuntimeException> refusal, String sql, @Nullable Object... parameters) {
    return of(sql, parameters).orElse(refusal);
  }

  /** This statement, if it must change exactly one row and the commit fails with this otherwise. */
  public Statement orElse(Supplier<? extends RuntimeException> refusal) {
    return demanding(1, refusal);
  }

  /** This statement, if it must change this many rows and the commit fails with this otherwise. */
  public Statement demanding(int rows, Supplier<? extends RuntimeException> refusal) {
    return new Statement(sql, parameters, refusal, rows, appends, actor);
  }

  /** This statement, if it adds a row to a log. */
  public Statement appending() {
    return new Statement(sql, parameters, refusal, demandedRows, true, actor);
  }

  /** This statement, if it records somebody's act in the trail. */
  public Statement recording(String actor) {
    return new Statement(sql, parameters, refusal, demandedRows, appends, actor);
  }

  /**
   * Returns the standing of the caller of the present request, if one of a commit's statements
   * records an act of theirs; null otherwise. What else a request stores, and what goes on after
   * it, is not judged.
   */
  public static RequestContext.@Nullable Standing standing(List<Statement> statements) {
    RequestContext request = RequestContext.current();
    RequestContext.Standing standing = request == null ? null : request.standing();
    if (standing == null) {
      return null;
    }
    for (Statement statement : statements) {
      if (standing.actor().equals(statement.actor)) {
        return standing;
      }
    }
    return null;
  }

  /**
   * What the commit fails with when this statement has changed that many rows; null if it holds.
   */
  public @Nullable RuntimeException refusalOf(long changedRows) {
    return refusal == null || changedRows == demandedRows ? null : refusal.get();
  }
}
