package dev.bourse.sshkeys;

import dev.bourse.core.ApiException;
import dev.bourse.core.Digests;
import dev.bourse.core.ErrorCode;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * An ssh public key as a tenant registers it: one line {@code type base64 [comment]} whose blob has
 * been parsed to its last byte. The wire formats are those of RFC 4253 section 6.6 (rsa), RFC 5656
 * section 3.1 (ecdsa), RFC 8709 section 4 (ed25519) and OpenSSH's PROTOCOL.u2f (sk-*).
 *
 * @param type the algorithm's ssh name
 * @param blobBase64 the key itself, canonical base64
 * @param comment text after the key, on one line; empty if there is none
 * @param fingerprint {@code SHA256:} and the unpadded base64 digest of the blob, as ssh-keygen
 *     prints it; equal keys have equal fingerprints even if their comments differ
 */
public record SshPublicKey(String type, String blobBase64, String comment, String fingerprint) {
  private static final String FIELD = "public_key";

  private static final List<String> TYPES =
      List.of(
          "ssh-ed25519",
          "ecdsa-sha2-nistp256",
          "ecdsa-sha2-nistp384",
          "ecdsa-sha2-nistp521",
          "ssh-rsa",
          "sk-ssh-ed25519@openssh.com",
          "sk-ecdsa-sha2-nistp256@openssh.com");

  private static final String ACCEPTED =
      "one line 'type base64 [comment]' as in a .pub file, its type one of %s"
          .formatted(String.join(", ", TYPES));

  /** The longest modulus that OpenSSH accepts, which also bounds the line: 2.8 kB and a comment. */
  private static final int MAX_RSA_BITS = 16_384;

  private static final int MIN_RSA_BITS = 2_048;
  private static final int MAX_LINE_CHARS = 4_096;

  /** Longest application name of a security key; OpenSSH's own is {@code ssh:}. */
  private static final int MAX_APPLICATION_BYTES = 256;

  private static final int ED25519_BYTES = 32;

  /** The beginning of a private key of OpenSSH, PEM or PuTTY, with and without its header line. */
  private static final Pattern PRIVATE =
      Pattern.compile("PRIVATE KEY|PuTTY-User-Key-File|b3BlbnNzaC1rZXktdjE");

  /** Text that could be a key type and cannot be key material, so that an error may repeat it. */
  private static final Pattern TYPE_LIKE = Pattern.compile("[a-z0-9@.-]{1,60}");

  /**
   * Parses a public key line; surrounding white space is ignored.
   *
   * @throws ApiException 422 naming the fault; key material is never repeated
   */
  public static SshPublicKey parse(String line) {
    if (PRIVATE.matcher(line).find()) {
      throw ApiException.of(
          ErrorCode.BAD_REQUEST,
          """
          %s: this is a private key; it was not stored, but it has left your machine, so \
          replace it, and send the public key (the .pub file) instead\
          """
              .formatted(FIELD));
    }
    String text = line.strip();
    requireOneLine(text);
    String[] words = text.split(" +", 3);
    String type = words[0];
    if (!TYPES.contains(type)) {
      throw refused(unacceptable(type));
    }
    if (words.length < 2) {
      throw refused("a line with nothing after its type");
    }
    byte[] blob = decode(words[1]);
    new Wire(blob).requireKey(type);
    return new SshPublicKey(type, words[1], words.length == 3 ? words[2] : "", fingerprint(blob));
  }

  /** Returns the canonical line: {@code type base64} and the comment, if there is one. */
  public String line() {
    return comment.isEmpty() ? type + ' ' + blobBase64 : type + ' ' + blobBase64 + ' ' + comment;
  }

  private static void requireOneLine(String text) {
    if (text.length() > MAX_LINE_CHARS) {
      throw ApiException.badField(
          FIELD,
          "a text of " + text.length() + " characters",
          "at most " + MAX_LINE_CHARS + " characters");
    }
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '\n' || c == '\r') {
        throw refused("a text of several lines");
      }
      int kind = Character.getType(c);
      if (kind == Character.CONTROL
          || kind == Character.LINE_SEPARATOR
          || kind == Character.PARAGRAPH_SEPARATOR) {
        throw refused("the control character " + String.format(Locale.ROOT, "U+%04X", (int) c));
      }
    }
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
      throw refused("a text that is not Unicode (half a surrogate pair)");
    }
  }

  private static String unacceptable(String type) {
    if (!TYPE_LIKE.matcher(type).matches()) {
      return "a line with something else before its key type";
    }
    return type.contains("-cert-") ? "the certificate type " + type : type;
  }

  private static byte[] decode(String base64) {
    byte[] blob;
    try {
      blob = Base64.getDecoder().decode(base64);
    } catch (IllegalArgumentException e) {
      throw refused("a key that is not base64");
    }
    // The decoder accepts absent padding and stray low bits, which would give one key two
    // spellings.
    if (!Base64.getEncoder().encodeToString(blob).equals(base64)) {
      throw refused("a key in base64 that is cut short or not canonical");
    }
    return blob;
  }

  private static String fingerprint(byte[] blob) {
    return "SHA256:" + Base64.getEncoder().withoutPadding().encodeToString(Digests.sha256(blob));
  }

  private static ApiException refused(String what) {
    return ApiException.badField(FIELD, what, ACCEPTED);
  }

  /** Parses one key blob, and rejects it at the first invalid byte. */
  private static final class Wire {
    private final ByteBuffer bytes;

    Wire(byte[] blob) {
      bytes = ByteBuffer.wrap(blob);
    }

    /** Parses the whole blob as a key of this type. */
    void requireKey(String type) {
      if (!ascii().equals(type)) {
        throw refused("a key whose inner type differs from the line's type");
      }
      switch (type) {
        case "ssh-ed25519" -> requireLength(ED25519_BYTES);
        case "sk-ssh-ed25519@openssh.com" -> {
          requireLength(ED25519_BYTES);
          requireApplication();
        }
        case "sk-ecdsa-sha2-nistp256@openssh.com" -> {
          requirePoint("nistp256");
          requireApplication();
        }
        case "ssh-rsa" -> requireRsa();
        default -> requirePoint(type.substring("ecdsa-sha2-".length()));
      }
      if (bytes.hasRemaining()) {
        throw refused("a key with " + bytes.remaining() + " bytes after its end");
      }
    }

    private byte[] string() {
      int length = bytes.remaining() < Integer.BYTES ? -1 : bytes.getInt();
      if (length < 0 || length > bytes.remaining()) {
        throw refused("a key that is cut short");
      }
      byte[] value = new byte[length];
      bytes.get(value);
      return value;
    }

    private String ascii() {
      return new String(string(), StandardCharsets.ISO_8859_1);
    }

    private void requireLength(int length) {
      int actual = string().length;
      if (actual != length) {
        throw refused("a key of " + actual + " bytes where its type has " + length);
      }
    }

    /** An uncompressed point of SEC 1 section 2.3.3: 4, then two coordinates. */
    private void requirePoint(String curve) {
      if (!ascii().equals(curve)) {
        throw refused("a key whose curve differs from its type");
      }
      int bits = Integer.parseInt(curve.substring("nistp".length()));
      int length = 1 + 2 * ((bits + 7) / 8);
      byte[] point = string();
      if (point.length != length || point[0] != 4) {
        throw refused("a curve point that is not " + length + " bytes, uncompressed");
      }
    }

    private void requireApplication() {
      String application = ascii();
      if (application.isEmpty()
          || application.length() > MAX_APPLICATION_BYTES
          || !application.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
        throw refused("a security key without a plain application name");
      }
    }

    private void requireRsa() {
      BigInteger exponent = positive();
      BigInteger modulus = positive();
      int bits = modulus.bitLength();
      if (bits < MIN_RSA_BITS || bits > MAX_RSA_BITS) {
        throw ApiException.badField(
            FIELD,
            "an rsa key of " + bits + " bits",
            MIN_RSA_BITS + " to " + MAX_RSA_BITS + " bits, or ssh-ed25519");
      }
      if (!modulus.testBit(0)
          || !exponent.testBit(0)
          || exponent.equals(BigInteger.ONE)
          || exponent.compareTo(modulus) >= 0) {
        throw refused("an rsa key whose exponent or modulus cannot be one");
      }
    }

    /** An mpint of RFC 4251 section 5 that is positive and in its shortest form. */
    private BigInteger positive() {
      byte[] value = string();
      boolean padded = value.length > 1 && value[0] == 0 && value[1] >= 0;
      if (value.length == 0 || value[0] < 0 || padded) {
        throw refused("an rsa key whose numbers are not in canonical form");
      }
      BigInteger number = new BigInteger(value);
      if (number.signum() == 0) {
        throw refused("an rsa key with a zero");
      }
      return number;
    }
  }
}
