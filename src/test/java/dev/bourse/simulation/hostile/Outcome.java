package dev.bourse.simulation.hostile;

import java.util.List;

/**
 * What came back for a request.
 *
 * @param answers in order; none when the connection was closed without a word
 * @param fault what is wrong with how it came; empty when nothing is
 * @param nanos until it was all there
 */
record Outcome(List<Answer> answers, String fault, long nanos) {
  static final Answer NONE = new Answer(0, java.util.Map.of(), new byte[0]);

  /** The first answer, or one of status 0. */
  Answer first() {
    return answers.isEmpty() ? NONE : answers.get(0);
  }
}
