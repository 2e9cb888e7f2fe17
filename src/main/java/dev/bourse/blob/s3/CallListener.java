package dev.bourse.blob.s3;

import java.util.Locale;

/** Told of each call to an object store when it has ended, its repetitions included; any thread. */
public interface CallListener {
  /** How a call ends. */
  enum Outcome {
    DONE,
    /** The store answered that it has nothing of the kind. */
    MISSING,
    /** The store answered that it has no room. */
    FULL,
    /** The store answered something else, and did not do it. */
    REFUSED,
    /** The store could not be reached, or did not answer in time. */
    UNANSWERED;

    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** Whether the store did what it has to. */
    public boolean isAnswer() {
      return this == DONE || this == MISSING;
    }
  }

  /**
   * A call has ended.
   *
   * @param operation a word for what was asked: {@code get}, {@code put}, {@code send} for a part,
   *     and so on
   */
  void ended(String operation, Outcome outcome, long nanos);
}
