package dev.bourse.checkpoint;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Text;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A published file with its revisions. Immutable; each transition returns the next state or throws
 * an {@link ApiException}.
 *
 * <p>It has up to three revisions at a time: the <em>draft</em>, whose bytes have not arrived; the
 * <em>head</em>, the newest complete revision, which the organization reads; and the <em>live</em>
 * one, which the item's audience reads. An organization's own item has the same head and live
 * revision; a public item's live revision stays until its successor passes review.
 *
 * @param orgId the organization it belongs to; {@link #PLATFORM} for the platform's documents
 * @param fileName unique with organization and visibility (its place)
 * @param creator the member's username; the operator's label for platform documents
 * @param creatorId the id of its owner, who alone may replace and delete it; null after that member
 *     is removed
 * @param publisherName the author shown for a platform document; null for an organization's item
 * @param changedAtMillis when it was last published or replaced; lists are ordered by it
 * @param lastRevision the highest number that any of its revisions ever had
 * @param version the store's guard, increased by every stored change
 */
public record Checkpoint(
    String id,
    String orgId,
    Visibility visibility,
    String fileName,
    String creator,
    @Nullable String creatorId,
    @Nullable String publisherName,
    long createdAtMillis,
    long changedAtMillis,
    int lastRevision,
    long version,
    @Nullable Revision draft,
    @Nullable Revision head,
    @Nullable Revision live) {
  /** Stands for the platform in place of an organization's id. */
  public static final String PLATFORM = "";

  public Checkpoint {
    if (draft == null && head == null && live == null) {
      throw new IllegalArgumentException("checkpoint " + id + " has no revision");
    }
    if (lastRevision < 1 || version < 1) {
      throw new IllegalArgumentException(
          "checkpoint %s has last revision %s and version %s; both begin at 1"
              .formatted(id, lastRevision, version));
    }
  }

  /** Creates an item with a draft only. */
  static Checkpoint create(
      String id,
      String orgId,
      Visibility visibility,
      String creator,
      String creatorId,
      @Nullable String publisherName,
      Revision draft) {
    return new Checkpoint(
        id,
        orgId,
        visibility,
        draft.metadata().fileName(),
        creator,
        creatorId,
        publisherName,
        draft.createdAtMillis(),
        draft.createdAtMillis(),
        draft.number(),
        1,
        draft,
        null,
        null);
  }

  /** Returns true for one of the platform's documents. */
  public boolean isPlatform() {
    return orgId.equals(PLATFORM);
  }

  public boolean isBy(String memberId) {
    return !isPlatform() && memberId.equals(creatorId);
  }

  /**
   * Returns the revision that its organization sees: the newest complete one, or else the draft.
   */
  public Revision shown() {
    Revision complete = head != null ? head : live;
    return complete != null ? complete : draftOrFail();
  }

  /** Returns the revision announced last: the draft, or else the newest complete one. */
  Revision newest() {
    return draft != null ? draft : shown();
  }

  private Revision draftOrFail() {
    if (draft == null) {
      throw new IllegalStateException("checkpoint " + id + " has no revision");
    }
    return draft;
  }

  /** Returns true if no bytes ever arrived and none may arrive any more. */
  boolean isDead(long nowMillis) {
    return head == null && live == null && draftOrFail().isLate(nowMillis);
  }

  /** Returns its revisions, without duplicates. */
  List<Revision> revisions() {
    Map<Integer, Revision> all = new LinkedHashMap<>();
    for (Revision revision : new @Nullable Revision[] {draft, head, live}) {
      if (revision != null) {
        all.put(revision.number(), revision);
      }
    }
    return List.copyOf(all.values());
  }

  /** Returns the bytes of its organization's storage that it occupies. */
  long heldBytes() {
    return revisions().stream()
        .filter(Revision::isHeld)
        .mapToLong(revision -> revision.metadata().bytes())
        .sum();
  }

  /** Returns the item with a new draft; an earlier draft is discarded. */
  Checkpoint redrafted(Revision next) {
    if (next.number() != lastRevision + 1) {
      throw new IllegalArgumentException("revision " + next.number() + " follows " + lastRevision);
    }
    return with(fileName, changedAtMillis, next.number(), next, head, live);
  }

  /**
   * Returns the draft of this number.
   *
   * @throws ApiException {@code conflict} if it is complete, discarded or expired
   */
  Revision awaited(int number, long nowMillis) {
    Revision awaited = draft;
    if (awaited == null || awaited.number() != number || awaited.isLate(nowMillis)) {
      throw ConflictReason.NOT_PENDING.of("revision %s of %s accepts no more bytes", number, id);
    }
    return awaited;
  }

  /** Returns the item after the draft's bytes were stored under the name of their digest. */
  Checkpoint arrived(int number, String sha256, List<String> findings, long nowMillis) {
    Revision arrived = awaited(number, nowMillis).arrived(sha256, findings);
    return with(fileName, changedAtMillis, lastRevision, arrived, head, live);
  }

  /**
   * Returns the item with the draft as its head: readable at once for an organization's own item
   * and the platform's documents, after review for a public one.
   *
   * @param reviewId names the review, if one is needed
   * @param findings remarks of the automated check
   */
  Checkpoint published(
      int number, String sha256, String reviewId, List<String> findings, long nowMillis) {
    Revision published = awaited(number, nowMillis);
    String name = published.metadata().fileName();
    if (needsReview()) {
      Revision next = published.inReview(sha256, reviewId, findings);
      return with(name, nowMillis, lastRevision, null, next, live);
    }
    Revision next = published.ready(sha256, nowMillis);
    return with(name, nowMillis, lastRevision, null, next, next);
  }

  boolean needsReview() {
    return visibility == Visibility.PUBLIC && !isPlatform();
  }

  /** Returns the item without its draft; empty if it has no other revision. */
  Optional<Checkpoint> withoutDraft() {
    return head == null && live == null
        ? Optional.empty()
        : Optional.of(with(fileName, changedAtMillis, lastRevision, null, head, live));
  }

  /** Returns the item with its draft expired; the expired draft is kept for information. */
  Checkpoint expired() {
    return with(fileName, changedAtMillis, lastRevision, draftOrFail().expired(), head, live);
  }

  /** Returns the item with the revision under this review live, in place of the previous one. */
  Checkpoint approved(String reviewId, long nowMillis) {
    Revision reviewed = underReview(reviewId);
    Revision next = reviewed.ready(String.valueOf(reviewed.sha256()), nowMillis);
    return with(fileName, changedAtMillis, lastRevision, draft, next, next);
  }

  /**
   * Returns the item with the revision under this review rejected: the organization keeps it, and
   * the feed is unchanged.
   */
  Checkpoint rejected(String reviewId, String reason) {
    Revision next = underReview(reviewId).rejected(reason);
    return with(fileName, changedAtMillis, lastRevision, draft, next, live);
  }

  private Revision underReview(String reviewId) {
    Revision reviewed = head;
    if (reviewed == null || !reviewId.equals(reviewed.reviewId())) {
      throw ApiException.notFound("review", reviewId);
    }
    if (reviewed.state() != Revision.State.REVIEW) {
      throw ConflictReason.WRONG_STATUS.of(
          "review %s is decided: %s", reviewId, reviewed.state().label());
    }
    return reviewed;
  }

  /**
   * The error for an item that is not the caller's, was deleted or never existed; identical in all
   * three cases.
   */
  static ApiException gone(String id) {
    return ApiException.of(ErrorCode.GONE, "no checkpoint '" + Text.shown(id) + "' of yours");
  }

  /** The error for an item that this owner does not have. */
  static ApiException unknown(String orgId, String id) {
    return orgId.equals(PLATFORM) ? ApiException.notFound("document", id) : gone(id);
  }

  private Checkpoint with(
      String name,
      long changedAt,
      int last,
      @Nullable Revision nextDraft,
      @Nullable Revision nextHead,
      @Nullable Revision nextLive) {
    return with(name, changedAt, last, version + 1, nextDraft, nextHead, nextLive);
  }

  /** Returns the item with other revisions, for reads of the store. */
  Checkpoint withRevisions(
      @Nullable Revision itsDraft, @Nullable Revision itsHead, @Nullable Revision itsLive) {
    return with(fileName, changedAtMillis, lastRevision, version, itsDraft, itsHead, itsLive);
  }

  private Checkpoint with(
      String name,
      long changedAt,
      int last,
      long nextVersion,
      @Nullable Revision nextDraft,
      @Nullable Revision nextHead,
      @Nullable Revision nextLive) {
    return new Checkpoint(
        id,
        orgId,
        visibility,
        name,
        creator,
        creatorId,
        publisherName,
        createdAtMillis,
        changedAt,
        last,
        nextVersion,
        nextDraft,
        nextHead,
        nextLive);
  }
}
