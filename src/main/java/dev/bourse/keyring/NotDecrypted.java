package dev.bourse.keyring;

/** A ciphertext is of a key that is not given, or not the one that was stored in its place. */
public final class NotDecrypted extends Exception {
  private static final long serialVersionUID = 1;

  NotDecrypted(String message) {
    super(message);
  }
}
