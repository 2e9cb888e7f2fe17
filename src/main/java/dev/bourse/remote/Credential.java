package dev.bourse.remote;

/** What lets a command in. */
public interface Credential {
  /**
   * The token to show now. It is shown to the service and to nobody else, and never printed.
   *
   * @throws Refused when there is none, saying how to get one
   */
  String token() throws Refused;

  /**
   * The service did not take this token; gets another if that can be.
   *
   * @return whether {@link #token} now gives another
   * @throws Refused when it might be got, but not now
   */
  default boolean renew(String refused) throws Refused {
    return false;
  }

  /** What a person can do when the token is not taken. */
  String advice();

  /** That of whoever has none: requests go without a token. */
  Credential NONE = of("", "sign in first: bourse login");

  /** A token that stays what it is. */
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
