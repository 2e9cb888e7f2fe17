package dev.bourse.store;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One write of a commit.
 *
 * @param sql one INSERT, UPDATE or DELETE with {@code ?} placeholders; in migrations also one that
 *     defines the schema, which cannot carry a guard
 * @param parameters their values: String, Long, Integer, Boolean (stored as 0 or 1), byte[] or null
 * @param guard the name a failed demand is reported by; null when any number of rows will do
 * @param demandedRows how many rows the statement must change; read only with a guard
 */
public record Statement(
    String sql, List<@Nullable Object> parameters, @Nullable String guard, int demandedRows) {

  public Statement {
    parameters = Collections.unmodifiableList(new ArrayList<>(parameters));
  }

  /** A statement that may change any number of rows. */
  public static Statement of(String sql, @Nullable Object... parameters) {
    return new Statement(sql, Arrays.asList(parameters), null, 0);
  }

  /** A statement that must change exactly one row, else the whole commit is undone. */
  public static Statement guarded(String guard, String sql, @Nullable Object... parameters) {
    return new Statement(sql, Arrays.asList(parameters), guard, 1);
  }
}
