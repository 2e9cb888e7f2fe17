package dev.bourse.simulation;

import dev.bourse.store.Statement;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Something that has to hold whatever happens. An invariant overrides the moments at which it can
 * be judged, and throws {@link #violated} when it does not hold. One object belongs to one
 * simulation, so it may remember what it saw.
 */
abstract class Invariant {
  /** A process stored a commit: the store shows it, and nothing has happened since. */
  void afterCommit(World world, String process, List<Statement> statements) {}

  /** True time went on by a second. */
  void everySecond(World world) {}

  /** All faults have ended, everybody is back, and time enough has passed for all to be well. */
  void atRest(World world) {}

  /** Besides, every cluster has given back all it had. */
  void whenReleased(World world) {}

  /** Its name, as it is told with a violation. */
  final String name() {
    return getClass().getSimpleName();
  }

  final Violation violated(String what, @Nullable Object... values) {
    return new Violation(name(), Text.filled(what, values));
  }

  /** Whether one of the statements is about a table. */
  static boolean touches(List<Statement> statements, String table) {
    for (Statement statement : statements) {
      if (statement.sql().contains(table)) {
        return true;
      }
    }
    return false;
  }
}
