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
 * @param sql one INSERT, UPDATE or DELETE with {@code ?} placeholders; in migrations also a schema
 *     definition, which cannot be guarded
 * @param parameters their values: String, Long, Integer, Boolean (stored as 0 or 1), byte[] or null
 * @param refusal the exception of the commit if the statement changes another number of rows than
 *     it demands; null if it demands none
 * @param demandedRows how many rows the statement must change; used only with a refusal
 * @param appends whether it adds a row to a log. An engine may run it later, before the next
 *     statement that names the log's table, and combine rows of several commits. It must be an
 *     INSERT that ends with {@code VALUES (?, …)}, without a refusal.
 * @param actor the actor whose action it records in the trail; null for a statement that records
 *     none
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
      throw new IllegalArgumentException(
          "an appending statement cannot demand a number of rows: " + sql);
    }
  }

  public Statement(
      String sql,
      List<@Nullable Object> parameters,
      @Nullable Supplier<? extends RuntimeException> refusal,
      int demandedRows,
      boolean appends) {
    this(sql, parameters, refusal, demandedRows, appends, null);
  }

  public Statement(
      String sql,
      List<@Nullable Object> parameters,
      @Nullable Supplier<? extends RuntimeException> refusal,
      int demandedRows) {
    this(sql, parameters, refusal, demandedRows, false);
  }

  /** Returns a statement that may change any number of rows. */
  public static Statement of(String sql, @Nullable Object... parameters) {
    return new Statement(sql, Arrays.asList(parameters), null, 0);
  }

  /**
   * Returns a statement that must change exactly one row; otherwise the whole commit is rolled
   * back.
   *
   * @param refusal creates the exception of the commit in that case
   */
  public static Statement guarded(
      Supplier<? extends RuntimeException> refusal, String sql, @Nullable Object... parameters) {
    return of(sql, parameters).orElse(refusal);
  }

  /**
   * Returns this statement with the demand that it changes exactly one row; otherwise the commit
   * fails.
   */
  public Statement orElse(Supplier<? extends RuntimeException> refusal) {
    return demanding(1, refusal);
  }

  /** Returns this statement with a demanded number of rows; otherwise the commit fails. */
  public Statement demanding(int rows, Supplier<? extends RuntimeException> refusal) {
    return new Statement(sql, parameters, refusal, rows, appends, actor);
  }

  /** Returns this statement as one that adds a row to a log. */
  public Statement appending() {
    return new Statement(sql, parameters, refusal, demandedRows, true, actor);
  }

  /** Returns this statement as one that records an actor's action in the trail. */
  public Statement recording(String actor) {
    return new Statement(sql, parameters, refusal, demandedRows, appends, actor);
  }

  /**
   * Returns the standing of the current request's caller if one of a commit's statements records an
   * action of that caller; null otherwise. Other commits of a request, and work that continues
   * after it, are not checked.
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
   * Returns the exception of the commit if this statement changed that many rows; null if its
   * demand is met.
   */
  public @Nullable RuntimeException refusalOf(long changedRows) {
    return refusal == null || changedRows == demandedRows ? null : refusal.get();
  }
}
