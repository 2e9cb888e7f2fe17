package dev.bourse.audit;

import dev.bourse.core.Page;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.Optional;

/**
 * A trail as one long text, newest first, a page at a time. Entries that are added during the
 * export are not included. Belongs to one reader.
 */
public final class TrailExport {
  /** Entries of a piece: usually some 20 KB, and a few MB with entries of maximum length. */
  static final int ENTRIES_PER_PIECE = 100;

  private final TrailStore store;
  private final String owner;
  private final TrailText form;
  private final boolean reads;
  private long before;
  private long remaining;
  private boolean begun;

  /**
   * @param owner the organization, or {@link Trails#PLATFORM}
   * @param query the start of the export; without a limit it continues to the oldest entry
   */
  public TrailExport(TrailStore store, String owner, TrailText form, TrailQuery query) {
    this.store = store;
    this.owner = owner;
    this.form = form;
    this.reads = query.reads();
    this.before = query.before();
    this.remaining = query.limit().isPresent() ? query.limit().getAsInt() : Long.MAX_VALUE;
  }

  /** Returns the next piece; empty after the last. One call at a time. */
  public Future<Optional<Buffer>> next() {
    if (remaining == 0) {
      return Future.succeededFuture(Optional.empty());
    }
    int size = (int) Math.min(ENTRIES_PER_PIECE, remaining);
    return store.listEntries(owner, Optional.empty(), reads, before, size).map(this::text);
  }

  private Optional<Buffer> text(Page<TrailEntry> page) {
    StringBuilder text = new StringBuilder(begun ? "" : form.head());
    begun = true;
    List<TrailEntry> entries = page.items();
    entries.forEach(entry -> form.append(text, entry));
    if (page.more()) {
      before = entries.get(entries.size() - 1).id();
      remaining -= entries.size();
    } else {
      remaining = 0;
    }
    return text.isEmpty() ? Optional.empty() : Optional.of(Buffer.buffer(text.toString()));
  }
}
