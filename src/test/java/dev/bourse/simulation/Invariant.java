package dev.bourse.simulation;

import dev.bourse.store.Statement;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A condition that must always hold. An invariant overrides the moments at which it can be checked,
 * and throws {@link #violated} if it does not hold. One object belongs to one simulation, so it may
 * keep state.
 */
abstract class Invariant {
  /** Called after a commit: the store shows it, and nothing has happened since. */
  void afterCommit(World world, String process, List<Statement> statements) {}

  /** Called after each second of true time. */
  void everySecond(World world) {}

  /**
   * Forgets what it saw in the store, which was set back to an earlier state.
   *
   * @return whether it can be checked from here on; false for an invariant that depends on all of
   *     the past
   */
  boolean outlivesSetBack(World world) {
    return false;
  }

  /**
   * Called when all faults have ended, all processes run, and enough time has passed for recovery.
   */
  void atRest(World world) {}

  /** Called at rest, after every cluster has released all its nodes. */
  void whenReleased(World world) {}

  /** Its name in the report of a violation. */
  final String name() {
    return getClass().getSimpleName();
  }

  final ViolationException violated(String what, @Nullable Object... values) {
    return new ViolationException(name(), MessageTemplate.fill(what, values));
  }

  /** Returns true if one of the statements concerns a table. */
  static boolean touches(List<Statement> statements, String table) {
    for (Statement statement : statements) {
      if (statement.sql().contains(table)) {
        return true;
      }
    }
    return false;
  }
}
