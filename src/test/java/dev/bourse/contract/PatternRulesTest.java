package dev.bourse.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.Text;
import dev.bourse.edge.EdgeFixture;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** No input makes a pattern slow or deeply recursive. */
class PatternRulesTest {
  /** The most reads by the matcher for each character and each repetition of a group. */
  private static final int LOOKS = 16;

  /** The longest name, header or address of a caller before its length is checked. */
  private static final int LONGEST = 4_096;

  /** A fraction of an event loop's, which has 512 KB. */
  private static final long STACK_BYTES = 262_144;

  /** A text that counts its reads. */
  private static final class ReadCountingText implements CharSequence {
    private final String text;
    private long looks;

    ReadCountingText(String text) {
      this.text = text;
    }

    @Override
    public int length() {
      return text.length();
    }

    @Override
    public char charAt(int index) {
      looks++;
      return text.charAt(index);
    }

    @Override
    public CharSequence subSequence(int start, int end) {
      return text.substring(start, end);
    }

    @Override
    public String toString() {
      return text;
    }
  }

  @Test
  void whatCouldRecurseOrBacktrackIsRefused() {
    for (String harmful :
        List.of(
            "^(a|b)*$",
            "^(?:ab)+$",
            "^(ab){3,}$",
            "^(a+){2,9}$",
            "^((a+)?b){2}$",
            "^(ab){129}$",
            "^(a)\\1$",
            "^(?<x>a)\\k<x>$",
            "^a/b( *; *a=b)*$")) {
      assertFalse(PatternRules.faults(harmful).isEmpty(), harmful);
    }
    for (String harmless :
        List.of(
            "^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$",
            "^[^\\u0000-\\u001f\\u007f/\\\\]+$",
            "^(ab){0,128}$",
            "^\\(a\\)*[(*]+$",
            "^\\p{Cntrl}+[!-~&&[^\"<>]]+$",
            "^(a+)?b$",
            "^a*?b++$")) {
      assertEquals(List.of(), PatternRules.faults(harmless), harmless);
    }
    for (String partial : List.of("a", "^a", "^a|b$", "^(?i:a)$")) {
      assertFalse(PatternRules.contractFaults(partial).isEmpty(), partial);
    }
    assertEquals(List.of(), PatternRules.contractFaults("^(a|b)$"));
  }

  @Test
  void aPatternOfAContractStandsWithALengthAndWords() {
    JsonObject bare = new JsonObject().put("type", "string").put("pattern", "^a$");
    assertEquals(2, SchemaRules.patternFaults("x", new JsonObject().put("y", bare)).size());
    JsonObject whole = bare.copy().put("maxLength", 1).put("x-accepts", "a");
    assertEquals(List.of(), SchemaRules.patternFaults("x", new JsonArray().add(whole)));
  }

  @Test
  void everyPatternOfTheContractsKeepsTheRules() {
    List<String> faults = new ArrayList<>();
    for (Contract contract : EdgeFixture.contracts()) {
      faults.addAll(SchemaRules.patternFaults(contract.name(), contract.document()));
    }
    assertEquals(List.of(), faults);
  }

  @Test
  void noTextOfACallerIsLookedAtOverAndOver() throws Exception {
    Map<String, Integer> lengths = new TreeMap<>();
    EdgeFixture.contracts().forEach(contract -> collect(contract.document(), lengths));
    assertTrue(lengths.size() > 5, () -> "found only " + lengths);
    List<String> slow = new ArrayList<>();
    for (Map.Entry<String, Integer> each : lengths.entrySet()) {
      String anchored = each.getKey();
      String inner = anchored.substring(1, anchored.length() - 1);
      slow.addAll(slow(Pattern.compile(inner), each.getValue()));
    }
    assertEquals(List.of(), slow);
  }

  private static void collect(@Nullable Object node, Map<String, Integer> lengths) {
    if (node instanceof JsonObject object) {
      if (object.getValue("pattern") instanceof String pattern) {
        lengths.merge(pattern, object.getInteger("maxLength"), Math::max);
      }
      object.forEach(field -> collect(field.getValue(), lengths));
    } else if (node instanceof JsonArray array) {
      for (int i = 0; i < array.size(); i++) {
        collect(array.getValue(i), lengths);
      }
    }
  }

  /** The program's own patterns; checking all is simplest, even those for trusted texts. */
  @Test
  void thePatternsOfTheProgramAreHeldToTheSame() throws Exception {
    Map<String, Pattern> patterns = ofTheProgram();
    assertTrue(patterns.size() > 30, () -> "found only " + patterns.keySet());
    List<String> faults = new ArrayList<>();
    for (Map.Entry<String, Pattern> each : patterns.entrySet()) {
      String where = each.getKey();
      PatternRules.faults(each.getValue().pattern()).forEach(f -> faults.add(where + ' ' + f));
      slow(each.getValue(), LONGEST).forEach(text -> faults.add(where + ' ' + text));
    }
    assertEquals(List.of(), faults);
  }

  private static Map<String, Pattern> ofTheProgram() throws IOException {
    Map<String, Pattern> patterns = new LinkedHashMap<>();
    Path classes = classes();
    try (Stream<Path> files = Files.walk(classes.resolve("dev/bourse"))) {
      for (Path file : (Iterable<Path>) files.sorted()::iterator) {
        String name = classes.relativize(file).toString().replace(File.separatorChar, '.');
        if (name.endsWith(".class") && !name.endsWith("package-info.class")) {
          collect(name.substring(0, name.length() - ".class".length()), patterns);
        }
      }
    }
    return patterns;
  }

  private static Path classes() {
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      if (Files.exists(Path.of(entry, "dev", "bourse", "contract", "PatternRules.class"))) {
        return Path.of(entry);
      }
    }
    throw new IllegalStateException("the program's classes are in no folder");
  }

  private static void collect(String className, Map<String, Pattern> patterns) {
    try {
      Class<?> type = Class.forName(className, false, PatternRulesTest.class.getClassLoader());
      for (Field field : type.getDeclaredFields()) {
        if (Modifier.isStatic(field.getModifiers()) && field.getType() == Pattern.class) {
          field.setAccessible(true);
          patterns.put(className + '.' + field.getName(), (Pattern) field.get(null));
        }
      }
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Texts of this length that a pattern reads too often or recurses on too deeply. */
  private static List<String> slow(Pattern pattern, int length) throws InterruptedException {
    List<String> slow = new ArrayList<>();
    Thread small =
        new Thread(
            null,
            () -> {
              for (String text : hostile(pattern.pattern(), length)) {
                ReadCountingText watched = new ReadCountingText(text);
                try {
                  pattern.matcher(watched).matches();
                } catch (StackOverflowError deep) {
                  slow.add(pattern + " overflows the stack with " + text.substring(0, 20));
                  break;
                }
                if (watched.looks > (long) LOOKS * (length + PatternRules.MAX_ROUNDS)) {
                  slow.add(pattern + " looks " + watched.looks + " times at " + text);
                  break;
                }
              }
            },
            "small stack",
            STACK_BYTES);
    small.start();
    small.join();
    return slow;
  }

  /** The patterns exclude what {@link Text#isInvisible} lists, and the service excludes tags. */
  @Test
  void textThatPeopleSeeHasNoInvisibleCharacters() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("openapi"))) {
      for (Path file : files.filter(f -> f.toString().endsWith(".yaml")).toList()) {
        for (String line : Files.readAllLines(file)) {
          boolean isOfFirst =
              line.contains("pattern:") && (line.contains("\\x1f") || line.contains("\\u001f"));
          boolean isOfSecond = line.contains("\\x9f") || line.contains("\\u009f");
          assertTrue(!isOfFirst || isOfSecond, () -> file + ": " + line);
        }
      }
    }
    Map<String, Integer> lengths = new TreeMap<>();
    EdgeFixture.contracts().forEach(contract -> collect(contract.document(), lengths));
    int seen = 0;
    for (String pattern : lengths.keySet()) {
      if (!Pattern.matches(pattern, "Grüße, 山田")) {
        continue; // of an identifier or an address, which has letters alone
      }
      seen++;
      JsonObject schema = new JsonObject().put("type", "string").put("pattern", pattern);
      assertTrue(SchemaValidator.fits(schema, "a\uD83D\uDE00b"), pattern);
      IntStream.rangeClosed(0, Character.MAX_CODE_POINT)
          .filter(Text::isInvisible)
          .mapToObj(c -> "a" + Character.toString(c) + "b")
          .forEach(
              text ->
                  assertFalse(
                      SchemaValidator.fits(schema, text), () -> pattern + text.codePointAt(1)));
    }
    assertTrue(seen > 3, "found only " + seen);
  }

  /** Repeated short pieces, with and without an end that does not match. */
  private static Set<String> hostile(String pattern, int length) {
    Set<String> atoms = new LinkedHashSet<>(List.of("a", "0", "=", ";", " ", "/", "-", ".", ":"));
    pattern.chars().filter(c -> c < 127).forEach(c -> atoms.add(Character.toString(c)));
    Set<String> texts = new LinkedHashSet<>();
    for (String a : atoms) {
      for (String start : List.of("", "a/b", "a", "https://a/", "http://localhost", "a@")) {
        add(texts, start, a, length);
      }
      atoms.forEach(b -> add(texts, "", a + b, length));
    }
    for (String piece : List.of(";a=b", " ; a=b", "a.", "/a", "://a:", "127.", "a@a.")) {
      add(texts, "a/b", piece, length);
      add(texts, "a@", piece, length);
    }
    return texts;
  }

  private static void add(Set<String> texts, String start, String piece, int length) {
    String text = (start + piece.repeat(length / piece.length() + 1)).substring(0, length);
    texts.add(text);
    texts.add(text.substring(0, length - 1) + '\u0001');
  }
}
