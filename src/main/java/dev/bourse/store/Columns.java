package dev.bourse.store;

import dev.bourse.json.JsonBytes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A table's columns, each declared once with the value it is written with. SELECT, INSERT and
 * UPDATE are composed from the one list, and {@link Row} reads the columns back by name.
 *
 * <pre>{@code
 * private static final Columns<Account> ACCOUNT =
 *     Columns.<Account>of("account")
 *         .fixed("org_id", Account::orgId)
 *         .changing("balance_micros", Account::balanceMicros);
 *
 * "SELECT " + ACCOUNT.names() + " FROM account WHERE org_id = ?"
 * ACCOUNT.insert(account)
 * ACCOUNT.update(account, "org_id = ?", account.orgId()).orElse(NO_SUCH_ACCOUNT)
 * }</pre>
 *
 * @param <T> the type that a row is written from
 */
public final class Columns<T> {
  private record Column<T>(
      String name, boolean changes, Function<? super T, ? extends @Nullable Object> value) {}

  private final String table;
  private final List<Column<T>> columns;

  /** Composed statements. They are few because a service's texts are few and constant. */
  private final Map<String, String> composed = new ConcurrentHashMap<>();

  private Columns(String table, List<Column<T>> columns) {
    this.table = table;
    this.columns = columns;
  }

  /** Returns a table without columns. */
  public static <T> Columns<T> of(String table) {
    return new Columns<>(table, List.of());
  }

  /** Returns these columns and one that is written by every INSERT and never changes. */
  public Columns<T> fixed(String name, Function<? super T, ? extends @Nullable Object> value) {
    return with(new Column<>(name, false, value));
  }

  /** Returns these columns and one that is written by every INSERT and UPDATE. */
  public Columns<T> changing(String name, Function<? super T, ? extends @Nullable Object> value) {
    return with(new Column<>(name, true, value));
  }

  private Columns<T> with(Column<T> column) {
    List<Column<T>> more = new ArrayList<>(columns);
    more.add(column);
    return new Columns<>(table, List.copyOf(more));
  }

  /** Returns the columns for a SELECT. */
  public String names() {
    return joined("", column -> column);
  }

  /** Returns the columns for a SELECT that names the table by an alias. */
  public String names(String alias) {
    return joined(alias + '.', column -> column);
  }

  /**
   * Returns the columns for a join with another table that has columns of the same names.
   *
   * @param prefix the prefix of each name, which {@link Row#of} removes
   */
  public String names(String alias, String prefix) {
    return joined(alias + '.', column -> column + " AS " + prefix + column);
  }

  private String joined(String before, Function<String, String> written) {
    return columns.stream()
        .map(column -> before + written.apply(column.name))
        .collect(Collectors.joining(", "));
  }

  /** Returns an INSERT of a row. */
  public Statement insert(T row) {
    return insert(row, "");
  }

  /**
   * Returns an INSERT of a row with a clause after the values.
   *
   * @param otherwise the clause, for example {@code ON CONFLICT (name) DO NOTHING}; must be a
   *     constant because the statement is cached
   */
  public Statement insert(T row, String otherwise) {
    return new Statement(
        composed.computeIfAbsent("INSERT " + otherwise, key -> insertion(otherwise)),
        values(row, column -> true),
        null,
        0);
  }

  private String insertion(String otherwise) {
    return "INSERT INTO %s (%s) VALUES (%s) %s"
        .formatted(
            table, names(), String.join(", ", Collections.nCopies(columns.size(), "?")), otherwise)
        .strip();
  }

  /**
   * Returns an UPDATE of the columns that change.
   *
   * @param where the condition, with {@code ?} for each argument; must be a constant because the
   *     statement is cached
   */
  public Statement update(T row, String where, @Nullable Object... arguments) {
    String sql = composed.computeIfAbsent(where, this::updating);
    List<@Nullable Object> values = values(row, Column::changes);
    Collections.addAll(values, arguments);
    return new Statement(sql, values, null, 0);
  }

  private String updating(String where) {
    String set =
        columns.stream()
            .filter(Column::changes)
            .map(column -> column.name + " = ?")
            .collect(Collectors.joining(", "));
    return "UPDATE %s SET %s WHERE %s".formatted(table, set, where);
  }

  /**
   * Writes a row's columns as JSON, which another process reads as a {@link JsonRow} without the
   * store.
   */
  public void writeJson(JsonBytes json, T row) {
    columns.forEach(column -> json.put(column.name, column.value.apply(row)));
  }

  private List<@Nullable Object> values(T row, Predicate<Column<T>> chosen) {
    List<@Nullable Object> values = new ArrayList<>();
    for (Column<T> column : columns) {
      if (chosen.test(column)) {
        values.add(column.value.apply(row));
      }
    }
    return values;
  }
}
