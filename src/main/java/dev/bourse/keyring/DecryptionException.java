package dev.bourse.keyring;

/**
 * A ciphertext cannot be decrypted: its key is missing, or it is not the ciphertext stored at its
 * place.
 */
public final class DecryptionException extends Exception {
  private static final long serialVersionUID = 1;

  DecryptionException(String message) {
    super(message);
  }
}
