package dev.bourse.client.account;

/**
 * A sign-in that is kept: at a service, and where somebody has several there, by a name.
 *
 * @param name what it is kept as: the name given to it, or else the service's address
 * @param url the service's address, without a slash at its end
 */
public record Profile(String name, String url) {
  /** The only sign-in at a service. */
  static Profile at(String url) {
    return new Profile(url, url);
  }

  boolean isNamed() {
    return !name.equals(url);
  }

  /** The command that signs in here. */
  String signIn() {
    return isNamed()
        ? "bourse login --profile %s --url %s".formatted(name, url)
        : "bourse login --url " + url;
  }
}
