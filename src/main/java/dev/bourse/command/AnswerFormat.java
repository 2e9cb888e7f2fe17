package dev.bourse.command;

import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Table;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.DumperOptions;
import org.yaml.snakeyaml.Yaml;

/**
 * The output format of an answer.
 *
 * @param form the layout
 * @param fields the fields shown, each by its name or its path with dots; empty for all
 */
public record AnswerFormat(Form form, List<String> fields) {

  /** Layouts, for people or for programs. */
  public enum Form {
    /** For people; future versions may leave out other fields. */
    table,
    json,
    yaml,
    /** The name of each item, one a line: its first field, or the first requested one. */
    name
  }

  public AnswerFormat {
    fields = List.copyOf(fields);
  }

  /**
   * An answer as text that ends with a line break.
   *
   * @throws RefusedException if a requested field is in no item of the answer
   */
  public String print(JsonObject answer) throws RefusedException {
    return print(answer, Map.of());
  }

  /**
   * An answer as text that ends with a line break.
   *
   * @param headings the columns of a table of its items when no fields are requested, by field;
   *     empty for all that fit
   * @throws RefusedException if a requested field is in no item of the answer
   */
  public String print(JsonObject answer, Map<String, String> headings) throws RefusedException {
    Optional<String> list = listField(answer);
    if (list.isPresent()) {
      List<JsonObject> items = new ArrayList<>();
      for (Object item : answer.getJsonArray(list.get())) {
        items.add(item instanceof JsonObject thing ? thing : new JsonObject().put("value", item));
      }
      return printList(answer, list.get(), chosen(items), fields.isEmpty() ? headings : Map.of());
    }
    JsonObject thing = chosen(List.of(answer)).get(0);
    return switch (form) {
      case table -> Table.fields(thing);
      case json -> thing.encodePrettily() + '\n';
      case yaml -> yaml(thing);
      case name -> name(thing) + '\n';
    };
  }

  private String printList(
      JsonObject answer, String list, List<JsonObject> items, Map<String, String> headings) {
    return switch (form) {
      case table -> headings.isEmpty() ? Table.rows(items) : Table.rows(items, headings);
      case json -> whole(answer, list, items).encodePrettily() + '\n';
      case yaml -> yaml(whole(answer, list, items));
      case name -> {
        StringBuilder names = new StringBuilder();
        items.forEach(item -> names.append(name(item)).append('\n'));
        yield names.toString();
      }
    };
  }

  /** The answer with only the chosen fields of its items. */
  private JsonObject whole(JsonObject answer, String list, List<JsonObject> items) {
    return fields.isEmpty() ? answer : answer.copy().put(list, new JsonArray(items));
  }

  private static String name(JsonObject thing) {
    return thing.isEmpty() ? "" : Table.cell(thing.getValue(thing.fieldNames().iterator().next()));
  }

  private List<JsonObject> chosen(List<JsonObject> things) throws RefusedException {
    if (fields.isEmpty()) {
      return things;
    }
    List<JsonObject> chosen = new ArrayList<>();
    for (JsonObject thing : things) {
      JsonObject some = new JsonObject();
      fields.forEach(field -> some.put(field, valueAt(thing, field)));
      chosen.add(some);
    }
    for (String field : fields) {
      if (!things.isEmpty() && things.stream().noneMatch(thing -> hasAt(thing, field))) {
        throw new RefusedException(
            ExitCode.USAGE,
            "--fields: there is no '%s'; there are %s"
                .formatted(field, String.join(", ", things.get(0).fieldNames())));
      }
    }
    return chosen;
  }

  private static boolean hasAt(JsonObject thing, String field) {
    int dot = field.indexOf('.');
    return dot < 0
        ? thing.containsKey(field)
        : thing.getValue(field.substring(0, dot)) instanceof JsonObject inner
            && hasAt(inner, field.substring(dot + 1));
  }

  private static @Nullable Object valueAt(JsonObject thing, String field) {
    int dot = field.indexOf('.');
    return dot < 0
        ? thing.getValue(field)
        : thing.getValue(field.substring(0, dot)) instanceof JsonObject inner
            ? valueAt(inner, field.substring(dot + 1))
            : null;
  }

  private static String yaml(JsonObject thing) {
    DumperOptions style = new DumperOptions();
    style.setDefaultFlowStyle(DumperOptions.FlowStyle.BLOCK);
    style.setPrettyFlow(true);
    return new Yaml(style).dump(plain(thing));
  }

  /** The value as the maps and lists that the library writes. */
  private static @Nullable Object plain(@Nullable Object value) {
    if (value instanceof JsonObject object) {
      Map<String, @Nullable Object> map = new LinkedHashMap<>();
      object.forEach(entry -> map.put(entry.getKey(), plain(entry.getValue())));
      return map;
    }
    if (value instanceof JsonArray array) {
      List<@Nullable Object> list = new ArrayList<>();
      array.forEach(item -> list.add(plain(item)));
      return list;
    }
    return value;
  }

  /**
   * The field of a page of a list that holds the items; empty for an answer that is a single item.
   */
  static Optional<String> listField(JsonObject answer) {
    List<String> lists =
        answer.fieldNames().stream()
            .filter(field -> answer.getValue(field) instanceof JsonArray)
            .toList();
    return lists.size() == 1
            && (answer.containsKey("more") || answer.containsKey("cursor") || answer.size() == 1)
        ? Optional.of(lists.get(0))
        : Optional.empty();
  }
}
