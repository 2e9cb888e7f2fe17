package dev.bourse.doctor;

/**
 * Something to look at.
 *
 * @param name what it is, in a word or two
 * @param look looks at it, which may block
 */
public record Check(String name, Look look) {
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
