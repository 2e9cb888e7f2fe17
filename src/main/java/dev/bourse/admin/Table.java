package dev.bourse.admin;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Answers as text for people: a list as rows under a heading, a single thing as name and value. */
final class Table {
  private static final String GAP = "  ";

  private Table() {}

  /** The rows of a list; a dash where an item lacks a field or has none. */
  static String rows(List<JsonObject> items) {
    Set<String> fields = new LinkedHashSet<>();
    items.forEach(item -> fields.addAll(item.fieldNames()));
    List<List<String>> lines = new ArrayList<>();
    lines.add(fields.stream().map(field -> field.toUpperCase(Locale.ROOT)).toList());
    for (JsonObject item : items) {
      lines.add(fields.stream().map(field -> cell(item.getValue(field))).toList());
    }
    return aligned(lines);
  }

  /** A single thing, a line for each of its fields. */
  static String fields(JsonObject thing) {
    return aligned(
        thing.fieldNames().stream()
            .map(field -> List.of(field, cell(thing.getValue(field))))
            .toList());
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

  private static String cell(@Nullable Object value) {
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
              .map(field -> field + "=" + cell(object.getValue(field)))
              .collect(Collectors.joining(" "));
    }
    // A control character of a name or an address must not reach the terminal.
    return String.valueOf(value).replaceAll("\\p{Cntrl}", "?");
  }
}
