package dev.bourse.store.postgres;

import dev.bourse.store.StoreUnavailableException;
import io.vertx.pgclient.PgException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The meaning of a failure of the engine's client, by the standard's five-character SQLSTATE
 * (PostgreSQL documentation, appendix A).
 */
enum PostgresFailure {
  /**
   * The statement itself is at fault: faulty SQL, a broken constraint, a value of the wrong type.
   */
  STATEMENT,
  /** Another transaction was in the way; an immediate retry may succeed. */
  CONFLICT,
  /** The server cannot serve now: disk or memory full, time-out, not the primary. */
  SERVER,
  /** The connection is lost. */
  CONNECTION;

  /** Serialization failure, deadlock, lock time-out. */
  private static final Set<String> CONFLICTS = Set.of("40001", "40P01", "55P03");

  /** A prepared statement from before a migration; the client discards it at this message. */
  private static final String STALE_PLAN = "cached plan must not change result type";

  /** The server is stopping, crashed or starting, or ended the session or an idle transaction. */
  private static final Set<String> GOING =
      Set.of("57P01", "57P02", "57P03", "57P05", "25P03", "25P04");

  private static final String CANCELLED = "57014";
  private static final String READ_ONLY = "25006";

  private static final Set<String> REFUSALS = Set.of(CANCELLED, READ_ONLY);

  private static final String DISK_FULL = "53100";

  /** Returns the exception of a call that wrote nothing. */
  static StoreUnavailableException unavailable(String message, @Nullable Throwable cause) {
    return unavailable(message, cause, false);
  }

  /** Returns the exception of a call that this failure made impossible. */
  static StoreUnavailableException unavailable(
      String message, @Nullable Throwable cause, boolean mayBeStored) {
    return new StoreUnavailableException(message, cause, isFull(cause), mayBeStored);
  }

  private static boolean isFull(@Nullable Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if ((cause instanceof PgException server && DISK_FULL.equals(server.getSqlState()))
          || String.valueOf(cause.getMessage()).contains("No space left on device")) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether the server accepts no writes: it is a standby, so the primary is elsewhere. */
  static boolean isReadOnly(Throwable failure) {
    return failure instanceof PgException answer && READ_ONLY.equals(answer.getSqlState());
  }

  /** Whether the server cancelled a statement, for instance because it took too long. */
  static boolean isCancelled(Throwable failure) {
    return failure instanceof PgException answer && CANCELLED.equals(answer.getSqlState());
  }

  static PostgresFailure of(Throwable failure, boolean isWriting) {
    if (!(failure instanceof PgException answer)) {
      // The client's own exceptions are about values; all others come from the socket.
      return isAboutValues(failure) ? STATEMENT : CONNECTION;
    }
    String state = String.valueOf(answer.getSqlState());
    if (CONFLICTS.contains(state) || STALE_PLAN.equals(answer.getErrorMessage())) {
      return CONFLICT;
    }
    if (GOING.contains(state) || state.startsWith("08")) {
      return CONNECTION;
    }
    if (REFUSALS.contains(state) && (isWriting || state.equals(CANCELLED))) {
      return SERVER;
    }
    // Class 53: resources; 58: the operating system; XX: internal errors of the server.
    return state.startsWith("53") || state.startsWith("58") || state.startsWith("XX")
        ? SERVER
        : STATEMENT;
  }

  private static boolean isAboutValues(Throwable failure) {
    String message = String.valueOf(failure.getMessage());
    return message.startsWith("Parameter") || message.startsWith("The number of parameters");
  }
}
