package dev.bourse.remote;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Formats answers as text for people: a list as rows under a heading, a single object as names and
 * values. Micro-dollars are shown in dollars, under a name that says so.
 */
public final class Table {
  private static final String GAP = "  ";

  /** The longest cell outside the last column: all scopes fit, a node's host key does not. */
  private static final int MAX_CELL = 64;

  /** A time to the millisecond, which a table shortens to the second. */
  private static final Pattern MILLIS =
      Pattern.compile("(\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d)\\.\\d{3}Z");

  private Table() {}

  /**
   * Formats a list as rows, with a dash for an absent value. To fit a line, columns of nested
   * objects and columns without any value are left out, and long values outside the last column are
   * cut; JSON output has everything.
   */
  public static String rows(List<JsonObject> items) {
    Set<String> fields = new LinkedHashSet<>();
    for (JsonObject item : items) {
      item.fieldNames().stream()
          .filter(field -> isPlain(item.getValue(field)))
          .forEach(fields::add);
    }
    // Columns keep the order of the answer, which starts with the key.
    Set<String> columns = new LinkedHashSet<>();
    items.forEach(item -> columns.addAll(item.fieldNames()));
    columns.retainAll(fields);
    return rows(items, List.copyOf(columns), Table::heading);
  }

  /**
   * Formats a list with chosen columns. Columns without any value are left out.
   *
   * @param headings the heading of each column by its field, in the columns' order
   */
  public static String rows(List<JsonObject> items, Map<String, String> headings) {
    List<String> columns =
        headings.keySet().stream()
            .filter(field -> items.stream().anyMatch(item -> isPlain(item.getValue(field))))
            .toList();
    return rows(items, columns, field -> headings.getOrDefault(field, heading(field)));
  }

  private static String heading(String field) {
    return Dollars.name(field).toUpperCase(Locale.ROOT);
  }

  private static boolean isPlain(@Nullable Object value) {
    return value != null && !(value instanceof JsonObject);
  }

  private static String rows(
      List<JsonObject> items, List<String> fields, UnaryOperator<String> heading) {
    if (fields.isEmpty()) {
      return "";
    }
    List<List<String>> lines = new ArrayList<>();
    lines.add(fields.stream().map(heading).toList());
    for (JsonObject item : items) {
      List<String> line = new ArrayList<>();
      for (String field : fields) {
        String cell = cell(Dollars.value(field, item.getValue(field)));
        boolean isLast = line.size() == fields.size() - 1;
        line.add(
            isLast || cell.length() <= MAX_CELL ? cell : cell.substring(0, MAX_CELL - 1) + '…');
      }
      lines.add(line);
    }
    return aligned(lines);
  }

  /** Formats a single object, one line for each field; lists of objects follow as rows. */
  public static String fields(JsonObject thing) {
    List<List<String>> lines = new ArrayList<>();
    StringBuilder lists = new StringBuilder();
    for (String field : thing.fieldNames()) {
      Object value = thing.getValue(field);
      if (value instanceof JsonArray list && !list.isEmpty() && isObjects(list)) {
        lists.append('\n').append(field).append(":\n");
        lists.append(rows(list.stream().map(JsonObject.class::cast).toList()));
      } else {
        lines.add(List.of(Dollars.name(field), cell(Dollars.value(field, value))));
      }
    }
    return aligned(lines) + lists;
  }

  private static boolean isObjects(JsonArray list) {
    return list.stream().allMatch(JsonObject.class::isInstance);
  }

  private static String aligned(List<List<String>> lines) {
    int columns = lines.isEmpty() ? 0 : lines.get(0).size();
    int[] widths = new int[columns];
    for (List<String> line : lines) {
      for (int i = 0; i < columns; i++) {
        widths[i] = Math.max(widths[i], line.get(i).length());
      }
    }
    StringBuilder text = new StringBuilder();
    for (List<String> line : lines) {
      StringBuilder padded = new StringBuilder();
      for (int i = 0; i < columns; i++) {
        padded.append(line.get(i)).append(" ".repeat(widths[i] - line.get(i).length())).append(GAP);
      }
      text.append(padded.toString().stripTrailing()).append('\n');
    }
    return text.toString();
  }

  /** Formats the value of a cell. */
  public static String cell(@Nullable Object value) {
    if (value == null) {
      return "-";
    }
    if (value instanceof JsonArray list) {
      return list.isEmpty()
          ? "-"
          : list.stream().map(Table::cell).collect(Collectors.joining(", "));
    }
    if (value instanceof JsonObject object) {
      return object.isEmpty()
          ? "-"
          : object.fieldNames().stream()
              .map(
                  field ->
                      Dollars.name(field)
                          + "="
                          + cell(Dollars.value(field, object.getValue(field))))
              .collect(Collectors.joining(" "));
    }
    // Control characters of a name or an address must not reach the terminal.
    String text = String.valueOf(value).replaceAll("\\p{Cc}", "?");
    Matcher time = MILLIS.matcher(text);
    return time.matches() ? time.group(1) + 'Z' : text;
  }
}
