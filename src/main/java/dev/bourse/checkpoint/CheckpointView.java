package dev.bourse.checkpoint;

import dev.bourse.access.Principal;
import dev.bourse.core.Page;
import dev.bourse.schemas.checkpoints.CheckpointJson;
import dev.bourse.schemas.checkpoints.PublicCheckpointJson;
import dev.bourse.schemas.checkpoints.PublicCheckpointPageJson;
import dev.bourse.schemas.checkpoints.PublishedRevisionJson;
import dev.bourse.schemas.checkpoints.RevisionListJson;
import dev.bourse.schemas.checkpoints.UrlsJson;
import dev.bourse.schemas.common.PublisherJson;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Formats checkpoints as JSON. */
public final class CheckpointView {
  private static final String FAMILY = "/api/checkpoints/";

  /** Default page size. */
  public static final long USUAL_ITEMS = 50;

  private static final long MOST_ITEMS = 100;

  private CheckpointView() {}

  /**
   * Formats an item as its organization sees it.
   *
   * @param caller the reader: a member, or an organization's token
   */
  public static CheckpointJson own(CheckpointStore.Listed listed, Principal caller) {
    Checkpoint item = listed.item();
    Revision shown = item.shown();
    String member = caller.memberId();
    boolean isCreator = member != null && item.isBy(member);
    PublicCheckpointJson common = metadata(listed, shown);
    return new CheckpointJson(
        common.id(),
        common.title(),
        common.description(),
        common.filename(),
        common.contentType(),
        common.bytes(),
        common.sha256(),
        common.visibility(),
        common.status(),
        common.statusDetail(),
        common.publisher(),
        common.revision(),
        common.publishedAtMillis(),
        common.createdAtMillis(),
        common.files(),
        common.totalBytes(),
        urls(FAMILY + item.id()),
        isCreator && caller.publishingCredential() == null,
        isCreator ? shown.rejectionReason() : null);
  }

  /** Formats items as {@link #own} does. */
  public static List<CheckpointJson> own(Page<CheckpointStore.Listed> page, Principal caller) {
    return page.items().stream().map(listed -> own(listed, caller)).toList();
  }

  /** Formats an item of the public feed. */
  public static PublicCheckpointJson feed(CheckpointStore.Listed listed) {
    return metadata(listed, live(listed.item()));
  }

  /** Formats a page of the public feed. */
  public static PublicCheckpointPageJson feedPage(Page<CheckpointStore.Listed> page) {
    return new PublicCheckpointPageJson(
        page.items().stream().map(CheckpointView::feed).toList(),
        page.more(),
        page.next(listed -> feedCursor(listed.item())));
  }

  /** Returns the public revision of an item on the feed. */
  public static Revision live(Checkpoint item) {
    Revision live = item.live();
    if (live == null) {
      throw new IllegalStateException("checkpoint " + item.id() + " is not on the feed");
    }
    return live;
  }

  /** Returns true if a revision of it is on the public feed. */
  public static boolean isOnFeed(Checkpoint item) {
    return item.visibility() == Visibility.PUBLIC && item.live() != null;
  }

  /** Returns the cursor of the next page of an owner's list; null on the last page. */
  public static @Nullable String next(Page<CheckpointStore.Listed> page) {
    return page.next(listed -> cursor(listed.item()));
  }

  /** Returns the cursor of the page after an item in its owner's list. */
  public static String cursor(Checkpoint item) {
    return new CheckpointStore.Cursor(item.changedAtMillis(), item.id()).text();
  }

  private static String feedCursor(Checkpoint item) {
    Long published = live(item).publishedAtMillis();
    return new CheckpointStore.Cursor(published == null ? 0 : published, item.id()).text();
  }

  /** Formats one revision of an item, with its addresses on the public feed. */
  public static PublicCheckpointJson metadata(CheckpointStore.Listed listed, Revision shown) {
    Checkpoint item = listed.item();
    Metadata metadata = shown.metadata();
    return new PublicCheckpointJson(
        item.id(),
        metadata.title(),
        metadata.description(),
        metadata.fileName(),
        metadata.contentType(),
        listed.contentBytes(shown),
        shown.sha256() != null ? shown.sha256() : metadata.sha256(),
        item.visibility().label(),
        shown.state().label(),
        words(shown.state()),
        publisher(listed),
        shown.number(),
        shown.publishedAtMillis(),
        item.createdAtMillis(),
        metadata.isSet() ? metadata.files() : null,
        metadata.isSet() ? metadata.bytes() : null,
        urls(FAMILY + "public/" + item.id()));
  }

  /** Formats the published revisions of an item; only its creator may replace it. */
  static RevisionListJson history(CheckpointService.History history) {
    return new RevisionListJson(
        history.revisions().stream()
            .map(
                entry ->
                    new PublishedRevisionJson(
                        entry.revision(),
                        entry.publishedAtMillis(),
                        history.item().creator(),
                        entry.credentialId(),
                        entry.bytes(),
                        entry.sha256(),
                        entry.files() > 0 ? entry.files() : null))
            .toList());
  }

  private static String words(Revision.State state) {
    return switch (state) {
      case PENDING -> "Waiting for its bytes";
      case EXPIRED -> "Its bytes did not come in time";
      case REVIEW -> "Under review";
      case READY -> "Published";
      case REJECTED -> "Rejected in review";
    };
  }

  private static PublisherJson publisher(CheckpointStore.Listed listed) {
    Checkpoint item = listed.item();
    return item.isPlatform()
        ? new PublisherJson(null, null, item.publisherName())
        : new PublisherJson(listed.orgDisplay(), item.creator(), null);
  }

  private static UrlsJson urls(String path) {
    return new UrlsJson(path + "/content", path + "/content?download=1");
  }

  /** Clamps a page size to 1 to 100. */
  public static int limit(long asked) {
    return (int) Math.max(1, Math.min(MOST_ITEMS, asked));
  }
}
