package dev.bourse.trailstream;

import dev.bourse.audit.Chain;
import dev.bourse.delivery.MaskedUrl;
import org.jspecify.annotations.Nullable;

/**
 * Where an organization has its trail sent, and how far that is.
 *
 * @param streamId whose secrets it has; another when it was deleted and made anew
 * @param accessKeyId by whom an object store knows the organization; null for an address
 * @param disabledAtMillis since when nothing is sent; null while it is
 * @param secretVersion which of its secrets is in force
 * @param oldSecretUntilMillis until when the version before signs beside it; null for not at all
 * @param revision goes up with each change by a member, and with each switching off
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

  /** Why nothing is sent. */
  enum Reason {
    /** A member switched it off. */
    SWITCHED_OFF("switched-off"),
    /** The receiver answered 410 Gone. */
    GONE("gone"),
    /** One batch was not taken for as long as it is tried. */
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
   * What the receiver has, and what became of the next batch so far.
   *
   * @param writesBatch the last batch of the writes that it has taken; 0 for none
   * @param readsBatch the same of the reads; null before they were first asked for
   * @param firstTryAtMillis when the next batch was tried first; null before that
   * @param nextTryAtMillis before which nothing is tried
   * @param status of the last answer; null when there was none
   * @param fault what was wrong at the last attempt; null for nothing
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

    /** Nothing was tried yet. */
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

  /** The stream with another secret, beside which the one before signs until a time. */
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

  /** What audit rows tell of it. */
  String shown() {
    return "destination=%s reads=%s enabled=%s"
        .formatted(MaskedUrl.of(destination.text()), includeReads, isEnabled());
  }
}
