package dev.bourse.doctor;

/**
 * Something to look at.
 *
 * @param name what it is, in a word or two
 * @param advice what to do when the look fails; empty when what failed says it
 * @param look looks at it, which may block
 */
public record Check(String name, String advice, Look look) {
  /** One whose failures say what to do. */
  public Check(String name, Look look) {
    this(name, "", look);
  }

  /** Looks at one thing. */
  @FunctionalInterface
  public interface Look {
    /**
     * Notes what it sees.
     *
     * @throws Exception whose message says what is wrong, and has no secret in it
     */
    void at(Notes notes) throws Exception;
  }
}
