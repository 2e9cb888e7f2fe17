package dev.bourse.checkpoint;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Ids;
import dev.bourse.core.Page;
import dev.bourse.core.Secrets;
import dev.bourse.core.Text;
import dev.bourse.secrets.SecretScan;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Operations of members and operators on checkpoints, except for sending bytes, which is {@code
 * dev.bourse.uploads}.
 */
public final class CheckpointService {
  /** Somewhat more than 256 bits, so that a session cannot be guessed. */
  private static final int SESSION_CHARACTERS = 43;

  private final CheckpointChanges changes;
  private final CheckpointStore store;
  private final SetStore sets;
  private final CheckpointConfig config;
  private final Clock clock;
  private final RandomGenerator random;

  /** Separate from the members' searches, so that anonymous readers cannot block members. */
  private final SearchQueue feedSearches = new SearchQueue();

  private final SearchQueue ownSearches = new SearchQueue();

  public CheckpointService(
      CheckpointChanges changes,
      CheckpointStore store,
      SetStore sets,
      Clock clock,
      RandomGenerator random) {
    this.changes = changes;
    this.store = store;
    this.sets = sets;
    this.config = changes.config();
    this.clock = clock;
    this.random = random;
  }

  public CheckpointConfig config() {
    return config;
  }

  /**
   * An announcement of a file.
   *
   * @param resumable empty to choose by length
   */
  public record Announcement(
      Metadata metadata,
      Visibility visibility,
      Optional<Boolean> resumable,
      ReplacePolicy replace) {}

  /**
   * An announced item whose bytes have not arrived.
   *
   * @param replaced whether it replaces an item
   * @param session the session's secret; empty for a direct upload
   */
  public record Announced(Checkpoint item, Revision draft, boolean replaced, String session) {}

  /**
   * Announces a file: reserves its storage and its place.
   *
   * <p>Fails with {@code forbidden}, {@code too-large}, {@code secret-detected}, {@code conflict}
   * {@code exists}, {@code gone} or {@code org-cap}.
   */
  public Future<Announced> publish(Publisher publisher, Announcement announcement) {
    boolean resumable =
        announcement.resumable().orElse(announcement.metadata().bytes() > config.directBytes());
    requirePublishable(publisher, announcement, resumable);
    return changes.retried(() -> announce(publisher, announcement, resumable, List.of()));
  }

  private void requirePublishable(
      Publisher publisher, Announcement announcement, boolean resumable) {
    publisher.requireOpen(announcement.visibility());
    requireCounted(publisher, announcement.metadata());
    requireFit(announcement.metadata(), resumable);
    requireNoSecret(announcement.metadata());
  }

  /** The existing items that an announcement may replace. */
  private record Found(Optional<Checkpoint> atPlace, Optional<Checkpoint> named) {
    /** Returns the item that the announcement replaces now. */
    Optional<Checkpoint> replaced(Publisher publisher, Announcement announcement, long nowMillis) {
      return announcement
          .replace()
          .choose(
              atPlace.filter(item -> !item.isDead(nowMillis)),
              named,
              publisher,
              announcement.visibility());
    }
  }

  /**
   * An announcement of a set.
   *
   * @param metadata of the set as a whole
   */
  public record SetAnnouncement(
      Metadata metadata, Visibility visibility, ReplacePolicy replace, List<SetFile> files) {
    public SetAnnouncement {
      files = List.copyOf(files);
    }
  }

  /**
   * An announced set whose files have not arrived.
   *
   * @param missing numbers of the files whose bytes the organization does not have yet
   */
  public record AnnouncedSet(Announced announced, List<Integer> missing) {
    public AnnouncedSet {
      missing = List.copyOf(missing);
    }
  }

  /**
   * Announces a set: reserves its storage and its place, and links files whose bytes the
   * organization already has in other sets. Fails like {@link #publish}.
   */
  public Future<AnnouncedSet> publishSet(Publisher publisher, SetAnnouncement announcement) {
    publisher.requireOpen(announcement.visibility());
    requireNoSecret(announcement.metadata());
    for (SetFile file : announcement.files()) {
      requireFit("files[%s].bytes".formatted(file.number()), file.bytes(), true);
      String where = "files[%s].path".formatted(file.number());
      requireNoSecret(where, SecretScan.ofName(file.name()));
      requireNoSecret(where, SecretScan.ofText(file.path()));
    }
    Announcement whole =
        new Announcement(
            announcement.metadata(),
            announcement.visibility(),
            Optional.of(true),
            announcement.replace());
    return changes.retried(
        () ->
            sets.link(publisher.orgId(), announcement.files())
                .compose(
                    linked ->
                        announce(publisher, whole, true, linked)
                            .map(done -> new AnnouncedSet(done, SetFile.missing(linked)))));
  }

  /** Rejects empty files of a job, because the limit of its credential counts only bytes. */
  private static void requireCounted(Publisher publisher, Metadata metadata) {
    if (publisher.credential() != null && metadata.bytes() == 0) {
      throw ApiException.badField(
          "bytes",
          0,
          "1 or more, because a publishing credential publishes empty files only in a set");
    }
  }

  private void requireFit(Metadata metadata, boolean resumable) {
    requireFit("bytes", metadata.bytes(), resumable);
  }

  private void requireFit(String field, long bytes, boolean resumable) {
    long most = resumable ? config.itemBytes() : Math.min(config.directBytes(), config.itemBytes());
    if (bytes > most) {
      throw ApiException.of(
          ErrorCode.TOO_LARGE,
          "%s: %s exceeds %s, the maximum of %s",
          field,
          bytes,
          most,
          resumable ? "one checkpoint" : "a direct upload; use a resumable one");
    }
  }

  /** Rejects metadata that contains a credential. */
  private static void requireNoSecret(Metadata metadata) {
    requireNoSecret("filename", SecretScan.ofName(metadata.fileName()));
    requireNoSecret("title", SecretScan.ofText(metadata.title()));
    requireNoSecret("description", SecretScan.ofText(metadata.description()));
    requireNoSecret("filename", SecretScan.ofText(metadata.fileName()));
    requireNoSecret("content_type", SecretScan.ofText(metadata.contentType()));
  }

  private static void requireNoSecret(String where, Optional<SecretScan.Finding> found) {
    if (found.isPresent()) {
      throw secretDetected(where, found.get());
    }
  }

  public static ApiException secretDetected(String where, SecretScan.Finding finding) {
    ApiException error =
        ApiException.of(
                ErrorCode.SECRET_DETECTED,
                "%s looks like a credential at byte %s%s (rule %s); nothing was kept",
                where,
                finding.offset(),
                finding.member().isEmpty() ? "" : " of its member " + finding.member(),
                finding.rule())
            .with("rule", finding.rule())
            .with("offset", finding.offset());
    return finding.member().isEmpty() ? error : error.with("member", finding.member());
  }

  private Future<Found> find(Publisher publisher, Announcement announcement) {
    String orgId = publisher.orgId();
    ReplacePolicy replace = announcement.replace();
    Future<Optional<Checkpoint>> atPlace =
        store.findPlaced(orgId, announcement.visibility(), announcement.metadata().fileName());
    Future<Optional<Checkpoint>> named =
        replace.mode() == ReplacePolicy.Mode.ONE
            ? findOwn(orgId, replace.id()).map(found -> found.map(CheckpointStore.Listed::item))
            : Future.succeededFuture(Optional.empty());
    return Future.all(atPlace, named).map(both -> new Found(atPlace.result(), named.result()));
  }

  private Future<Announced> announce(
      Publisher publisher, Announcement announcement, boolean resumable, List<SetFile> files) {
    return find(publisher, announcement)
        .compose(
            found -> {
              long now = clock.millis();
              if (found.atPlace().filter(item -> item.isDead(now)).isPresent()) {
                ChangeSet removal = new ChangeSet(found.atPlace(), Optional.empty());
                return changes
                    .commit(removal, List.of())
                    .compose(removed -> announce(publisher, announcement, resumable, files));
              }
              return announce(
                  publisher,
                  announcement,
                  resumable,
                  files,
                  found.replaced(publisher, announcement, now));
            });
  }

  private Future<Announced> announce(
      Publisher publisher,
      Announcement announcement,
      boolean resumable,
      List<SetFile> files,
      Optional<Checkpoint> replaced) {
    String session = resumable ? Ids.base62(random, SESSION_CHARACTERS) : "";
    Revision draft =
        draft(
            publisher,
            replaced.map(item -> item.lastRevision() + 1).orElse(1),
            announcement.metadata(),
            resumable ? Secrets.stored(session) : null);
    Checkpoint item =
        replaced
            .map(before -> before.redrafted(draft))
            .orElseGet(
                () ->
                    Checkpoint.create(
                        Ids.next("ckp", random),
                        publisher.orgId(),
                        announcement.visibility(),
                        publisher.creator(),
                        publisher.creatorId(),
                        publisher.name(),
                        draft));
    AuditRow row =
        changes.row(
            publisher.actor(),
            item,
            "checkpoint_create",
            "%s bytes=%s upload=%s%s"
                .formatted(
                    CheckpointChanges.describe(item, draft),
                    draft.metadata().bytes(),
                    resumable ? "resumable" : "direct",
                    files.isEmpty() ? "" : " files=" + files.size()));
    Optional<ChangeSet.DraftFiles> draftFiles =
        files.isEmpty()
            ? Optional.empty()
            : Optional.of(new ChangeSet.DraftFiles(draft.number(), files));
    return changes
        .commit(new ChangeSet(replaced, Optional.of(item), draftFiles), List.of(row))
        .map(stored -> new Announced(item, draft, replaced.isPresent(), session));
  }

  private Revision draft(
      Publisher publisher, int number, Metadata metadata, @Nullable String sessionSha256) {
    long now = clock.millis();
    long expiresAt = now + config.sessionMillis();
    Publisher.Credential credential = publisher.credential();
    return new Revision(
        number,
        Revision.State.PENDING,
        metadata,
        sessionSha256 != null,
        sessionSha256,
        now,
        credential == null ? expiresAt : Math.min(expiresAt, credential.expiresAtMillis()),
        null,
        null,
        null,
        List.of(),
        null,
        credential == null ? null : credential.id());
  }

  /**
   * A page of one owner's items and the storage of all of them.
   *
   * @param usedBytes counts against {@link CheckpointConfig#orgBytes} or {@link
   *     CheckpointConfig#platformBytes}
   */
  public record OwnPage(Page<CheckpointStore.Listed> page, long usedBytes) {}

  /**
   * Returns an organization's items in every state, newest first.
   *
   * @param orgId {@link Checkpoint#PLATFORM} for the platform's documents
   */
  public Future<OwnPage> listOfOrg(String orgId, String q, Optional<String> before, int limit) {
    Optional<CheckpointStore.Cursor> cursor = before.map(CheckpointStore.Cursor::parse);
    return Future.all(
            listed(ownSearches, orgId, q, () -> store.listOfOrg(orgId, q, cursor, limit)),
            store.usage(orgId))
        .map(
            found -> {
              CheckpointStore.Usage usage = found.resultAt(1);
              return new OwnPage(found.resultAt(0), usage.bytes());
            });
  }

  /**
   * Returns items of the public feed, newest first.
   *
   * @param reader the reader's address
   */
  public Future<Page<CheckpointStore.Listed>> listFeed(
      String reader, String q, Optional<String> before, int limit) {
    Optional<CheckpointStore.Cursor> cursor = before.map(CheckpointStore.Cursor::parse);
    return listed(feedSearches, reader, q, () -> store.listFeed(q, cursor, limit));
  }

  /** Returns the number of queued searches. */
  public int searchesWaiting() {
    return feedSearches.waiting() + ownSearches.waiting();
  }

  private static <T> Future<T> listed(
      SearchQueue searches, String owner, String q, Supplier<Future<T>> list) {
    return q.isEmpty() ? list.get() : searches.within(owner, list);
  }

  /**
   * Returns an item of this organization; fails with {@code gone} for any other.
   *
   * @param orgId {@link Checkpoint#PLATFORM} for the platform's documents, which fails with {@code
   *     not-found}
   */
  public Future<CheckpointStore.Listed> get(String orgId, String id) {
    return findOwn(orgId, id).map(found -> found.orElseThrow(() -> Checkpoint.unknown(orgId, id)));
  }

  /** An item and its published revisions, newest first. */
  record History(Checkpoint item, List<RevisionHistory.Entry> revisions) {
    History {
      revisions = List.copyOf(revisions);
    }
  }

  /** Returns the published revisions of an item of this organization, like {@link #get}. */
  Future<History> getHistory(String orgId, String id) {
    return get(orgId, id)
        .compose(
            found ->
                store.listRevisions(id).map(revisions -> new History(found.item(), revisions)));
  }

  /**
   * Returns the first files of a revision of a set, in the order of their announcement.
   *
   * @param most the limit
   */
  public Future<List<SetFile>> listFirstFiles(Checkpoint item, Revision revision, int most) {
    return sets.listFirst(item.id(), revision.number(), most);
  }

  /** Returns an item of the public feed; fails with {@code not-found} for any other. */
  public Future<CheckpointStore.Listed> getPublic(String id) {
    return store
        .findOnFeed(id)
        .map(found -> found.orElseThrow(() -> ApiException.notFound("checkpoint", id)));
  }

  /** Returns any owner's item, for operators; fails with {@code not-found} without one. */
  public Future<CheckpointStore.Listed> getAny(String id) {
    return store
        .find(id)
        .map(found -> found.orElseThrow(() -> ApiException.notFound("checkpoint", id)));
  }

  /** Fails with {@code not-found} if there is no such organization, retired or not. */
  public Future<Void> requireOrganization(String orgId) {
    return store
        .isOrganization(orgId)
        .map(
            known -> {
              if (!known) {
                throw ApiException.notFound("organization", orgId);
              }
              return null;
            });
  }

  private Future<Optional<CheckpointStore.Listed>> findOwn(String orgId, String id) {
    return store.find(id).map(found -> found.filter(l -> l.item().orgId().equals(orgId)));
  }

  /** Returns the publisher's own item; fails with {@code gone} for any other. */
  public Future<Checkpoint> getCreated(Publisher publisher, String id) {
    return findOwn(publisher.orgId(), id)
        .map(
            found ->
                found
                    .map(CheckpointStore.Listed::item)
                    .filter(publisher::sends)
                    .orElseThrow(() -> Checkpoint.unknown(publisher.orgId(), id)));
  }

  /**
   * Returns the publisher's own item at a version; fails with {@code version-mismatch} if it has
   * changed, else like {@link #getCreated}.
   */
  public Future<Checkpoint> getUnchanged(Publisher publisher, String id, long version) {
    return getCreated(publisher, id)
        .map(
            item -> {
              if (item.version() != version) {
                throw ApiException.of(
                    ErrorCode.VERSION_MISMATCH,
                    "checkpoint '" + Text.shown(id) + "' has changed since; nothing was removed");
              }
              return item;
            });
  }

  /** Removes the publisher's own item from organization and feed; returns the time. */
  public Future<Long> delete(Publisher publisher, String id) {
    return delete(publisher.actor(), () -> getCreated(publisher, id));
  }

  /** Removes it at a version; fails with {@code version-mismatch} if it has changed. */
  public Future<Long> delete(Publisher publisher, String id, long version) {
    return delete(publisher.actor(), () -> getUnchanged(publisher, id, version));
  }

  /**
   * Removes any owner's item; fails with {@code not-found} without one. Returns the time.
   *
   * @param actor the operator
   */
  public Future<Long> deleteAny(String actor, String id) {
    return delete(actor, () -> getAny(id).map(CheckpointStore.Listed::item));
  }

  private Future<Long> delete(String actor, Supplier<Future<Checkpoint>> finding) {
    long now = clock.millis();
    return changes
        .retried(() -> finding.get().compose(item -> changes.remove(actor, item)))
        .map(now);
  }
}
