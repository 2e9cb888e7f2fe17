package dev.bourse.uploads;

import dev.bourse.blob.Inspector;
import dev.bourse.checkpoint.ConflictReason;
import dev.bourse.core.ApiException;
import dev.bourse.core.Digests;
import dev.bourse.secrets.SecretScan;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Inspects every byte of an upload once: computes its digest, scans for credentials and keeps its
 * first bytes.
 */
final class Inspection implements Inspector {
  /** Enough for every signature that the review's automated check knows. */
  static final int BEGINNING = 4096;

  private final MessageDigest digest = Digests.newSha256();
  private final SecretScan scan;
  private final byte[] beginning = new byte[BEGINNING];
  private int begun;
  private String sha256 = "";

  Inspection(String fileName) {
    this.scan = new SecretScan(fileName);
  }

  /** The upload contains a credential. */
  static final class SecretFoundException extends RuntimeException {
    private final transient SecretScan.Finding finding;

    SecretFoundException(SecretScan.Finding finding) {
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
   * Returns the digest of all bytes, in hex; no more may follow.
   *
   * @throws SecretFoundException if the last bytes contained a credential
   */
  String end() {
    reject(scan.end());
    if (sha256.isEmpty()) {
      sha256 = HexFormat.of().formatHex(digest.digest());
    }
    return sha256;
  }

  /** Returns the first bytes. */
  byte[] beginning() {
    return Arrays.copyOf(beginning, begun);
  }

  private static void reject(Optional<SecretScan.Finding> finding) {
    if (finding.isPresent()) {
      throw new SecretFoundException(finding.get());
    }
  }

  /**
   * Rejects bytes whose digest differs from the announced one.
   *
   * @param announced null if none was announced
   */
  static void requireDigest(@Nullable String announced, String sha256) {
    Optional<ApiException> refusal = refusal(announced, sha256);
    if (refusal.isPresent()) {
      throw refusal.get();
    }
  }

  /** Returns the error; empty if the digest is the announced one. */
  static Optional<ApiException> refusal(@Nullable String announced, String sha256) {
    return announced == null || announced.equals(sha256)
        ? Optional.empty()
        : Optional.of(
            ConflictReason.SHA_MISMATCH.of(
                "the bytes have SHA-256 %s, not %s; nothing was kept", sha256, announced));
  }
}
