package dev.bourse.world;

import java.io.IOException;
import java.io.Reader;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.YAMLException;

/** A mapping of a YAML file, read key by key; every fault is collected with its place. */
public final class Yaml {
  /**
   * The longest file, in characters: a world of 1,000,000 clusters of some 60 characters each. All
   * of it is parsed before any of it is used, and takes some 30 times its length of the heap: one
   * much longer is a mistake, which had better be named than end the process for want of memory.
   */
  private static final int MAX_CHARACTERS = 64 * 1024 * 1024;

  private final String place;
  private final Map<String, Object> values;
  private final List<String> faults;

  private Yaml(String place, Map<String, Object> values, List<String> faults) {
    this.place = place;
    this.values = values;
    this.faults = faults;
  }

  /** The file's top mapping; only plain data, no tags that would make objects. */
  public static Yaml read(String name, Reader reader, List<String> faults) throws IOException {
    return read(name, reader, faults, MAX_CHARACTERS);
  }

  static Yaml read(String name, Reader reader, List<String> faults, int mostCharacters)
      throws IOException {
    LoaderOptions options = new LoaderOptions();
    options.setAllowDuplicateKeys(false);
    options.setCodePointLimit(mostCharacters);
    try {
      Object loaded = new org.yaml.snakeyaml.Yaml(new SafeConstructor(options)).load(reader);
      return new Yaml(name, mapping(name, loaded, faults), faults);
    } catch (YAMLException e) {
      throw new IOException(name + ": " + e.getMessage(), e);
    }
  }

  private static Map<String, Object> mapping(
      String place, @Nullable Object loaded, List<String> faults) {
    Map<String, Object> values = new LinkedHashMap<>();
    if (loaded instanceof Map<?, ?> map) {
      map.forEach(
          (key, value) -> {
            if (value != null) {
              values.put(String.valueOf(key), value);
            }
          });
    } else if (loaded != null) {
      faults.add(place + ": expected a mapping");
    }
    return values;
  }

  /** All scalars by dotted key; lists are faults. */
  public Map<String, String> flat() {
    Map<String, String> flat = new LinkedHashMap<>();
    values.forEach(
        (key, value) -> {
          if (value instanceof Map<?, ?>) {
            new Yaml(place, mapping(place, value, faults), faults)
                .flat()
                .forEach((rest, scalar) -> flat.put(key + "." + rest, scalar));
          } else if (value instanceof List<?>) {
            faults.add(place + ": " + key + ": a list is not a setting");
          } else {
            flat.put(key, String.valueOf(value));
          }
        });
    return flat;
  }

  /** A required text; an empty one after reporting its absence. */
  String text(String key) {
    Object value = values.remove(key);
    if (value == null) {
      faults.add(place + ": " + key + " is missing");
    }
    return value == null ? "" : String.valueOf(value);
  }

  /** An optional text. */
  @Nullable String textOrNull(String key) {
    Object value = values.remove(key);
    return value == null ? null : String.valueOf(value);
  }

  /** A value read from text by a function that throws IllegalArgumentException. */
  <T> T parsed(String key, String byDefault, Function<String, T> parse) {
    String text = textOrNull(key);
    try {
      return parse.apply(text == null ? byDefault : text);
    } catch (IllegalArgumentException e) {
      faults.add(place + ": " + key + ": '" + text + "': " + e.getMessage());
      return parse.apply(byDefault);
    }
  }

  /** A whole number between two bounds. */
  int integer(String key, int byDefault, int least, int most) {
    return parsed(
        key,
        String.valueOf(byDefault),
        text -> {
          int value = Integer.parseInt(text);
          if (value < least || value > most) {
            throw new IllegalArgumentException(
                "expected a whole number from " + least + " to " + most);
          }
          return value;
        });
  }

  /** {@code true} or {@code false}. */
  boolean flag(String key, boolean byDefault) {
    return parsed(
        key,
        String.valueOf(byDefault),
        text -> {
          if (!text.equals("true") && !text.equals("false")) {
            throw new IllegalArgumentException("expected true or false");
          }
          return text.equals("true");
        });
  }

  /** A list of texts, empty when absent. */
  List<String> texts(String key) {
    List<String> texts = new ArrayList<>();
    items(key).forEach(item -> texts.add(String.valueOf(item)));
    return texts;
  }

  /** A mapping of texts, empty when absent. */
  Map<String, String> textMap(String key) {
    Map<String, String> texts = new LinkedHashMap<>();
    Object value = values.remove(key);
    mapping(place + ": " + key, value, faults).forEach((k, v) -> texts.put(k, String.valueOf(v)));
    return texts;
  }

  /** A list of mappings, each read by a function; empty when absent. */
  <T> List<T> list(String key, Function<Yaml, T> read) {
    List<T> list = new ArrayList<>();
    List<?> items = items(key);
    for (int i = 0; i < items.size(); i++) {
      String at = place + ": " + key + "[" + i + "]";
      Yaml item = new Yaml(at, mapping(at, items.get(i), faults), faults);
      list.add(read.apply(item));
      item.done();
    }
    return list;
  }

  /** Reports a fault of this mapping. */
  void fault(String what) {
    faults.add(place + ": " + what);
  }

  /** Reports keys nobody read. */
  void done() {
    values.keySet().forEach(key -> faults.add(place + ": no such key: " + key));
  }

  private List<?> items(String key) {
    Object value = values.remove(key);
    if (value instanceof List<?> items) {
      return items;
    }
    if (value != null) {
      faults.add(place + ": " + key + ": expected a list");
    }
    return List.of();
  }
}
