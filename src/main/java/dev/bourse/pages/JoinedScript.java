package dev.bourse.pages;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Joins modules into one script, which exports every name that they export. Each module becomes a
 * function with a scope of its own, so that modules may use the same names inside.
 *
 * <p>It reads the forms of imports and exports that the console and Lit's published files have, and
 * fails the build on any other, on modules that import each other, and on two exports of one name.
 */
final class JoinedScript {
  private static final String START = "(?:^|(?<=[;}]))";
  private static final String FROM = "\\s*from\\s*[\"']([^\"']+)[\"'];?";

  /** {@code import { a, b as c } from 'x';} and {@code import 'x';}. */
  private static final Pattern IMPORT =
      Pattern.compile(
          START + "import\\s*(?:\\{([^}]*)\\}" + FROM + "|[\"']([^\"']+)[\"'];?)",
          Pattern.MULTILINE);

  /** {@code export * from 'x';} and {@code export { a } from 'x';}. */
  private static final Pattern FORWARD =
      Pattern.compile(START + "export\\s*(?:\\*|\\{([^}]*)\\})" + FROM, Pattern.MULTILINE);

  /** {@code export { a as b };}. */
  private static final Pattern LIST =
      Pattern.compile(START + "export\\s*\\{([^}]*)\\};?", Pattern.MULTILINE);

  /** {@code export function a}, {@code export class A} and {@code export const a}. */
  private static final Pattern DECLARATION =
      Pattern.compile(
          "^export ((?:async function|function|class|const) (\\w+))", Pattern.MULTILINE);

  private static final Pattern LATE_IMPORT = Pattern.compile("\\bimport\\(\\s*[\"']([^\"']+)[\"']");

  private static final Pattern ANY_OTHER =
      Pattern.compile("^(?:import\\b(?!\\()|export\\b).*", Pattern.MULTILINE);

  private final BinaryOperator<String> resolve;

  /** The exports of each joined module: a name and the expression that has its value. */
  private final Map<String, Map<String, String>> modules = new TreeMap<>();

  /** The modules that export a name to other scripts. */
  private final Map<String, String> exporters = new TreeMap<>();

  private final StringBuilder text = new StringBuilder();

  private JoinedScript(BinaryOperator<String> resolve) {
    this.resolve = resolve;
  }

  /**
   * Returns the text of the script.
   *
   * @param names the modules, each after those that it imports
   * @param source the source of a module
   * @param resolve returns the module that a module (first) imports by a name (second)
   * @param late the name under which the script imports a module when it needs it
   */
  static String of(
      List<String> names,
      UnaryOperator<String> source,
      BinaryOperator<String> resolve,
      UnaryOperator<String> late) {
    JoinedScript script = new JoinedScript(resolve);
    for (String name : names) {
      script.add(name, source.apply(name), late);
    }
    return script.text.toString();
  }

  private void add(String name, String source, UnaryOperator<String> late) {
    Map<String, String> exports = new TreeMap<>();
    Map<String, String> imports = new TreeMap<>();
    String body = replace(FORWARD, source, found -> forward(name, found, exports));
    body = replace(IMPORT, body, found -> imported(name, found, imports));
    body = replace(LIST, body, found -> listed(found.group(1), exports));
    exports.replaceAll((exported, local) -> imports.getOrDefault(local, local));
    body =
        replace(
            DECLARATION,
            body,
            found -> {
              exports.put(found.group(2), found.group(2));
              return found.group(1);
            });
    body =
        replace(
            LATE_IMPORT,
            body,
            found -> "import('" + late.apply(resolve.apply(name, found.group(1))) + "'");
    Matcher other = ANY_OTHER.matcher(body);
    if (other.find()) {
      throw new IllegalStateException(name + " cannot be joined: " + other.group());
    }
    String scope = scope(modules.size());
    modules.put(name, exports);
    text.append("// ").append(name).append("\nconst ").append(scope).append(" = (() => {\n");
    text.append(body.strip()).append("\nreturn {").append(pairs(exports)).append("};\n})();\n");
    export(name, scope, exports);
    exports.replaceAll((exported, expression) -> scope + '.' + exported);
  }

  private static String scope(int number) {
    return "module" + number;
  }

  /** Exports the names that the module has of its own. */
  private void export(String name, String scope, Map<String, String> exports) {
    List<String> own = new ArrayList<>();
    exports.forEach(
        (exported, expression) -> {
          if (!expression.contains(".")) {
            String earlier = exporters.putIfAbsent(exported, name);
            if (earlier != null) {
              throw new IllegalStateException(
                  "%s and %s both export %s; rename one".formatted(earlier, name, exported));
            }
            own.add(exported);
          }
        });
    if (!own.isEmpty()) {
      // Under names of their own, because a binding named Element would hide the browser's from
      // all modules.
      own.forEach(
          exported ->
              text.append("const %s_%s = %s.%s;\n".formatted(scope, exported, scope, exported)));
      text.append(
          own.stream()
              .map(exported -> scope + "_" + exported + " as " + exported)
              .collect(Collectors.joining(", ", "export {", "};\n")));
    }
  }

  private Map<String, String> joined(String importing, String imported) {
    String name = resolve.apply(importing, imported);
    Map<String, String> exports = modules.get(name);
    if (exports == null) {
      throw new IllegalStateException(importing + " and " + name + " import each other");
    }
    return exports;
  }

  private String forward(String name, MatchResult found, Map<String, String> exports) {
    Map<String, String> from = joined(name, found.group(2));
    if (found.group(1) == null) {
      exports.putAll(from);
    } else {
      bindings(found.group(1))
          .forEach((exported, local) -> exports.put(exported, expression(name, from, local)));
    }
    return "";
  }

  private String imported(String name, MatchResult found, Map<String, String> imports) {
    if (found.group(1) == null) {
      joined(name, found.group(3));
      return "";
    }
    Map<String, String> from = joined(name, found.group(2));
    return bindings(found.group(1)).entrySet().stream()
        .map(
            one -> {
              String expression = expression(name, from, one.getValue());
              imports.put(one.getKey(), expression);
              return "const " + one.getKey() + " = " + expression + ';';
            })
        .collect(Collectors.joining(" "));
  }

  private static String expression(String name, Map<String, String> from, String imported) {
    String expression = from.get(imported);
    if (expression == null) {
      throw new IllegalStateException(name + " imports " + imported + ", which is not exported");
    }
    return expression;
  }

  private static String listed(String list, Map<String, String> exports) {
    exports.putAll(bindings(list));
    return "";
  }

  /** Reads {@code a, b as c} into the name after each {@code as} and the name before it. */
  private static Map<String, String> bindings(String list) {
    Map<String, String> bindings = new TreeMap<>();
    for (String one : list.split(",", -1)) {
      if (!one.isBlank()) {
        String[] names = one.strip().split("\\s+as\\s+", -1);
        bindings.put(names[names.length - 1], names[0]);
      }
    }
    return bindings;
  }

  private static String pairs(Map<String, String> exports) {
    return exports.entrySet().stream()
        .map(one -> one.getKey() + ": " + one.getValue())
        .collect(Collectors.joining(", "));
  }

  private static String replace(
      Pattern pattern, String text, Function<MatchResult, String> replacement) {
    return pattern
        .matcher(text)
        .replaceAll(found -> Matcher.quoteReplacement(replacement.apply(found)));
  }
}
