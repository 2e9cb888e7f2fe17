package dev.bourse.checkpoint;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One revision of a checkpoint: its metadata, and its bytes after they arrived.
 *
 * @param number 1 for the first; never reused for the same item
 * @param resumable true if its bytes are sent in a session, false if in one direct request
 * @param sessionSha256 the digest of its session's secret, null for a direct upload
 * @param expiresAtMillis until when its bytes may arrive
 * @param sha256 the digest of the bytes that arrived, in hex; null before that
 * @param publishedAtMillis when it became readable; null before
 * @param reviewId names its review; null if it needs none or its bytes have not arrived
 * @param findings remarks of the automated check, for the reviewer
 * @param rejectionReason why it was rejected; null unless it was
 * @param credentialId the publishing credential that announced it; null if the member did in person
 */
public record Revision(
    int number,
    State state,
    Metadata metadata,
    boolean resumable,
    @Nullable String sessionSha256,
    long createdAtMillis,
    long expiresAtMillis,
    @Nullable String sha256,
    @Nullable Long publishedAtMillis,
    @Nullable String reviewId,
    List<String> findings,
    @Nullable String rejectionReason,
    @Nullable String credentialId) {

  /** The state of a revision. */
  public enum State {
    /** Its bytes have not arrived. */
    PENDING,
    /** Its bytes did not arrive in time; only this record is kept. */
    EXPIRED,
    /** Public and complete, waiting for a decision; its organization reads it. */
    REVIEW,
    /** Readable by its audience. */
    READY,
    /** Public and rejected; its organization reads it. */
    REJECTED;

    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }

    static State of(String label) {
      return valueOf(label.toUpperCase(Locale.ROOT));
    }
  }

  public Revision {
    if (number < 1) {
      throw new IllegalArgumentException("revision " + number + "; the first is 1");
    }
    findings = List.copyOf(findings);
  }

  /** Returns true if it counts against the organization's storage, reserved or used. */
  boolean isHeld() {
    return state != State.EXPIRED;
  }

  /** Returns true if its bytes are not published yet. */
  boolean isAwaited() {
    return state == State.PENDING;
  }

  /** Returns true if its bytes may no longer arrive. */
  public boolean isLate(long nowMillis) {
    return state == State.EXPIRED || (state == State.PENDING && nowMillis >= expiresAtMillis);
  }

  Revision expired() {
    return with(State.EXPIRED, null, null, null, List.of(), null);
  }

  /** Returns the revision with complete bytes that are not yet readable. */
  Revision arrived(String digest, List<String> found) {
    return with(State.PENDING, digest, null, null, found, null);
  }

  Revision ready(String digest, long nowMillis) {
    return with(State.READY, digest, nowMillis, reviewId, findings, null);
  }

  Revision inReview(String digest, String review, List<String> found) {
    return with(State.REVIEW, digest, null, review, found, null);
  }

  Revision rejected(String reason) {
    return with(State.REJECTED, sha256, null, reviewId, findings, reason);
  }

  private Revision with(
      State next,
      @Nullable String digest,
      @Nullable Long publishedAt,
      @Nullable String review,
      List<String> found,
      @Nullable String reason) {
    return new Revision(
        number,
        next,
        metadata,
        resumable,
        sessionSha256,
        createdAtMillis,
        expiresAtMillis,
        digest,
        publishedAt,
        review,
        found,
        reason,
        credentialId);
  }
}
