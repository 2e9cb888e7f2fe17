package dev.bourse.client.account;

/**
 * The key of a stored sign-in: a service, and a name if somebody has several sign-ins there.
 *
 * @param name the given name, or else the service's address
 * @param url the service's address, without a slash at its end
 */
public record SignInProfile(String name, String url) {
  /** The unnamed sign-in at a service. */
  static SignInProfile at(String url) {
    return new SignInProfile(url, url);
  }

  boolean isNamed() {
    return !name.equals(url);
  }

  /** The command line that signs in to this profile. */
  String signIn() {
    return isNamed()
        ? "bourse login --profile %s --url %s".formatted(name, url)
        : "bourse login --url " + url;
  }
}
