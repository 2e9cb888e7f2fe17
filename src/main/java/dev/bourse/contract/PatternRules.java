package dev.bourse.contract;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Detects patterns that a caller's text could make slow or deeply recursive.
 *
 * <p>Java's matcher recurses once for each repetition of a group, so that a text with some thousand
 * repetitions overflows the stack of an event loop; and it tries every way to divide a text among
 * nested repetitions. These rules look at the pattern alone. A test counts, for every pattern in
 * the tree, the characters that a match reads.
 */
final class PatternRules {
  /**
   * Repetitions of a group, at a few stack frames each: 128 take a tenth of an event loop's 512 KB
   * of stack.
   */
  static final int MAX_ROUNDS = 128;

  private static final int UNBOUNDED = Integer.MAX_VALUE;

  private final String pattern;
  private final List<String> faults = new ArrayList<>();

  /** Whether the pattern and each open group contain an unbounded repetition. */
  private final Deque<Boolean> endless = new ArrayDeque<>(List.of(false));

  private boolean hasTopLevelChoice;
  private int at;

  private PatternRules(String pattern) {
    this.pattern = pattern;
  }

  /** The faults of a pattern that compiles; empty if there are none. */
  static List<String> faults(String pattern) {
    return walked(pattern).faults;
  }

  /**
   * The faults of a contract's pattern, which must also match a whole text and mean the same to
   * every reader.
   */
  static List<String> contractFaults(String pattern) {
    PatternRules rules = walked(pattern);
    List<String> faults = new ArrayList<>(rules.faults);
    if (!pattern.startsWith("^") || !pattern.endsWith("$")) {
      faults.add("does not hold the whole text between ^ and $");
    }
    if (pattern.contains("(?")) {
      faults.add("has a group of a special kind, which not every reader knows");
    }
    if (rules.hasTopLevelChoice) {
      faults.add("has alternatives outside of a group, where ^ and $ hold one each");
    }
    return faults;
  }

  private static PatternRules walked(String pattern) {
    PatternRules rules = new PatternRules(pattern);
    while (rules.at < pattern.length()) {
      rules.step();
    }
    return rules;
  }

  private void step() {
    char c = pattern.charAt(at++);
    if (c == '(') {
      endless.push(false);
    } else if (c == ')') {
      group(endless.pop());
    } else {
      if (c == '\\') {
        escape();
      } else if (c == '[') {
        skipClass();
      } else if (c == '|') {
        hasTopLevelChoice |= endless.size() == 1;
      }
      if (quantifier() == UNBOUNDED) {
        endless.pop();
        endless.push(true);
      }
    }
  }

  private void escape() {
    char next = pattern.charAt(at++);
    if ((next >= '1' && next <= '9') || next == 'k') {
      faults.add("refers back to a group");
    }
    if ((next == 'p' || next == 'P') && pattern.startsWith("{", at)) {
      at = pattern.indexOf('}', at) + 1;
    }
  }

  /** Skips to the end of a character class; Java's classes may be nested. */
  private void skipClass() {
    int open = 1;
    while (open > 0) {
      char c = pattern.charAt(at++);
      if (c == '\\') {
        at++;
      } else if (c == '[') {
        open++;
      } else if (c == ']') {
        open--;
      }
    }
  }

  private void group(boolean holdsEndless) {
    int most = quantifier();
    if (most == UNBOUNDED) {
      faults.add("repeats a group without bound");
    } else if (most > MAX_ROUNDS) {
      faults.add("repeats a group up to " + most + " times; expected at most " + MAX_ROUNDS);
    } else if (most > 1 && holdsEndless) {
      faults.add("repeats a group that holds a repetition without bound");
    }
    endless.push(endless.pop() || holdsEndless || most == UNBOUNDED);
  }

  /** Skips the quantifier at this place and returns its upper bound; 1 if there is none. */
  private int quantifier() {
    char c = at < pattern.length() ? pattern.charAt(at) : ' ';
    int most = 1;
    if (c == '*' || c == '+') {
      most = UNBOUNDED;
    } else if (c == '{') {
      int end = pattern.indexOf('}', at);
      String last = pattern.substring(Math.max(at, pattern.lastIndexOf(',', end)) + 1, end);
      most = last.isEmpty() ? UNBOUNDED : Integer.parseInt(last);
      at = end;
    } else if (c != '?') {
      return 1;
    }
    at++;
    if (at < pattern.length() && (pattern.charAt(at) == '?' || pattern.charAt(at) == '+')) {
      // Skips the mark of a reluctant or possessive quantifier.
      at++;
    }
    return most;
  }
}
