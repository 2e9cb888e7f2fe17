package dev.bourse.doctor;

/**
 * One check of the doctor.
 *
 * @param name one or two words
 * @param advice next step if the check fails; empty if the failure contains it
 * @param look performs the check, and may block
 */
public record Check(String name, String advice, Look look) {
  /** A check whose failures contain their advice. */
  public Check(String name, Look look) {
    this(name, "", look);
  }

  /** Performs a check. */
  @FunctionalInterface
  public interface Look {
    /**
     * Records observations.
     *
     * @throws Exception a fault; its message describes it and contains no secret
     */
    void at(Notes notes) throws Exception;
  }
}
