package dev.bourse.simulation.hostile;

import java.util.List;

/**
 * The answers to a request.
 *
 * @param answers in order; empty if the connection was closed without any
 * @param fault of the connection; empty if there is none
 * @param nanos until the last answer was complete
 */
record Outcome(List<WireAnswer> answers, String fault, long nanos) {
  static final WireAnswer NONE = new WireAnswer(0, java.util.Map.of(), new byte[0]);

  /** Returns the first answer, or one of status 0. */
  WireAnswer first() {
    return answers.isEmpty() ? NONE : answers.get(0);
  }
}
