package dev.bourse.checkpoint;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One edition of a checkpoint: its metadata, and its bytes once those have arrived.
 *
 * @param number 1 for the first; never used again for the same item
 * @param resumable whether its bytes come in a session, else in one direct request
 * @param sessionSha256 the digest of its session's secret, null for a direct upload
 * @param expiresAtMillis until when its bytes may arrive
 * @param sha256 the digest of the bytes that arrived, in hex; null before that
 * @param publishedAtMillis since when it is what readers get; null before
 * @param reviewId names its review; null when it needs none or its bytes are not there
 * @param findings what the automated check noticed, for whoever reviews
 * @param rejectionReason why it was rejected; null unless it was
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
    @Nullable String rejectionReason) {

  /** How far a revision has come. */
  public enum State {
    /** Its bytes are awaited. */
    PENDING,
    /** Its bytes did not arrive in time; nothing is kept but this note. */
    EXPIRED,
    /** Public and complete, waiting for somebody's decision; its organization reads it. */
    REVIEW,
    /** Readers get it. */
    READY,
    /** Public and refused; its organization reads it. */
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

  /** Whether it counts against the organization's storage: reserved at first, used later. */
  boolean isHeld() {
    return state != State.EXPIRED;
  }

  /** Whether its bytes may no longer arrive. */
  public boolean isLate(long nowMillis) {
    return state == State.EXPIRED || (state == State.PENDING && nowMillis >= expiresAtMillis);
  }

  Revision expired() {
    return with(State.EXPIRED, null, null, null, List.of(), null);
  }

  /** The same, its bytes complete and known but not yet readable. */
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
        reason);
  }
}
