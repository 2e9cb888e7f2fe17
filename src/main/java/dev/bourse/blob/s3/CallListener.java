package dev.bourse.blob.s3;

import java.util.Locale;

/**
 * Receives the outcome of each call to an object store, after its retries. May be called on any
 * thread.
 */
public interface CallListener {
  enum Outcome {
    DONE,
    /** The store answered that the object or upload does not exist. */
    MISSING,
    /** The store answered that it has no space left. */
    FULL,
    /** The store rejected the call for another reason. */
    REFUSED,
    /** The store could not be reached or did not answer in time. */
    UNANSWERED;

    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** Returns true if the store worked correctly, even if the object does not exist. */
    public boolean isAnswer() {
      return this == DONE || this == MISSING;
    }
  }

  /**
   * Records the end of a call.
   *
   * @param operation the kind of call: {@code get}, {@code put}, {@code send} for a part, and so on
   */
  void ended(String operation, Outcome outcome, long nanos);
}
