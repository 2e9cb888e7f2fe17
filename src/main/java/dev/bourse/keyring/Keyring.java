package dev.bourse.keyring;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/** The secret keys of a process: the first encrypts, and all of them decrypt. Thread-safe. */
public final class Keyring {
  /** A key's length: AES-256. */
  static final int KEY_BYTES = 32;

  /** The nonce length of GCM; random nonces collide only after billions of secrets. */
  private static final int NONCE_BYTES = 12;

  private static final int TAG_BITS = 128;

  /** Separates this digest from other digests of the same key. */
  private static final String ID_LABEL = "bourse secret key id\n";

  private static final int ID_BYTES = 4;

  private final Map<String, SecretKey> keys = new LinkedHashMap<>();
  private final SecureRandom random = new SecureRandom();

  private Keyring(List<byte[]> given) {
    for (byte[] key : given) {
      if (key.length != KEY_BYTES) {
        throw new IllegalArgumentException("a secret key has " + KEY_BYTES + " bytes");
      }
      keys.put(idOf(key), new SecretKeySpec(key, "AES"));
    }
  }

  /** The keyring of a process without a secret key. */
  public static Keyring empty() {
    return new Keyring(List.of());
  }

  /**
   * The keyring of a process with secret keys.
   *
   * @param given of 32 bytes each, the encrypting one first
   */
  public static Keyring of(List<byte[]> given) {
    return new Keyring(given);
  }

  /** A key's id in rows: eight hexadecimal digits that reveal nothing of the key. */
  static String idOf(byte[] key) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(ID_LABEL.getBytes(StandardCharsets.US_ASCII));
      return HexFormat.of().formatHex(digest.digest(key), 0, ID_BYTES);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("SHA-256 is missing from this JDK", e);
    }
  }

  public boolean isEmpty() {
    return keys.isEmpty();
  }

  /** The ids of all keys, the encrypting one first. */
  public Set<String> ids() {
    return Collections.unmodifiableSet(keys.keySet());
  }

  /**
   * The id of the key that encrypts.
   *
   * @throws IllegalStateException when there is none
   */
  public String firstId() {
    if (keys.isEmpty()) {
      throw new IllegalStateException("no secret key is given");
    }
    return keys.keySet().iterator().next();
  }

  /**
   * Encrypts a secret.
   *
   * @param place the table and the row; decryption must name the same
   * @throws IllegalStateException when there is no key
   */
  public Encrypted encrypt(String place, byte[] secret) {
    String id = firstId();
    byte[] nonce = new byte[NONCE_BYTES];
    random.nextBytes(nonce);
    try {
      byte[] encrypted = cipher(Cipher.ENCRYPT_MODE, id, nonce, place).doFinal(secret);
      byte[] whole =
          ByteBuffer.allocate(NONCE_BYTES + encrypted.length).put(nonce).put(encrypted).array();
      return new Encrypted(id, Base64.getEncoder().encodeToString(whole));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("AES-256-GCM is missing from this JDK", e);
    }
  }

  /**
   * Decrypts a secret.
   *
   * @param place the place given at encryption
   * @throws DecryptionException saying why, without any part of the secret
   */
  public byte[] decrypt(String place, Encrypted encrypted) throws DecryptionException {
    if (!keys.containsKey(encrypted.keyId())) {
      throw new DecryptionException(
          "%s is encrypted with secret key %s, which is not given"
              .formatted(place, encrypted.keyId()));
    }
    try {
      byte[] whole = Base64.getDecoder().decode(encrypted.ciphertext());
      if (whole.length < NONCE_BYTES + TAG_BITS / 8) {
        throw new IllegalArgumentException("cut short");
      }
      byte[] nonce = Arrays.copyOf(whole, NONCE_BYTES);
      return cipher(Cipher.DECRYPT_MODE, encrypted.keyId(), nonce, place)
          .doFinal(whole, NONCE_BYTES, whole.length - NONCE_BYTES);
    } catch (AEADBadTagException | IllegalArgumentException altered) {
      throw new DecryptionException(
          "%s is not what was stored there with secret key %s".formatted(place, encrypted.keyId()));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("AES-256-GCM is missing from this JDK", e);
    }
  }

  private Cipher cipher(int mode, String id, byte[] nonce, String place)
      throws GeneralSecurityException {
    Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
    cipher.init(mode, keys.get(id), new GCMParameterSpec(TAG_BITS, nonce));
    cipher.updateAAD(place.getBytes(StandardCharsets.UTF_8));
    return cipher;
  }

  /** Shows only the ids, because no key may reach a log by accident. */
  @Override
  public String toString() {
    return "Keyring" + keys.keySet();
  }
}
