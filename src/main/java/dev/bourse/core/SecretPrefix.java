package dev.bourse.core;

/**
 * The prefixes of all secrets that this service hands out. Scanners for leaked secrets use this
 * list, so they would not find a kind of secret that is missing from it.
 */
public enum SecretPrefix {
  API_TOKEN("brs_", true),
  OPERATOR_TOKEN("bro_", true),
  NODE_CREDENTIAL("brn_", true),
  REFRESH_TOKEN("brr_", false),
  AUTHORIZATION_CODE("brk_", false),
  DEVICE_CODE("brv_", false);

  /** The length of every prefix, in characters. */
  public static final int LENGTH = 4;

  private final String text;
  private final boolean hasChecksum;

  SecretPrefix(String text, boolean hasChecksum) {
    this.text = text;
    this.hasChecksum = hasChecksum;
  }

  /** The prefix. */
  public String text() {
    return text;
  }

  /**
   * Whether an id, a secret and its checksum follow the prefix; otherwise {@link Secrets#LENGTH}
   * characters do, or twice as many.
   */
  public boolean hasChecksum() {
    return hasChecksum;
  }
}
