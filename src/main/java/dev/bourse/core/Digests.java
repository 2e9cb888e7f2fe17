package dev.bourse.core;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** Digests that every Java platform provides. */
public final class Digests {
  /**
   * One instance per thread: creating an instance takes longer than using it, and each request with
   * a token uses one.
   */
  private static final ThreadLocal<MessageDigest> OF_THREAD =
      ThreadLocal.withInitial(Digests::newSha256);

  private Digests() {}

  /** SHA-256 (FIPS 180-4): 32 bytes. */
  public static byte[] sha256(byte[] bytes) {
    // digest() resets the instance.
    return OF_THREAD.get().digest(bytes);
  }

  /** SHA-256 of data that arrives in pieces. */
  public static MessageDigest newSha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("SHA-256 is missing from this Java platform", e);
    }
  }
}
