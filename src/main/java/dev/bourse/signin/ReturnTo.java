package dev.bourse.signin;

/**
 * Validates where a sign-in leads: only to a path of this service, regardless of the link to the
 * sign-in page.
 */
final class ReturnTo {
  /** The default path. */
  static final String ACCOUNT = "/account";

  /** The console's path. */
  static final String CONSOLE = "/console/";

  /** The page that shows a new member the first steps. */
  static final String WELCOME = "/console/welcome";

  /**
   * The longest path, an authorization request, takes some 1,000 characters, more with a long
   * state; this is the contract's maximum.
   */
  private static final int MAX_LENGTH = 4_096;

  private ReturnTo() {}

  /** The requested path if it belongs to this service, else the account page. */
  static String safe(String asked) {
    return isOurs(asked) ? asked : ACCOUNT;
  }

  /**
   * True if browsers interpret it as a path on the same origin: it starts with one slash, followed
   * by neither a slash nor a backslash, which they read as a slash; and it has no characters that
   * they drop, such as tabs.
   */
  static boolean isOurs(String asked) {
    return asked.startsWith("/")
        && !asked.startsWith("//")
        && asked.length() <= MAX_LENGTH
        && asked.chars().allMatch(c -> c > ' ' && c < 0x7f && c != '\\');
  }
}
