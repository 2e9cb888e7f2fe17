package dev.bourse.core;

/**
 * How the secrets that leave this service begin, all of them: whoever looks for leaked ones goes by
 * this list, so a kind that is not in it would not be found.
 */
public enum SecretPrefix {
  API_TOKEN("brs_", true),
  OPERATOR_TOKEN("bro_", true),
  REFRESH_TOKEN("brr_", false),
  AUTHORIZATION_CODE("brk_", false),
  DEVICE_CODE("brv_", false);

  /** As long as every prefix. */
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
   * Whether an id, a secret and its checksum follow; else {@link Secrets#LENGTH} characters do, or
   * twice as many.
   */
  public boolean hasChecksum() {
    return hasChecksum;
  }
}
