package dev.bourse.checkpoint;

import dev.bourse.access.AccessStore;
import dev.bourse.access.Members;
import dev.bourse.access.Organization;
import dev.bourse.access.Principal;
import dev.bourse.access.Revocations;
import dev.bourse.access.Tokens;
import dev.bourse.blob.BlobConfig;
import dev.bourse.blob.BlobStore;
import dev.bourse.blob.ByteSource;
import dev.bourse.blob.LocalBlobs;
import dev.bourse.blob.Reading;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.core.Digests;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import dev.bourse.uploads.DirectUploadService;
import dev.bourse.uploads.PublishPermission;
import dev.bourse.uploads.ResumableUploads;
import dev.bourse.uploads.SetUploadService;
import dev.bourse.uploads.UploadSessionService;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A real store, a real folder of blobs, and the services over them. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
public abstract class CheckpointFixture extends StoreFixture {
  public static final CheckpointConfig CONFIG =
      new CheckpointConfig(
          true,
          1_000_000,
          10_000_000,
          20_000_000,
          5_000_000,
          "Bourse",
          "",
          10_000_000,
          60_000,
          1_000,
          512,
          false);

  public static final Organization LAB = new Organization("lab", "Open Lab", "public_research");

  public LocalBlobs blobs;
  public final Random random = new Random(11);
  public Members members;
  public Tokens organizations;

  @BeforeEach
  public void openBlobs() throws Exception {
    blobs = await(openLocal());
    members = new Members(new AccessStore(database));
    organizations = new Tokens(new AccessStore(database), clock);
    await(database.commit(List.of(AccessStore.insert(LAB, clock.millis()), enlist("alice"))));
    await(Future.all(members.load(), organizations.load()));
  }

  /** Adds a member to the organization. */
  public Statement enlist(String username) {
    return Statement.of(
        "INSERT INTO member (org_id, username, email, name, created_at) VALUES (?, ?, ?, ?, ?)",
        LAB.orgId(),
        username,
        username + "@lab.example",
        username,
        clock.millis());
  }

  /** Changes rows of members or organizations, and notifies every process. */
  public void decide(Statement... statements) throws Exception {
    await(database.commit(List.of(statements)));
    await(Future.all(members.load(), organizations.load()));
  }

  @AfterEach
  public void closeBlobs() throws Exception {
    await(blobs.close());
  }

  public Future<LocalBlobs> openLocal() {
    return openLocal(16);
  }

  public Future<LocalBlobs> openLocal(int openUploads) {
    BlobConfig usual = BlobConfig.defaults();
    return LocalBlobs.open(
        vertx,
        folder.resolve("blobs"),
        new BlobConfig(2, openUploads, usual.waitingBlocks(), 16, 64, 0),
        clock);
  }

  /** The services of one process. */
  public final class Services {
    public final CheckpointStore store;
    public final CheckpointService checkpoints;
    public final DirectUploadService direct;
    public final ResumableUploads uploads;
    public final UploadSessionService sessions;
    public final SetUploadService files;
    public final ReviewService reviews;
    public final Sweep sweep;

    public Services(Database rows, BlobStore bytes) {
      this(rows, bytes, ResumableUploads.WAIT_MILLIS);
    }

    /**
     * @param waitMillis how long a request waits for the blob store
     */
    public Services(Database rows, BlobStore bytes, long waitMillis) {
      store = new CheckpointStore(rows);
      SetStore sets = new SetStore(rows);
      CheckpointChanges changes = new CheckpointChanges(store, CONFIG, clock);
      checkpoints = new CheckpointService(changes, store, sets, clock, random);
      Publication publication = new Publication(changes, store, clock, random);
      PublishPermission permission =
          new PublishPermission(members, organizations, new Revocations(rows, clock));
      uploads = new ResumableUploads(publication, permission, bytes, clock, waitMillis);
      sessions =
          new UploadSessionService(checkpoints, publication, store, uploads, bytes, sets, clock);
      files = new SetUploadService(sessions, uploads, sets, bytes);
      direct =
          new DirectUploadService(
              checkpoints, publication, uploads, permission, bytes, clock, random);
      reviews = new ReviewService(changes, store, sets, clock);
      sweep = new Sweep(changes, new SweepStore(rows), sets, bytes, clock, clock);
    }
  }

  public Services services() {
    return new Services(database, blobs);
  }

  /** The store, which delays publications until a future completes. */
  public static BlobStore publishingOnce(BlobStore store, Future<Void> told) {
    return publishingAfter(store, () -> told);
  }

  private static BlobStore publishingAfter(BlobStore store, Supplier<Future<Void>> asked) {
    return (BlobStore)
        Proxy.newProxyInstance(
            BlobStore.class.getClassLoader(),
            new Class<?>[] {BlobStore.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("publish")) {
                return asked
                    .get()
                    .compose(now -> store.publish((String) arguments[0], (String) arguments[1]));
              }
              try {
                return method.invoke(store, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  private boolean isNoted(String id) {
    String asked = "SELECT 1 FROM checkpoint_revision WHERE item_id = ? AND sha256 IS NOT NULL";
    return database.exists(asked, List.of(id)).toCompletionStage().toCompletableFuture().join();
  }

  /**
   * Sends a whole file and commits it, while the store delays its publication: its digest is
   * recorded but it is not published.
   *
   * @param store see {@link #publishingOnce}
   * @param published completed at the end of the commit
   * @return the item's id
   */
  protected String arriveAt(BlobStore store, byte[] bytes, Promise<Void> published)
      throws Exception {
    AtomicBoolean isHeldUp = new AtomicBoolean();
    BlobStore watched =
        publishingAfter(
            store,
            () -> {
              isHeldUp.set(true);
              return Future.succeededFuture();
            });
    Services services = new Services(database, watched);
    CheckpointService.Announced announced =
        await(
            services.checkpoints.publish(
                member("alice"), publication(Visibility.ORG, "arriving.bin", bytes, true)));
    await(services.sessions.put(announced.session(), Optional.empty(), source(bytes)));
    String id = announced.item().id();
    services
        .sessions
        .commit(member("alice"), id, bytes.length, Optional.empty())
        .<Void>mapEmpty()
        .onComplete(published);
    // Only then the upload is released as well.
    eventually("it is held up, with its digest noted", () -> isHeldUp.get() && isNoted(id));
    return id;
  }

  /** Returns a publisher for a username, member or not. */
  public Publisher member(String username) {
    return Publisher.of(principal(username));
  }

  /** Returns the principal of such a publisher. */
  public Principal principal(String username) {
    String id = members.findId(LAB.orgId(), username).orElse("lab/" + username + "/none");
    return new Principal(
        LAB,
        "member:" + username,
        "",
        Set.of(),
        null,
        null,
        username,
        id,
        Principal.CredentialKind.MEMBER_TOKEN);
  }

  public static CheckpointService.Announcement publication(
      Visibility visibility, String fileName, byte[] bytes, boolean resumable) {
    return new CheckpointService.Announcement(
        new Metadata("A file", "", fileName, "application/octet-stream", bytes.length, null),
        visibility,
        Optional.of(resumable),
        ReplacePolicy.ANY);
  }

  /** Returns pseudo-random bytes, the same for the same seed. */
  public static byte[] bytes(int length, long seed) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  public static String sha256(byte[] bytes) {
    return HexFormat.of().formatHex(Digests.sha256(bytes));
  }

  public static ByteSource source(byte[] bytes) {
    return source(bytes, 0, bytes.length, null);
  }

  /**
   * Returns bytes of an array block by block, like a request.
   *
   * @param failure ends the source after the last byte; null for success
   */
  public static ByteSource source(byte[] bytes, int from, int to, @Nullable Throwable failure) {
    return new ByteSource() {
      @Override
      public OptionalLong length() {
        return OptionalLong.of(to - from);
      }

      @Override
      public Optional<String> contentType() {
        return Optional.of("application/octet-stream");
      }

      @Override
      public Future<Long> read(int blockBytes, long expectedBytes, Sink sink) {
        Future<Void> taken = Future.succeededFuture();
        for (int at = from; at < to; at += blockBytes) {
          int first = at;
          int end = Math.min(at + blockBytes, to);
          taken = taken.compose(before -> sink.take(bytes, first, end));
        }
        return failure == null
            ? taken.map((long) to - from)
            : taken.compose(all -> Future.failedFuture(failure));
      }
    };
  }

  /** Returns the bytes of a revision as readers get them. */
  public byte[] content(Checkpoint item, Revision revision) throws Exception {
    return content(blobs, item, revision);
  }

  /** Returns them from a given blob store. */
  public static byte[] content(BlobStore store, Checkpoint item, Revision revision)
      throws Exception {
    return content(
        store, BlobName.key(item.id(), revision.number(), String.valueOf(revision.sha256())));
  }

  /** Returns all bytes of a blob. */
  public static byte[] content(BlobStore store, String key) throws Exception {
    Reading reading = await(store.read(key));
    Buffer all = Buffer.buffer();
    while (all.length() < reading.length()) {
      int length = (int) Math.min(BlobStore.BLOCK_BYTES, reading.length() - all.length());
      all.appendBuffer(await(reading.piece(all.length(), length)));
    }
    await(reading.close());
    return all.getBytes();
  }

  /** Returns an organization's storage, summed up from the rows. */
  public long countedBytes() throws Exception {
    return integers(
            "SELECT COALESCE(SUM(bytes), 0) FROM checkpoint_revision WHERE state <> 'expired'")
        .get(0);
  }

  /** Returns an organization's stored usage. */
  public long accountedBytes() throws Exception {
    return integers("SELECT COALESCE(SUM(used_bytes), 0) FROM checkpoint_usage").get(0);
  }

  /** Returns the names of all blobs, or of all uploads. */
  public List<String> names(boolean isBlob) throws Exception {
    Instant always = Instant.MAX;
    return (isBlob
            ? await(blobs.listBlobs(always, "", 1_000))
            : await(blobs.listUploads(always, "", 1_000)))
        .items();
  }
}
