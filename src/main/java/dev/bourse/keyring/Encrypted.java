package dev.bourse.keyring;

/**
 * What may be stored of a secret.
 *
 * @param keyId tells which key it was encrypted with, {@link Keyring#idOf}
 * @param ciphertext nonce, encrypted bytes and tag, in base64
 */
public record Encrypted(String keyId, String ciphertext) {}
