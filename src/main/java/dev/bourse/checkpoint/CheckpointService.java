package dev.bourse.checkpoint;

import dev.bourse.access.Principal;
import dev.bourse.audit.AuditRow;
import dev.bourse.core.ApiError;
import dev.bourse.core.Digests;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Ids;
import dev.bourse.core.Page;
import dev.bourse.core.Text;
import dev.bourse.store.GuardFailed;
import io.vertx.core.Future;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** What members do with checkpoints, but for sending their bytes: {@link UploadService}. */
public final class CheckpointService {
  /** The kind of organization the public feed is open to. */
  private static final String PUBLISHES = "public_research";

  /** Items of one organization: what a search over all of them reads in a few milliseconds. */
  static final int MAX_ITEMS_PER_ORG = 10_000;

  /** Changes of one item that overtake each other: a person's double click, not a crowd. */
  private static final int MAX_ATTEMPTS = 8;

  private static final long RETRY_MILLIS = 1_000;

  /** 256 bits and a little: nobody guesses a session. */
  private static final int SESSION_CHARACTERS = 43;

  private final CheckpointStore store;
  private final CheckpointConfig config;
  private final Clock clock;
  private final RandomGenerator random;

  public CheckpointService(
      CheckpointStore store, CheckpointConfig config, Clock clock, RandomGenerator random) {
    this.store = store;
    this.config = config;
    this.clock = clock;
    this.random = random;
  }

  public CheckpointConfig config() {
    return config;
  }

  /** Whether the organization may publish on the public feed. */
  public static boolean publishesPublicly(Principal caller) {
    return caller.org().kind().equals(PUBLISHES);
  }

  /** The member a caller is; empty for an organization's token, which only reads. */
  public static Optional<String> member(Principal caller) {
    return Optional.ofNullable(caller.member());
  }

  private static String requireMember(Principal caller) {
    return member(caller)
        .orElseThrow(
            () ->
                ApiError.of(
                    ErrorCode.FORBIDDEN,
                    "an organization's token only reads checkpoints; use a member's"));
  }

  /**
   * What is to be published.
   *
   * @param resumable empty to choose by length
   */
  public record Publication(
      Facts facts, Visibility visibility, Optional<Boolean> resumable, Replace replace) {}

  /**
   * A publication whose bytes are awaited.
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
  public Future<Announced> publish(Principal caller, Publication publication) {
    String member = requireMember(caller);
    if (publication.visibility() == Visibility.PUBLIC && !publishesPublicly(caller)) {
      throw ApiError.of(
              ErrorCode.FORBIDDEN,
              "the public feed is not open to " + caller.org().orgId() + "; use visibility org")
          .with("reason", "public-restricted");
    }
    boolean resumable =
        publication.resumable().orElse(publication.facts().bytes() > config.directBytes());
    requireFit(publication.facts(), resumable);
    requireNoSecret(publication.facts());
    return retried(() -> announce(caller, member, publication, resumable));
  }

  private void requireFit(Facts facts, boolean resumable) {
    long most = resumable ? config.itemBytes() : Math.min(config.directBytes(), config.itemBytes());
    if (facts.bytes() > most) {
      throw ApiError.of(
          ErrorCode.TOO_LARGE,
          "bytes: "
              + facts.bytes()
              + " is over "
              + most
              + (resumable
                  ? ", the most of one checkpoint"
                  : ", the most of a direct upload; use a resumable one"));
    }
  }

  /** A credential may be in the words about a file too. */
  private static void requireNoSecret(Facts facts) {
    Optional<SecretScan.Finding> named = new SecretScan(facts.fileName()).end();
    if (named.isPresent()) {
      throw secretDetected("filename", named.get());
    }
    for (String[] field :
        new String[][] {
          {"title", facts.title()},
          {"description", facts.description()},
          {"filename", facts.fileName()}
        }) {
      Optional<SecretScan.Finding> found = Inspection.ofText(field[1]);
      if (found.isPresent()) {
        throw secretDetected(field[0], found.get());
      }
    }
  }

  static ApiError secretDetected(String where, SecretScan.Finding finding) {
    return ApiError.of(
            ErrorCode.SECRET_DETECTED,
            where
                + " looks like a credential at byte "
                + finding.offset()
                + " (rule "
                + finding.rule()
                + "); nothing was kept")
        .with("rule", finding.rule())
        .with("offset", finding.offset());
  }

  private Future<Announced> announce(
      Principal caller, String member, Publication publication, boolean resumable) {
    String orgId = caller.org().orgId();
    String fileName = publication.facts().fileName();
    Replace replace = publication.replace();
    Future<Optional<Checkpoint>> named =
        replace.mode() == Replace.Mode.ONE
            ? findOwn(orgId, replace.id()).map(found -> found.map(CheckpointStore.Listed::item))
            : Future.succeededFuture(Optional.empty());
    return Future.all(store.findPlaced(orgId, publication.visibility(), fileName), named)
        .compose(
            found -> {
              Optional<Checkpoint> atPlace = found.resultAt(0);
              if (atPlace.isPresent() && atPlace.get().isDead(clock.millis())) {
                Move removal = new Move(atPlace, Optional.empty());
                return commit(removal, List.of())
                    .compose(removed -> announce(caller, member, publication, resumable));
              }
              Optional<Checkpoint> replaced =
                  replace.choose(atPlace, found.resultAt(1), member, publication.visibility());
              return announce(caller, member, publication, resumable, replaced);
            });
  }

  private Future<Announced> announce(
      Principal caller,
      String member,
      Publication publication,
      boolean resumable,
      Optional<Checkpoint> replaced) {
    String session = resumable ? Ids.base62(random, SESSION_CHARACTERS) : "";
    Revision draft =
        draft(
            replaced.map(item -> item.lastRevision() + 1).orElse(1),
            publication.facts(),
            resumable ? sessionDigest(session) : null);
    Checkpoint item =
        replaced
            .map(before -> before.redrafted(draft))
            .orElseGet(
                () ->
                    Checkpoint.create(
                        Ids.next("ckp", random),
                        caller.org().orgId(),
                        publication.visibility(),
                        member,
                        null,
                        draft));
    AuditRow row =
        row(
            caller.actor(),
            item,
            "checkpoint_create",
            describe(item, draft)
                + " bytes="
                + draft.facts().bytes()
                + " upload="
                + (resumable ? "resumable" : "direct"));
    return commit(new Move(replaced, Optional.of(item)), List.of(row))
        .map(stored -> new Announced(item, draft, replaced.isPresent(), session));
  }

  Revision draft(int number, Facts facts, @Nullable String sessionSha256) {
    long now = clock.millis();
    return new Revision(
        number,
        Revision.State.PENDING,
        facts,
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

  /** How a session's secret is stored: whoever reads the store cannot upload. */
  static String sessionDigest(String session) {
    return HexFormat.of().formatHex(Digests.sha256(session.getBytes(StandardCharsets.ISO_8859_1)));
  }

  /**
   * A page of the organization's items and what they hold together.
   *
   * @param usedBytes of {@link CheckpointConfig#orgBytes}
   */
  public record OrgPage(Page<CheckpointStore.Listed> page, long usedBytes) {}

  /** The organization's items in every state, newest first. */
  public Future<OrgPage> listOfOrg(Principal caller, String q, Optional<String> before, int limit) {
    String orgId = caller.org().orgId();
    Optional<CheckpointStore.Cursor> cursor = before.map(Cursors::parse);
    return Future.all(store.listOfOrg(orgId, q, cursor, limit), store.usage(orgId))
        .map(
            found -> {
              CheckpointStore.Usage usage = found.resultAt(1);
              return new OrgPage(found.resultAt(0), usage.bytes());
            });
  }

  /** What is on the public feed, newest first. */
  public Future<Page<CheckpointStore.Listed>> listFeed(
      String q, Optional<String> before, int limit) {
    return store.listFeed(q, before.map(Cursors::parse), limit);
  }

  /** An item of the caller's organization; {@code gone} for any other. */
  public Future<CheckpointStore.Listed> get(Principal caller, String id) {
    return findOwn(caller.org().orgId(), id)
        .map(found -> found.orElseThrow(() -> Checkpoint.gone(id)));
  }

  /** An item on the public feed; {@code not-found} for any other. */
  public Future<CheckpointStore.Listed> getPublic(String id) {
    return store
        .find(id)
        .map(
            found ->
                found
                    .filter(listed -> listed.item().visibility() == Visibility.PUBLIC)
                    .filter(listed -> listed.item().live() != null)
                    .orElseThrow(() -> ApiError.notFound("checkpoint", id)));
  }

  private Future<Optional<CheckpointStore.Listed>> findOwn(String orgId, String id) {
    return store.find(id).map(found -> found.filter(l -> l.item().orgId().equals(orgId)));
  }

  /** The caller's own item; {@code gone} for any other, {@code forbidden} for a token. */
  public Future<Checkpoint> getCreated(Principal caller, String id) {
    String member = requireMember(caller);
    return findOwn(caller.org().orgId(), id)
        .map(
            found ->
                found
                    .map(CheckpointStore.Listed::item)
                    .filter(item -> item.isBy(member))
                    .orElseThrow(() -> Checkpoint.gone(id)));
  }

  /**
   * The caller's own item if it is as it was; {@code version-mismatch} when it has changed since,
   * else as {@link #getCreated}.
   */
  public Future<Checkpoint> getUnchanged(Principal caller, String id, long version) {
    return getCreated(caller, id)
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

  /** Removes an item from organization and feed; returns when. */
  public Future<Long> delete(Principal caller, String id) {
    return delete(caller, () -> getCreated(caller, id));
  }

  /** The same, but only as it was: {@code version-mismatch} when it has changed since. */
  public Future<Long> delete(Principal caller, String id, long version) {
    return delete(caller, () -> getUnchanged(caller, id, version));
  }

  private Future<Long> delete(Principal caller, Supplier<Future<Checkpoint>> reading) {
    requireMember(caller);
    long now = clock.millis();
    return retried(
            () ->
                reading
                    .get()
                    .compose(
                        item ->
                            commit(
                                new Move(Optional.of(item), Optional.empty()),
                                List.of(
                                    row(
                                        caller.actor(),
                                        item,
                                        "checkpoint_delete",
                                        describe(item, item.shown()))))))
        .map(now);
  }

  /**
   * Makes a change of an item that is read anew when another change comes in between.
   *
   * @param reading the item as it is
   * @param change the item as it is to be; may refuse
   */
  Future<Checkpoint> change(
      Supplier<Future<Checkpoint>> reading,
      Function<Checkpoint, Checkpoint> change,
      Function<Checkpoint, List<AuditRow>> audit) {
    return retried(
        () ->
            reading
                .get()
                .compose(
                    before -> {
                      Checkpoint after = change.apply(before);
                      return commit(Move.of(before, after), audit.apply(after)).map(after);
                    }));
  }

  Future<Void> commit(Move move, List<AuditRow> audit) {
    return store
        .commit(move, config.orgBytes(), MAX_ITEMS_PER_ORG, clock.millis(), audit)
        .recover(
            e ->
                e instanceof GuardFailed failed && failed.guard().equals(CheckpointStore.ROOM)
                    ? store
                        .usage(move.item().orgId())
                        .compose(u -> Future.failedFuture(full(move, u)))
                    : Future.failedFuture(e));
  }

  private ApiError full(Move move, CheckpointStore.Usage usage) {
    return ApiError.of(
            ErrorCode.ORG_CAP,
            move.bytesTaken()
                + " bytes more do not fit: the organization's checkpoints hold "
                + usage.bytes()
                + " of "
                + config.orgBytes()
                + " bytes and are "
                + usage.items()
                + " of at most "
                + MAX_ITEMS_PER_ORG
                + "; delete some first")
        .with("limit_bytes", config.orgBytes())
        .with("used_bytes", usage.bytes());
  }

  /** Tries again while the item changes under it. */
  <T> Future<T> retried(Supplier<Future<T>> attempt) {
    return retried(attempt, MAX_ATTEMPTS);
  }

  private <T> Future<T> retried(Supplier<Future<T>> attempt, int left) {
    return attempt
        .get()
        .recover(
            e -> {
              if (!(e instanceof GuardFailed failed)
                  || !failed.guard().equals(CheckpointStore.UNCHANGED)) {
                return Future.failedFuture(e);
              }
              return left > 1
                  ? retried(attempt, left - 1)
                  : Future.failedFuture(
                      ApiError.retryLater(
                          ErrorCode.OVERLOADED,
                          "this checkpoint is being changed by others",
                          RETRY_MILLIS));
            });
  }

  AuditRow row(String actor, Checkpoint item, String action, String detail) {
    return new AuditRow(clock.millis(), item.orgId(), actor, action, item.orgId(), detail);
  }

  static String describe(Checkpoint item, Revision revision) {
    return "id="
        + item.id()
        + " revision="
        + revision.number()
        + " visibility="
        + item.visibility().label()
        + " filename="
        + Text.shown(revision.facts().fileName());
  }
}
