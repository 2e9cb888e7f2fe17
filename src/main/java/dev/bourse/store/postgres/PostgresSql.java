package dev.bourse.store.postgres;

import io.vertx.core.buffer.Buffer;
import io.vertx.sqlclient.Tuple;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Portable SQL in PostgreSQL's terms: {@code ?} placeholders become {@code $1, $2 …}, values become
 * a tuple.
 *
 * @param text the engine's SQL
 * @param parameters how many values it takes
 */
record PostgresSql(String text, int parameters) {
  /**
   * Texts are constants of the stores, apart from lists whose length varies; a cache that lists of
   * every length have filled is started afresh.
   */
  private static final int CACHED_TEXTS = 4_096;

  private static final ConcurrentHashMap<String, PostgresSql> CACHE = new ConcurrentHashMap<>();

  private record Repetition(String text, int rows) {}

  /** Of those few statements that append, for one number of rows. */
  private static final ConcurrentHashMap<Repetition, PostgresSql> REPEATED =
      new ConcurrentHashMap<>();

  private static final Pattern ROW = Pattern.compile("\\(\\$1(, \\$[0-9]+)*\\)");

  static PostgresSql of(String portable) {
    PostgresSql known = CACHE.get(portable);
    if (known == null) {
      known = rewrite(portable);
      if (CACHE.size() >= CACHED_TEXTS) {
        CACHE.clear();
      }
      CACHE.put(portable, known);
    }
    return known;
  }

  /**
   * An INSERT of one row as one of several, whose values follow each other.
   *
   * @throws IllegalArgumentException when it does not end with the placeholders of its row
   */
  PostgresSql repeated(int rows) {
    return REPEATED.computeIfAbsent(new Repetition(text, rows), repetition -> repeat(rows));
  }

  private PostgresSql repeat(int rows) {
    int row = text.lastIndexOf('(');
    if (!ROW.matcher(text.substring(row)).matches()) {
      throw new IllegalArgumentException("no INSERT that ends with its row's values: " + text);
    }
    StringBuilder repeated = new StringBuilder(text.substring(0, row));
    for (int i = 0; i < rows * parameters; i++) {
      boolean isFirst = i % parameters == 0;
      repeated.append(isFirst ? i == 0 ? "($" : "), ($" : ", $").append(i + 1);
    }
    return new PostgresSql(repeated.append(')').toString(), rows * parameters);
  }

  /** Placeholders inside quotes, quoted names and comments are text. */
  private static PostgresSql rewrite(String portable) {
    StringBuilder text = new StringBuilder(portable.length() + 32);
    int parameters = 0;
    int at = 0;
    while (at < portable.length()) {
      char c = portable.charAt(at);
      int end = at + 1;
      if (c == '\'' || c == '"') {
        end = after(portable, String.valueOf(c), at + 1);
      } else if (portable.startsWith("--", at)) {
        end = after(portable, "\n", at + 2);
      } else if (portable.startsWith("/*", at)) {
        end = after(portable, "*/", at + 2);
      }
      if (c == '?') {
        parameters++;
        text.append('$').append(parameters);
      } else {
        text.append(portable, at, end);
      }
      at = end;
    }
    return new PostgresSql(text.toString(), parameters);
  }

  private static int after(String text, String mark, int from) {
    int found = text.indexOf(mark, from);
    return found < 0 ? text.length() : found + mark.length();
  }

  /**
   * The values as the engine's client takes them.
   *
   * @throws IllegalArgumentException when their number is another, or no column can hold one
   */
  Tuple bind(List<? extends @Nullable Object> values) {
    if (values.size() != parameters) {
      throw new IllegalArgumentException(
          values.size() + " values for " + parameters + " placeholders: " + text);
    }
    Tuple tuple = Tuple.tuple();
    for (Object value : values) {
      if (value instanceof Boolean truth) {
        tuple.addLong(truth ? 1L : 0L);
      } else if (value instanceof Integer number) {
        tuple.addLong(number.longValue());
      } else if (value instanceof byte[] bytes) {
        tuple.addBuffer(Buffer.buffer(bytes));
      } else if (value == null || value instanceof String || value instanceof Long) {
        tuple.addValue(value);
      } else {
        throw new IllegalArgumentException("no column holds a " + value.getClass().getName());
      }
    }
    return tuple;
  }
}
