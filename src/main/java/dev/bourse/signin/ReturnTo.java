package dev.bourse.signin;

/** Where a sign-in leads: a place of this service, whatever a link to the sign-in page says. */
final class ReturnTo {
  /** Where it leads when nothing else is asked for. */
  static final String ACCOUNT = "/account";

  /** Where members work. */
  static final String CONSOLE = "/console/";

  /**
   * An authorization request is the longest place to come back to: some 1,000 characters, more with
   * a long state; as much as the contract lets in.
   */
  private static final int MAX_LENGTH = 4_096;

  private ReturnTo() {}

  /** The place asked for if it is one of ours, else the account. */
  static String safe(String asked) {
    return isOurs(asked) ? asked : ACCOUNT;
  }

  /**
   * Whether browsers take it for a path of the origin they are at: one slash first, no second and
   * no backslash, which they read as a slash; nothing that they drop, such as a tab.
   */
  static boolean isOurs(String asked) {
    return asked.startsWith("/")
        && !asked.startsWith("//")
        && asked.length() <= MAX_LENGTH
        && asked.chars().allMatch(c -> c > ' ' && c < 0x7f && c != '\\');
  }
}
