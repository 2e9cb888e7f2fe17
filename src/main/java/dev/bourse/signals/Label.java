package dev.bourse.signals;

import java.util.Locale;

/** By what a number may be told apart; each has few values, however large the platform is. */
public enum Label {
  AREA("`heap` or `nonheap`"),
  COLLECTOR("a garbage collector of the Java machine"),
  KIND("what it is one of, in the words of the meaning"),
  LOOP("an event loop, counted from 0"),
  OPERATION("the operation's id in its contract; `none` when a request reached no operation"),
  OUTCOME("what came of it"),
  POOL("a pool of nodes, by its name"),
  REACHABILITY("`reachable`, `unreachable` or `unknown`"),
  REASON("why it happened"),
  STATE("the state it is in"),
  STATUS("the HTTP status of the answer"),
  VERSION("the program's");

  private final String meaning;

  Label(String meaning) {
    this.meaning = meaning;
  }

  /** As it is printed. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** What its values are, in Markdown. */
  public String meaning() {
    return meaning;
  }
}
