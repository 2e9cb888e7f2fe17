package dev.bourse.trailstream;

import dev.bourse.audit.Chain;
import dev.bourse.delivery.MaskedUrl;
import org.jspecify.annotations.Nullable;

/**
 * An organization's trail stream and its progress.
 *
 * @param streamId names its secrets; a stream that is deleted and created again has another id
 * @param accessKeyId key id of the organization at an object store; null for an address
 * @param disabledAtMillis when it was switched off; null while it is enabled
 * @param secretVersion version of the valid secret
 * @param oldSecretUntilMillis until when the previous version signs too; null if it does not
 * @param revision increases with each change by a member, and when it is switched off
 */
record TrailStream(
    String orgId,
    String streamId,
    Destination destination,
    @Nullable String accessKeyId,
    boolean includeReads,
    Progress progress,
    @Nullable Long disabledAtMillis,
    @Nullable String disabledReason,
    int secretVersion,
    @Nullable Long oldSecretUntilMillis,
    long revision,
    long createdAtMillis,
    String createdBy) {

  /** The reason why a stream is switched off. */
  enum Reason {
    /** A member switched it off. */
    SWITCHED_OFF("switched-off"),
    /** The receiver answered 410 Gone. */
    GONE("gone"),
    /** One batch failed for the whole retry period. */
    FAILING("failing"),
    /** The member who set its destination was removed. */
    AUTHOR_REMOVED("author-removed");

    private final String label;

    Reason(String label) {
      this.label = label;
    }

    String label() {
      return label;
    }
  }

  /**
   * The progress of the receiver, and the attempts at the next batch.
   *
   * @param writesBatch the last batch of writes that it acknowledged; 0 for none
   * @param readsBatch the same of reads; null before reads were first included
   * @param firstTryAtMillis time of the first attempt at the next batch; null before it
   * @param nextTryAtMillis earliest time of the next attempt
   * @param status of the last answer; null if there was none
   * @param fault of the last attempt; null if it succeeded
   */
  record Progress(
      long writesBatch,
      @Nullable Long readsBatch,
      int tries,
      @Nullable Long firstTryAtMillis,
      @Nullable Long lastTryAtMillis,
      long nextTryAtMillis,
      @Nullable Integer status,
      @Nullable String fault) {

    /** Returns a position without attempts. */
    static Progress at(long writesBatch, @Nullable Long readsBatch, long nowMillis) {
      return new Progress(writesBatch, readsBatch, 0, null, null, nowMillis, null, null);
    }

    long batch(boolean isRead) {
      return isRead ? readsBatch == null ? 0 : readsBatch : writesBatch;
    }
  }

  boolean isEnabled() {
    return disabledAtMillis == null;
  }

  Chain chain(boolean isRead) {
    return new Chain(orgId, isRead);
  }

  /** Returns the stream with another secret; the previous one signs too until a time. */
  TrailStream withSecret(int version, @Nullable Long oldUntilMillis) {
    return new TrailStream(
        orgId,
        streamId,
        destination,
        accessKeyId,
        includeReads,
        progress,
        disabledAtMillis,
        disabledReason,
        version,
        oldUntilMillis,
        revision + 1,
        createdAtMillis,
        createdBy);
  }

  /** Returns the description for audit rows. */
  String shown() {
    return "destination=%s reads=%s enabled=%s"
        .formatted(MaskedUrl.of(destination.text()), includeReads, isEnabled());
  }
}
