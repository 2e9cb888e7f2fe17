package dev.bourse.checkpoint;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Text;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A published file through all its editions. Immutable; each transition gives the next state or
 * refuses with an {@link ApiError}.
 *
 * <p>It has up to three revisions at a time: the <em>draft</em>, whose bytes are awaited; the
 * <em>head</em>, the newest whose bytes are there, which the organization reads; and the
 * <em>live</em> one, which everybody the item is for reads. For an organization's own item head and
 * live are one; a public item's live revision stays until its successor passes review.
 *
 * @param orgId the organization it belongs to; {@link #PLATFORM} for the platform's documents
 * @param fileName with organization and visibility, its place
 * @param creator the member's username; the operator's label for platform documents
 * @param creatorId the id of its owner, who alone may replace and delete it; null once that member
 *     is gone
 * @param publisherName who the platform's document is by; null for an organization's
 * @param changedAtMillis when it was last published or replaced; lists are ordered by it
 * @param lastRevision the highest number any of its revisions ever had
 * @param version the store's guard, raised by every stored change
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
  /** Stands for the platform where an organization's id would. */
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

  /** An item whose first bytes are awaited. */
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

  /** Whether it is one of the platform's documents. */
  public boolean isPlatform() {
    return orgId.equals(PLATFORM);
  }

  public boolean isBy(String memberId) {
    return !isPlatform() && memberId.equals(creatorId);
  }

  /** What its organization is shown: the newest complete revision, else the one awaited. */
  public Revision shown() {
    Revision complete = head != null ? head : live;
    return complete != null ? complete : draftOrFail();
  }

  private Revision draftOrFail() {
    if (draft == null) {
      throw new IllegalStateException("checkpoint " + id + " has no revision");
    }
    return draft;
  }

  /** Whether nothing of it ever arrived and nothing can any more. */
  boolean isDead(long nowMillis) {
    return head == null && live == null && draftOrFail().isLate(nowMillis);
  }

  /** Its revisions, each once. */
  List<Revision> revisions() {
    Map<Integer, Revision> all = new LinkedHashMap<>();
    for (Revision revision : new @Nullable Revision[] {draft, head, live}) {
      if (revision != null) {
        all.put(revision.number(), revision);
      }
    }
    return List.copyOf(all.values());
  }

  /** How many bytes it takes of its organization's storage. */
  long heldBytes() {
    return revisions().stream()
        .filter(Revision::isHeld)
        .mapToLong(revision -> revision.metadata().bytes())
        .sum();
  }

  /** The item with a new edition announced; an earlier one that is not complete is given up. */
  Checkpoint redrafted(Revision next) {
    if (next.number() != lastRevision + 1) {
      throw new IllegalArgumentException("revision " + next.number() + " follows " + lastRevision);
    }
    return with(fileName, changedAtMillis, next.number(), next, head, live);
  }

  /**
   * The draft of this number, still awaited.
   *
   * @throws ApiError {@code conflict} when it is complete, given up or too late
   */
  Revision awaited(int number, long nowMillis) {
    Revision awaited = draft;
    if (awaited == null || awaited.number() != number || awaited.isLate(nowMillis)) {
      throw ConflictReason.NOT_PENDING.of("revision %s of %s awaits no bytes", number, id);
    }
    return awaited;
  }

  /** The draft's bytes are complete and durable under the name that their digest gives. */
  Checkpoint arrived(int number, String sha256, List<String> findings, long nowMillis) {
    Revision arrived = awaited(number, nowMillis).arrived(sha256, findings);
    return with(fileName, changedAtMillis, lastRevision, arrived, head, live);
  }

  /**
   * The draft becomes the head: readable at once for an organization's own item and the platform's
   * documents, after review for a public one.
   *
   * @param reviewId names the review, when one is needed
   * @param findings what the automated check noticed
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

  /** The item without its draft; empty when it had nothing else. */
  Optional<Checkpoint> withoutDraft() {
    return head == null && live == null
        ? Optional.empty()
        : Optional.of(with(fileName, changedAtMillis, lastRevision, null, head, live));
  }

  /** The time for the draft's bytes is over; a note of it stays. */
  Checkpoint expired() {
    return with(fileName, changedAtMillis, lastRevision, draftOrFail().expired(), head, live);
  }

  /** The revision under this review goes on the public feed, in the place of the one before. */
  Checkpoint approved(String reviewId, long nowMillis) {
    Revision reviewed = underReview(reviewId);
    Revision next = reviewed.ready(String.valueOf(reviewed.sha256()), nowMillis);
    return with(fileName, changedAtMillis, lastRevision, draft, next, next);
  }

  /** The revision under this review stays with the organization; the feed stays as it is. */
  Checkpoint rejected(String reviewId, String reason) {
    Revision next = underReview(reviewId).rejected(reason);
    return with(fileName, changedAtMillis, lastRevision, draft, next, live);
  }

  private Revision underReview(String reviewId) {
    Revision reviewed = head;
    if (reviewed == null || !reviewId.equals(reviewed.reviewId())) {
      throw ApiError.notFound("review", reviewId);
    }
    if (reviewed.state() != Revision.State.REVIEW) {
      throw ConflictReason.WRONG_STATUS.of(
          "review %s is decided: %s", reviewId, reviewed.state().label());
    }
    return reviewed;
  }

  /**
   * The answer about an item that is not the caller's, was deleted or never existed: it is always
   * the same.
   */
  static ApiError gone(String id) {
    return ApiError.of(ErrorCode.GONE, "no checkpoint '" + Text.shown(id) + "' of yours");
  }

  /** The answer about an item that this owner does not have. */
  static ApiError unknown(String orgId, String id) {
    return orgId.equals(PLATFORM) ? ApiError.notFound("document", id) : gone(id);
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

  /** The same, with these for its revisions. */
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
