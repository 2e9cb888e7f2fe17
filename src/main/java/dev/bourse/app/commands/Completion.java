package dev.bourse.app.commands;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import picocli.AutoComplete;
import picocli.CommandLine;

/**
 * What the word under the cursor may become, which a shell asks for at each Tab: {@code bourse
 * complete INDEX WORD…}, not meant for people. It is always answered, by nothing where nothing is
 * known: whoever types has no use for a message in the middle of a line.
 */
final class Completion {
  /** Its first word. */
  static final String TYPED = "complete";

  /** Candidates that a shell need not quote, and would never act upon. */
  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9._:=/@,+-]{1,256}");

  /** More than a person chooses from. */
  private static final int MOST = 1_000;

  private final List<String> names;
  private final Function<String, CommandLine> commands;

  /**
   * @param names the first words that there are
   * @param commands the command line in which the command of a first word is whole
   */
  Completion(List<String> names, Function<String, CommandLine> commands) {
    this.names = List.copyOf(names);
    this.commands = commands;
  }

  /**
   * The candidates, whole words, in the order of the alphabet.
   *
   * @param asked the number of the word under the cursor, from 0, and the words after {@code
   *     bourse}
   */
  List<String> candidates(List<String> asked) {
    try {
      int index = Integer.parseInt(asked.get(0));
      List<String> words = new ArrayList<>(asked.subList(1, asked.size()));
      // Some shells leave out an empty word at the end.
      if (index == words.size()) {
        words.add("");
      }
      // What follows the cursor would be parsed too, and is of no use.
      words.subList(index + 1, words.size()).clear();
      return plain(words.get(index), found(words));
    } catch (RuntimeException e) {
      // Not a line that can be parsed, or a damaged file: nothing is known.
      return List.of();
    }
  }

  private Stream<String> found(List<String> words) {
    int index = words.size() - 1;
    String current = words.get(index);
    if (index == 0) {
      return Stream.concat(names.stream(), Stream.of("--help", "--version"));
    }
    CommandLine line = commands.apply(words.get(0));
    List<CharSequence> rests = new ArrayList<>();
    AutoComplete.complete(
        line.getCommandSpec(), words.toArray(String[]::new), index, current.length(), 0, rests);
    // Given without what is typed already: of a word such as --output=js, its value's.
    return rests.stream().map(rest -> current + rest);
  }

  private static List<String> plain(String current, Stream<String> found) {
    // Options are offered to whoever begins one: they would hide all else.
    boolean isOption = current.startsWith("-");
    TreeSet<String> candidates = new TreeSet<>();
    found
        .filter(word -> word.startsWith(current) && PLAIN.matcher(word).matches())
        .filter(word -> isOption || !word.startsWith("-"))
        .limit(MOST)
        .forEach(candidates::add);
    return List.copyOf(candidates);
  }

  /** The same as arguments of a process. */
  List<String> candidates(String... asked) {
    return candidates(Arrays.asList(asked));
  }
}
