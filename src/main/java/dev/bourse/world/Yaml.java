package dev.bourse.world;

import java.io.IOException;
import java.io.Reader;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.YAMLException;

/** A mapping of a YAML file, read key by key; every fault is collected with its place. */
public final class Yaml {
  /**
   * The longest file, in characters: a world of 1,000,000 clusters at some 60 characters each. A
   * file is parsed as a whole and takes some 30 times its length on the heap, so a much longer one
   * is rejected by name rather than exhausting memory.
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

  /** Reads the file's top mapping; accepts plain data only, no tags that construct objects. */
  public static Yaml read(String name, Reader reader, List<String> faults) throws IOException {
    return read(name, reader, faults, MAX_CHARACTERS);
  }

  /** The same, of at most so many characters. */
  public static Yaml read(String name, Reader reader, List<String> faults, int mostCharacters)
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

  /** Returns all scalars by dotted key; lists are faults. */
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

  /** Returns a required text; records a fault and returns an empty one if it is missing. */
  String text(String key) {
    Object value = values.remove(key);
    if (value == null) {
      faults.add(place + ": " + key + " is missing");
    }
    return value == null ? "" : String.valueOf(value);
  }

  /** Returns an optional text. */
  @Nullable String textOrNull(String key) {
    Object value = values.remove(key);
    return value == null ? null : String.valueOf(value);
  }

  /** Returns a value parsed by a function that throws IllegalArgumentException. */
  <T> T parsed(String key, String byDefault, Function<String, T> parse) {
    String text = textOrNull(key);
    return parsed(key, text == null ? byDefault : text, parse, () -> parse.apply(byDefault));
  }

  /**
   * Returns a required value parsed by a function that throws IllegalArgumentException; records a
   * fault and returns {@code instead} if it is missing or cannot be parsed.
   */
  public <T> T required(String key, T instead, Function<String, T> parse) {
    String text = textOrNull(key);
    if (text == null) {
      faults.add(place + ": " + key + " is missing");
      return instead;
    }
    return parsed(key, text, parse, () -> instead);
  }

  private <T> T parsed(String key, String text, Function<String, T> parse, Supplier<T> instead) {
    try {
      return parse.apply(text);
    } catch (IllegalArgumentException e) {
      faults.add(place + ": " + key + ": '" + text + "': " + e.getMessage());
      return instead.get();
    }
  }

  /** Returns a whole number between two bounds. */
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

  /** Returns {@code true} or {@code false}. */
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

  /** Returns a list of texts, empty if absent. */
  public List<String> texts(String key) {
    List<String> texts = new ArrayList<>();
    items(key).forEach(item -> texts.add(String.valueOf(item)));
    return texts;
  }

  /** Returns a mapping of texts, empty if absent. */
  Map<String, String> textMap(String key) {
    Map<String, String> texts = new LinkedHashMap<>();
    Object value = values.remove(key);
    mapping(place + ": " + key, value, faults).forEach((k, v) -> texts.put(k, String.valueOf(v)));
    return texts;
  }

  /** Returns a list of mappings, each read by a function; empty if absent. */
  public <T> List<T> list(String key, Function<Yaml, T> read) {
    List<T> list = new ArrayList<>();
    List<?> items = items(key);
    for (int i = 0; i < items.size(); i++) {
      String at = place + ": " + key + "[" + i + "]";
      Yaml item = new Yaml(at, mapping(at, items.get(i), faults), faults);
      list.add(read.apply(item));
      item.reportUnknownKeys();
    }
    return list;
  }

  /** Records a fault of this mapping. */
  public void fault(String what) {
    faults.add(place + ": " + what);
  }

  /** Records a fault for each key that was not read. */
  public void reportUnknownKeys() {
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
