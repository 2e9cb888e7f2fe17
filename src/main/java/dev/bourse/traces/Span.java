package dev.bourse.traces;

import org.jspecify.annotations.Nullable;

/**
 * A timed operation that is exported to a collector when it ends. Safe to use from any thread; each
 * attribute is set once, and calls after the end are ignored.
 */
public interface Span {
  /** A span that is not recorded. */
  Span NONE = new Span() {};

  /** The relation of caller and callee. */
  enum Kind {
    /** A remote caller waits for this operation. */
    SERVER,
    /** This operation waits for a remote service. */
    CLIENT,
    /** Neither. */
    INTERNAL
  }

  /** Returns true if the span is recorded and will be exported. */
  default boolean isRecorded() {
    return false;
  }

  /** Returns the trace's id, 32 hexadecimal digits; empty if the span is not recorded. */
  default String traceId() {
    return "";
  }

  /**
   * Changes the name.
   *
   * @param name a constant of the code or of a contract, never input
   */
  default void rename(String name) {}

  /** Sets an attribute. */
  default void setAttribute(Attribute attribute, String value) {}

  /** Sets an attribute. */
  default void setAttribute(Attribute attribute, long value) {}

  /**
   * Starts a child span.
   *
   * @param name as for {@link #rename}
   */
  default Span child(String name, Kind kind) {
    return NONE;
  }

  /**
   * Adds a child span that has already ended.
   *
   * @param beganNanos by the monotonic clock
   * @param endedNanos by the same clock
   */
  default void addCompletedChild(String name, long beganNanos, long endedNanos) {}

  /** Ends the span as successful. */
  default void end() {}

  /**
   * Ends the span as failed.
   *
   * @param kind of failure, a constant: a class, an error code, a status
   */
  default void fail(String kind) {}

  /** Ends the span; of a fault only its kind is recorded, not its message. */
  default void end(@Nullable Throwable fault) {
    if (fault == null) {
      end();
    } else {
      fail(fault.getClass().getSimpleName());
    }
  }
}
