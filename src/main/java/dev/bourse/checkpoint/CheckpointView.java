package dev.bourse.checkpoint;

import dev.bourse.access.Principal;
import dev.bourse.core.Page;
import dev.bourse.core.Times;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.function.Function;
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
  public static JsonObject own(CheckpointStore.Listed listed, Principal caller) {
    Checkpoint item = listed.item();
    Revision shown = item.shown();
    String member = caller.memberId();
    boolean isCreator = member != null && item.isBy(member);
    JsonObject json =
        metadata(listed, shown)
            .put("urls", urls(FAMILY + item.id()))
            .put("can_delete", isCreator && caller.publishingCredential() == null);
    String reason = shown.rejectionReason();
    return isCreator && reason != null ? json.put("rejection_reason", reason) : json;
  }

  /** Formats an item of the public feed. */
  public static JsonObject feed(CheckpointStore.Listed listed) {
    Checkpoint item = listed.item();
    return metadata(listed, live(item)).put("urls", urls(FAMILY + "public/" + item.id()));
  }

  /** Formats a page of the public feed. */
  public static JsonObject feedPage(Page<CheckpointStore.Listed> page) {
    return page(page, CheckpointView::feed, CheckpointView::feedTime);
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

  /** Returns the cursor of the page after an item, in a list of its owner's. */
  public static String cursor(Checkpoint item) {
    return new CheckpointStore.Cursor(item.changedAtMillis(), item.id()).text();
  }

  /** Formats one revision of an item. */
  public static JsonObject metadata(CheckpointStore.Listed listed, Revision shown) {
    Checkpoint item = listed.item();
    Metadata metadata = shown.metadata();
    String sha256 = shown.sha256() != null ? shown.sha256() : metadata.sha256();
    JsonObject json =
        new JsonObject()
            .put("id", item.id())
            .put("title", metadata.title())
            .put("description", metadata.description())
            .put("filename", metadata.fileName())
            .put("content_type", metadata.contentType())
            .put("bytes", listed.contentBytes(shown))
            .put("sha256", sha256)
            .put("visibility", item.visibility().label())
            .put("status", shown.state().label())
            .put("status_detail", words(shown.state()))
            .put("publisher", publisher(listed))
            .put("revision", shown.number())
            .put("published_at", Times.rfc3339OrNull(shown.publishedAtMillis()))
            .put("created_at", Times.rfc3339(item.createdAtMillis()));
    return metadata.isSet()
        ? json.put("files", metadata.files()).put("total_bytes", metadata.bytes())
        : json;
  }

  /** Formats the published revisions of an item; only its creator may replace it. */
  static JsonObject history(CheckpointService.History history) {
    JsonArray revisions = new JsonArray();
    for (RevisionHistory.Entry entry : history.revisions()) {
      JsonObject json =
          new JsonObject()
              .put("revision", entry.revision())
              .put("published_at", Times.rfc3339(entry.publishedAtMillis()))
              .put("username", history.item().creator())
              .put("credential_id", entry.credentialId())
              .put("bytes", entry.bytes())
              .put("sha256", entry.sha256());
      revisions.add(entry.files() > 0 ? json.put("files", entry.files()) : json);
    }
    return new JsonObject().put("revisions", revisions);
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

  private static JsonObject publisher(CheckpointStore.Listed listed) {
    Checkpoint item = listed.item();
    return item.isPlatform()
        ? new JsonObject().put("name", item.publisherName())
        : new JsonObject().put("org_display", listed.orgDisplay()).put("username", item.creator());
  }

  private static JsonObject urls(String path) {
    return new JsonObject()
        .put("content", path + "/content")
        .put("download", path + "/content?download=1");
  }

  /**
   * Formats a page of items.
   *
   * @param time the time that the list is ordered by
   */
  static JsonObject page(
      Page<CheckpointStore.Listed> page,
      Function<CheckpointStore.Listed, JsonObject> view,
      Function<Checkpoint, Long> time) {
    JsonArray items = new JsonArray();
    page.items().forEach(listed -> items.add(view.apply(listed)));
    return new JsonObject()
        .put("checkpoints", items)
        .put("more", page.more())
        .put("cursor", cursor(page, time));
  }

  /**
   * Formats a page of an organization's items.
   *
   * @param caller the reader: a member, or an organization's token
   */
  public static JsonObject ofOrg(Page<CheckpointStore.Listed> page, Principal caller) {
    return page(page, listed -> own(listed, caller), Checkpoint::changedAtMillis);
  }

  /** Clamps a page size to 1 to 100. */
  public static int limit(long asked) {
    return (int) Math.max(1, Math.min(MOST_ITEMS, asked));
  }

  /** The time that orders the feed. */
  private static long feedTime(Checkpoint item) {
    Long published = live(item).publishedAtMillis();
    return published == null ? 0 : published;
  }

  private static @Nullable String cursor(
      Page<CheckpointStore.Listed> page, Function<Checkpoint, Long> time) {
    if (!page.more()) {
      return null;
    }
    Checkpoint last = page.items().get(page.items().size() - 1).item();
    return new CheckpointStore.Cursor(time.apply(last), last.id()).text();
  }
}
