package dev.bourse.keyring;

/**
 * The stored form of a secret.
 *
 * @param keyId identifies the key it was encrypted with, {@link Keyring#idOf}
 * @param ciphertext nonce, encrypted bytes and tag, in base64
 */
public record Encrypted(String keyId, String ciphertext) {}
