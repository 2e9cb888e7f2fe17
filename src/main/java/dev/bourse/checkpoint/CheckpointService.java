package dev.bourse.checkpoint;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ApiError;
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
 * What members and operators do with checkpoints, except for sending their bytes: that is {@code
 * dev.bourse.uploads}.
 */
public final class CheckpointService {
  /** A little more than 256 bits, so that nobody guesses a session. */
  private static final int SESSION_CHARACTERS = 43;

  private final CheckpointChanges changes;
  private final CheckpointStore store;
  private final SetStore sets;
  private final CheckpointConfig config;
  private final Clock clock;
  private final RandomGenerator random;

  /**
   * Separate from the members' searches, so that a crowd of anonymous readers keeps no member from
   * searching.
   */
  private final Searches feedSearches = new Searches();

  private final Searches ownSearches = new Searches();

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
   * What is to be published.
   *
   * @param resumable empty to choose by length
   */
  public record Announcement(
      Metadata metadata,
      Visibility visibility,
      Optional<Boolean> resumable,
      ReplacePolicy replace) {}

  /**
   * An announcement whose bytes are awaited.
   *
   * @param replaced whether it takes the place of an item
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
    requireFit(announcement.metadata(), resumable);
    requireNoSecret(announcement.metadata());
  }

  /** What there is already where an announcement would go. */
  private record Found(Optional<Checkpoint> atPlace, Optional<Checkpoint> named) {
    /** What it would replace, as of now. */
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
   * A set that is to be published.
   *
   * @param metadata of the whole
   */
  public record SetAnnouncement(
      Metadata metadata, Visibility visibility, ReplacePolicy replace, List<SetFile> files) {
    public SetAnnouncement {
      files = List.copyOf(files);
    }
  }

  /**
   * A set whose files are awaited.
   *
   * @param missing the numbers of those whose bytes the organization does not have yet
   */
  public record AnnouncedSet(Announced announced, List<Integer> missing) {
    public AnnouncedSet {
      missing = List.copyOf(missing);
    }
  }

  /**
   * Announces a set: reserves its storage and its place, and links the files whose bytes sets of
   * the organization have already. Fails as {@link #publish} does.
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

  private void requireFit(Metadata metadata, boolean resumable) {
    requireFit("bytes", metadata.bytes(), resumable);
  }

  private void requireFit(String field, long bytes, boolean resumable) {
    long most = resumable ? config.itemBytes() : Math.min(config.directBytes(), config.itemBytes());
    if (bytes > most) {
      throw ApiError.of(
          ErrorCode.TOO_LARGE,
          "%s: %s is over %s, the most of %s",
          field,
          bytes,
          most,
          resumable ? "one checkpoint" : "a direct upload; use a resumable one");
    }
  }

  /** Refuses metadata in which a credential is found. */
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

  public static ApiError secretDetected(String where, SecretScan.Finding finding) {
    ApiError error =
        ApiError.of(
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

  private Revision draft(int number, Metadata metadata, @Nullable String sessionSha256) {
    long now = clock.millis();
    return new Revision(
        number,
        Revision.State.PENDING,
        metadata,
        sessionSha256 != null,
        sessionSha256,
        now,
        now + config.sessionMillis(),
        null,
        null,
        null,
        List.of(),
        null);
  }

  /**
   * A page of one owner's items and what they hold together.
   *
   * @param usedBytes of {@link CheckpointConfig#orgBytes}, or of {@link
   *     CheckpointConfig#platformBytes}
   */
  public record OwnPage(Page<CheckpointStore.Listed> page, long usedBytes) {}

  /**
   * An organization's items in every state, newest first.
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
   * What is on the public feed, newest first.
   *
   * @param reader the address that asks
   */
  public Future<Page<CheckpointStore.Listed>> listFeed(
      String reader, String q, Optional<String> before, int limit) {
    Optional<CheckpointStore.Cursor> cursor = before.map(CheckpointStore.Cursor::parse);
    return listed(feedSearches, reader, q, () -> store.listFeed(q, cursor, limit));
  }

  /** How many searches wait for their turn now. */
  public int searchesWaiting() {
    return feedSearches.waiting() + ownSearches.waiting();
  }

  private static <T> Future<T> listed(
      Searches searches, String owner, String q, Supplier<Future<T>> list) {
    return q.isEmpty() ? list.get() : searches.within(owner, list);
  }

  /**
   * An item of this organization; {@code gone} for any other.
   *
   * @param orgId {@link Checkpoint#PLATFORM} for the platform's documents; {@code not-found} for
   *     what is none of them
   */
  public Future<CheckpointStore.Listed> get(String orgId, String id) {
    return findOwn(orgId, id).map(found -> found.orElseThrow(() -> Checkpoint.unknown(orgId, id)));
  }

  /**
   * The first files of a revision of a set, in the order of their announcement.
   *
   * @param most how many
   */
  public Future<List<SetFile>> listFirstFiles(Checkpoint item, Revision revision, int most) {
    return sets.listFirst(item.id(), revision.number(), most);
  }

  /** An item on the public feed; {@code not-found} for any other. */
  public Future<CheckpointStore.Listed> getPublic(String id) {
    return store
        .findOnFeed(id)
        .map(found -> found.orElseThrow(() -> ApiError.notFound("checkpoint", id)));
  }

  /** Any owner's item, for operators; {@code not-found} when there is none. */
  public Future<CheckpointStore.Listed> getAny(String id) {
    return store
        .find(id)
        .map(found -> found.orElseThrow(() -> ApiError.notFound("checkpoint", id)));
  }

  /** Fails with {@code not-found} when there is no such organization, retired or not. */
  public Future<Void> requireOrganization(String orgId) {
    return store
        .isOrganization(orgId)
        .map(
            known -> {
              if (!known) {
                throw ApiError.notFound("organization", orgId);
              }
              return null;
            });
  }

  private Future<Optional<CheckpointStore.Listed>> findOwn(String orgId, String id) {
    return store.find(id).map(found -> found.filter(l -> l.item().orgId().equals(orgId)));
  }

  /** The publisher's own item; {@code gone} for any other. */
  public Future<Checkpoint> getCreated(Publisher publisher, String id) {
    return findOwn(publisher.orgId(), id)
        .map(
            found ->
                found
                    .map(CheckpointStore.Listed::item)
                    .filter(publisher::owns)
                    .orElseThrow(() -> Checkpoint.unknown(publisher.orgId(), id)));
  }

  /**
   * The publisher's own item if it is as it was; {@code version-mismatch} when it has changed
   * since, else as {@link #getCreated}.
   */
  public Future<Checkpoint> getUnchanged(Publisher publisher, String id, long version) {
    return getCreated(publisher, id)
        .map(
            item -> {
              if (item.version() != version) {
                throw ApiError.of(
                    ErrorCode.VERSION_MISMATCH,
                    "checkpoint '" + Text.shown(id) + "' has changed since; nothing was removed");
              }
              return item;
            });
  }

  /** Removes the publisher's own item from organization and feed; returns when. */
  public Future<Long> delete(Publisher publisher, String id) {
    return delete(publisher.actor(), () -> getCreated(publisher, id));
  }

  /** The same, but only as it was: {@code version-mismatch} when it has changed since. */
  public Future<Long> delete(Publisher publisher, String id, long version) {
    return delete(publisher.actor(), () -> getUnchanged(publisher, id, version));
  }

  /**
   * Removes any owner's item; {@code not-found} when there is none. Returns when.
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
