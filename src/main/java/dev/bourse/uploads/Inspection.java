package dev.bourse.uploads;

import dev.bourse.blob.Inspector;
import dev.bourse.checkpoint.ConflictReason;
import dev.bourse.core.ApiError;
import dev.bourse.core.Digests;
import dev.bourse.secrets.SecretScan;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Sees every byte of an upload once: its digest, whether it holds a credential, and how it begins.
 */
final class Inspection implements Inspector {
  /** Enough for every signature the review's automated check knows. */
  static final int BEGINNING = 4096;

  private final MessageDigest digest = Digests.newSha256();
  private final SecretScan scan;
  private final byte[] beginning = new byte[BEGINNING];
  private int begun;
  private String sha256 = "";

  Inspection(String fileName) {
    this.scan = new SecretScan(fileName);
  }

  /** The upload holds a credential; says which rule found it and where. */
  static final class SecretFound extends RuntimeException {
    private final transient SecretScan.Finding finding;

    SecretFound(SecretScan.Finding finding) {
      super("a credential was found", null, false, false);
      this.finding = finding;
    }

    SecretScan.Finding finding() {
      return finding;
    }
  }

  @Override
  public void inspect(byte[] bytes, int from, int to) {
    reject(scan.inspect(bytes, from, to));
    digest.update(bytes, from, to - from);
    int length = Math.min(to - from, BEGINNING - begun);
    System.arraycopy(bytes, from, beginning, begun, length);
    begun += length;
  }

  /**
   * The digest of all bytes, in hex; no more may come.
   *
   * @throws SecretFound when the last bytes held one
   */
  String end() {
    reject(scan.end());
    if (sha256.isEmpty()) {
      sha256 = HexFormat.of().formatHex(digest.digest());
    }
    return sha256;
  }

  /** The first bytes. */
  byte[] beginning() {
    return Arrays.copyOf(beginning, begun);
  }

  private static void reject(Optional<SecretScan.Finding> finding) {
    if (finding.isPresent()) {
      throw new SecretFound(finding.get());
    }
  }

  /**
   * Refuses bytes that have another digest than their sender says.
   *
   * @param announced null when nothing was said
   */
  static void requireDigest(@Nullable String announced, String sha256) {
    Optional<ApiError> refusal = refusal(announced, sha256);
    if (refusal.isPresent()) {
      throw refusal.get();
    }
  }

  /** The same as an answer; empty for bytes that are as announced. */
  static Optional<ApiError> refusal(@Nullable String announced, String sha256) {
    return announced == null || announced.equals(sha256)
        ? Optional.empty()
        : Optional.of(
            ConflictReason.SHA_MISMATCH.of(
                "the bytes have SHA-256 %s, not %s; nothing was kept", sha256, announced));
  }
}
