package dev.bourse.traces;

import org.jspecify.annotations.Nullable;

/**
 * Something that takes time, as a collector is told of it when it has ended. Any thread may tell,
 * each thing once; what is told after the end is lost.
 */
public interface Span {
  /** What nobody is told of. */
  Span NONE = new Span() {};

  /** Who waits for whom. */
  enum Kind {
    /** Somebody asked for it, and waits. */
    SERVER,
    /** Somebody else is asked, and waited for. */
    CLIENT,
    /** Neither. */
    INTERNAL
  }

  /** Whether anybody is told of it. */
  default boolean isTold() {
    return false;
  }

  /** The trace it is of, 32 hexadecimal digits; empty when nobody is told. */
  default String traceId() {
    return "";
  }

  /**
   * It is called something else than at its beginning.
   *
   * @param name written in the code or a contract, never what somebody sent
   */
  default void rename(String name) {}

  /** It has this. */
  default void tell(Attribute attribute, String value) {}

  /** It has this. */
  default void tell(Attribute attribute, long value) {}

  /**
   * Something within it begins.
   *
   * @param name as for {@link #rename}
   */
  default Span child(String name, Kind kind) {
    return NONE;
  }

  /**
   * Something within it has come and gone.
   *
   * @param beganNanos by the monotonic clock
   * @param endedNanos by the same
   */
  default void passed(String name, long beganNanos, long endedNanos) {}

  /** It ended well. */
  default void end() {}

  /**
   * It failed.
   *
   * @param kind of failure, a word of the code's: a class, an error code, a status
   */
  default void fail(String kind) {}

  /** It ended so; of a fault its kind is told, and not what it says. */
  default void end(@Nullable Throwable fault) {
    if (fault == null) {
      end();
    } else {
      fail(fault.getClass().getSimpleName());
    }
  }
}
