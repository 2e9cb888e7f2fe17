package dev.bourse.trailstream;

import dev.bourse.audit.Chain;
import dev.bourse.delivery.AttemptHistory;
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

  /**
   * The progress of the receiver.
   *
   * @param writesBatch the last batch of writes that it acknowledged; 0 for none
   * @param readsBatch the same of reads; null before reads were first included
   * @param attempts the attempts at the next batch
   */
  record Progress(long writesBatch, @Nullable Long readsBatch, AttemptHistory attempts) {

    /** Returns a position without attempts. */
    static Progress at(long writesBatch, @Nullable Long readsBatch, long nowMillis) {
      return new Progress(writesBatch, readsBatch, AttemptHistory.none(nowMillis));
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
