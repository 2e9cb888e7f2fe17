package dev.bourse.store.postgres;

import io.vertx.core.buffer.Buffer;
import io.vertx.sqlclient.Tuple;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Portable SQL translated for PostgreSQL: {@code ?} placeholders become {@code $1, $2 …}, values
 * become a tuple.
 *
 * @param text the engine's SQL
 * @param parameters the number of values
 */
record PostgresSql(String text, int parameters) {
  /**
   * The size of the cache. Texts are constants of the stores, apart from lists whose length varies;
   * a cache that lists of every length have filled is cleared.
   */
  private static final int CACHED_TEXTS = 4_096;

  private static final ConcurrentHashMap<String, PostgresSql> CACHE = new ConcurrentHashMap<>();

  /** Logs of the few statements that append. */
  private static final ConcurrentHashMap<PostgresSql, Log> LOGS = new ConcurrentHashMap<>();

  private static final Pattern INSERT_OF_ROW =
      Pattern.compile("(?<before>INSERT INTO (?<table>\\w+) .* VALUES )(?<row>\\([^()]*\\))");

  /**
   * The log that a statement appends to.
   *
   * @param insertRows the INSERT of {@link #ROWS} rows at once
   */
  record Log(String table, PostgresSql insertRows) {
    /**
     * Rows per statement. A statement's overhead at the server equals the cost of a row. Twice as
     * many rows gain little more.
     */
    static final int ROWS = 8;
  }

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
   * Returns the log of an INSERT of one row.
   *
   * @throws IllegalArgumentException if it does not end with the placeholders of its row
   */
  Log log() {
    Log known = LOGS.get(this);
    if (known == null) {
      known = findLog();
      LOGS.put(this, known);
    }
    return known;
  }

  private Log findLog() {
    Matcher insert = INSERT_OF_ROW.matcher(text);
    if (!insert.matches() || !insert.group("row").equals(placeholders(0))) {
      throw new IllegalArgumentException(
          "not an INSERT that ends with the values of its row: " + text);
    }
    String rows =
        IntStream.range(0, Log.ROWS)
            .mapToObj(row -> placeholders(row * parameters))
            .collect(Collectors.joining(", "));
    return new Log(
        insert.group("table"),
        new PostgresSql(insert.group("before") + rows, Log.ROWS * parameters));
  }

  private String placeholders(int before) {
    return IntStream.rangeClosed(before + 1, before + parameters)
        .mapToObj(place -> "$" + place)
        .collect(Collectors.joining(", ", "(", ")"));
  }

  /** Rewrites placeholders, but not those inside quotes, quoted names and comments. */
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
   * Binds values.
   *
   * @throws IllegalArgumentException if their number is wrong, or no column can hold one of them
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
        throw new IllegalArgumentException("a column cannot hold a " + value.getClass().getName());
      }
    }
    return tuple;
  }
}
