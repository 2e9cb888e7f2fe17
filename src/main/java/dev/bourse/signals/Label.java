package dev.bourse.signals;

import java.util.Locale;

/** A label of a metric. Each has few values, however large the platform is. */
public enum Label {
  AREA("`heap` or `nonheap`"),
  COLLECTOR("a garbage collector of the Java machine"),
  JOB("a background job, by its name"),
  KIND("the kind, as the meaning lists them"),
  LOOP("an event loop, counted from 0"),
  OPERATION("the operation's id in its contract; `none` when a request reached no operation"),
  OUTCOME("the outcome"),
  POOL("a pool of nodes, by its name"),
  REACHABILITY("`reachable`, `unreachable` or `unknown`"),
  REASON("the reason"),
  STATE("the state"),
  STATUS("the HTTP status of the answer"),
  VERSION("the program's version");

  private final String meaning;

  Label(String meaning) {
    this.meaning = meaning;
  }

  /** The name as it is printed. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Describes the label's values, in Markdown. */
  public String meaning() {
    return meaning;
  }
}
