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
 * The completions of the word under the cursor, which a shell requests at each Tab: {@code bourse
 * complete INDEX WORD…}, not meant for people. It never fails, and prints nothing if there are no
 * candidates, because a message in the middle of a typed line would be useless.
 */
final class ShellCompletion {
  /** The command's name. */
  static final String TYPED = "complete";

  /** Candidates that need no quoting in a shell and have no special meaning there. */
  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9._:=/@,+-]{1,256}");

  /** More candidates than a person chooses from. */
  private static final int MOST = 1_000;

  private final List<String> names;
  private final Function<String, CommandLine> commands;

  /**
   * @param names the first words
   * @param commands the command line with the full command for a first word
   */
  ShellCompletion(List<String> names, Function<String, CommandLine> commands) {
    this.names = List.copyOf(names);
    this.commands = commands;
  }

  /**
   * The candidates, whole words, in alphabetical order.
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
      // The words after the cursor would be parsed too, and do not matter.
      words.subList(index + 1, words.size()).clear();
      return plain(words.get(index), found(words));
    } catch (RuntimeException e) {
      // The line cannot be parsed, or a file is damaged: there are no candidates.
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
    // The candidates lack the part typed already: for a word such as --output=js, they complete the
    // value.
    return rests.stream().map(rest -> current + rest);
  }

  private static List<String> plain(String current, Stream<String> found) {
    // Options are offered only for a word that starts like one; otherwise they would hide all else.
    boolean isOption = current.startsWith("-");
    TreeSet<String> candidates = new TreeSet<>();
    found
        .filter(word -> word.startsWith(current) && PLAIN.matcher(word).matches())
        .filter(word -> isOption || !word.startsWith("-"))
        .limit(MOST)
        .forEach(candidates::add);
    return List.copyOf(candidates);
  }

  /** The candidates for arguments of a process. */
  List<String> candidates(String... asked) {
    return candidates(Arrays.asList(asked));
  }
}
