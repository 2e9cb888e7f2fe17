package dev.bourse.core;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** Digests every Java platform has. */
public final class Digests {
  /** Making one takes longer than using it, and each request with a token uses one. */
  private static final ThreadLocal<MessageDigest> OF_THREAD =
      ThreadLocal.withInitial(Digests::newSha256);

  private Digests() {}

  /** SHA-256 (FIPS 180-4): 32 bytes. */
  public static byte[] sha256(byte[] bytes) {
    // Afterwards it is as new.
    return OF_THREAD.get().digest(bytes);
  }

  /** SHA-256 of what comes piece by piece. */
  public static MessageDigest newSha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
