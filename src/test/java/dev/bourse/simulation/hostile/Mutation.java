package dev.bourse.simulation.hostile;

import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * One change to a request.
 *
 * @param name of the change, for readers of failures
 */
record Mutation(Kind kind, String name, Consumer<Draft> change) {
  private static final int SHOWN = 90;
  private static final int LOOKED_AT = 4 * SHOWN;
  private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}+");

  /** The kind of a mutation. */
  enum Kind {
    BODY,
    PARAMETER,
    HEADER,
    FRAMING,
    BYTES
  }

  static Mutation of(Kind kind, String name, Consumer<Draft> change) {
    // Most names are values of the attack, some of a megabyte: only their beginning is shown.
    String beginning = name.length() > LOOKED_AT ? name.substring(0, LOOKED_AT) : name;
    String line = CONTROL.matcher(beginning).replaceAll(" ");
    String shown = line.length() > SHOWN ? line.substring(0, SHOWN) + "…" : line;
    return new Mutation(kind, shown, change);
  }
}
