package dev.bourse.simulation.hostile;

import java.util.function.Consumer;

/**
 * One change to a request.
 *
 * @param name what is changed, for whoever reads a failure
 */
record Mutation(Kind kind, String name, Consumer<Draft> change) {
  /** What a mutation changes. */
  enum Kind {
    BODY,
    PARAMETER,
    HEADER,
    FRAMING,
    BYTES
  }

  static Mutation of(Kind kind, String name, Consumer<Draft> change) {
    String line = name.replaceAll("\\p{Cntrl}+", " ");
    String shown = line.length() > 90 ? line.substring(0, 90) + "…" : line;
    return new Mutation(kind, shown, change);
  }
}
