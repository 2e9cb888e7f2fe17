package dev.bourse.app.commands;

import java.nio.file.Path;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The options of {@link ServeCommand}, parsed without picocli, which takes a sixth of a start, if
 * they are plain: whole names, each with a value. Picocli explains the options and handles all
 * other arguments.
 *
 * @param config null when none is given, as with {@code port}
 */
record ServeArguments(
    @Nullable Path config,
    Path data,
    Map<String, String> overrides,
    @Nullable Integer port,
    boolean isDemo) {
  /**
   * Parses the arguments after {@code serve}; empty when one of them is not plain.
   *
   * @param arguments such as {@code --port 0}, {@code --port=0}, {@code --set key=value}
   */
  static Optional<ServeArguments> plain(List<String> arguments) {
    Map<String, String> once = new LinkedHashMap<>();
    Map<String, String> overrides = new LinkedHashMap<>();
    for (Iterator<String> left = arguments.iterator(); left.hasNext(); ) {
      String[] option = left.next().split("=", 2);
      boolean isFlag = option[0].equals("--demo");
      if (isFlag && option.length == 2) {
        return Optional.empty();
      }
      String value =
          isFlag ? "" : option.length == 2 ? option[1] : left.hasNext() ? left.next() : "";
      boolean isPlain =
          switch (option[0]) {
            case "--demo" -> once.put(option[0], value) == null;
            case "--port" -> value.matches("\\d{1,5}") && once.put(option[0], value) == null;
            case "--config", "--data" -> isWord(value) && once.put(option[0], value) == null;
            case "--set" -> isWord(value) && isNew(overrides, value);
            default -> false;
          };
      if (!isPlain) {
        return Optional.empty();
      }
    }
    return Optional.of(
        new ServeArguments(
            Optional.ofNullable(once.get("--config")).map(Path::of).orElse(null),
            Path.of(once.getOrDefault("--data", SettingsOptions.DATA)),
            overrides,
            Optional.ofNullable(once.get("--port")).map(Integer::valueOf).orElse(null),
            once.containsKey("--demo")));
  }

  /**
   * Whether picocli would read the value literally: it treats quotes, variables and a leading
   * hyphen or at sign specially.
   */
  private static boolean isWord(String value) {
    return !value.isEmpty()
        && "-@".indexOf(value.charAt(0)) < 0
        && value.chars().noneMatch(letter -> "\"'$\\".indexOf(letter) >= 0);
  }

  private static boolean isNew(Map<String, String> overrides, String pair) {
    int equals = pair.indexOf('=');
    return equals > 0
        && overrides.put(pair.substring(0, equals), pair.substring(equals + 1)) == null;
  }
}
