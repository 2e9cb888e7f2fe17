package dev.bourse.remote;

/** The credential of a command. */
public interface Credential {
  /**
   * Returns the token to send. It is sent to the service only, and never printed.
   *
   * @throws RefusedException when there is none, saying how to get one
   */
  String token() throws RefusedException;

  /**
   * Replaces a token that the service rejected, if possible.
   *
   * @return whether {@link #token} now returns another
   * @throws RefusedException when a new token is temporarily unavailable
   */
  default boolean renew(String refused) throws RefusedException {
    return false;
  }

  /** Returns advice for a person whose token was rejected. */
  String advice();

  /** No credential: requests are sent without a token. */
  Credential NONE = of("", "sign in first: bourse login");

  /** Returns a fixed token. */
  static Credential of(String token, String advice) {
    return new Credential() {
      @Override
      public String token() {
        return token;
      }

      @Override
      public String advice() {
        return advice;
      }
    };
  }
}
