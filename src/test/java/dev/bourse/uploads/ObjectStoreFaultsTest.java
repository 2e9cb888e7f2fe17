package dev.bourse.uploads;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.blob.BlobConfig;
import dev.bourse.blob.BlobNotFoundException;
import dev.bourse.blob.ByteSource;
import dev.bourse.blob.StorageFaultException;
import dev.bourse.blob.UploadBusyException;
import dev.bourse.blob.s3.S3Blobs;
import dev.bourse.blob.s3.S3Config;
import dev.bourse.checkpoint.Checkpoint;
import dev.bourse.checkpoint.CheckpointService;
import dev.bourse.checkpoint.CheckpointStore;
import dev.bourse.checkpoint.CheckpointView;
import dev.bourse.checkpoint.SetFile;
import dev.bourse.checkpoint.SetFixture;
import dev.bourse.checkpoint.Visibility;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.faults.S3Faults;
import dev.bourse.faults.S3Faults.Fault;
import dev.bourse.faults.UntoldEnds;
import dev.bourse.store.Database;
import dev.bourse.store.ForwardingDatabase;
import dev.bourse.store.RowMapper;
import dev.bourse.store.StoreUnavailableException;
import dev.bourse.testing.S3Server;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Sessions and sets over an object store that fails or is slow, used by processes that take over
 * from each other. Each file is smaller than a part, so that its end is one put of an object.
 */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class ObjectStoreFaultsTest extends SetFixture {
  private static final S3Server SERVER = S3Server.s3proxy();
  private static final byte[] FIRST = bytes(400_000, 1);
  private static final byte[] SECOND = bytes(300_000, 2);

  /** The request that ends an upload smaller than a part. */
  private static final String WHOLE = "PUT .*/blobs/[^?]*(\\?x-id.*)?";

  /** Shorter than a frozen request, and as long as a normal one may take. */
  private static final long SOON_MILLIS = 300;

  /** After this time the claim of a process that finishes an upload has expired. */
  private static final long LEFT_MILLIS = 15_000;

  private final String bucket = SERVER.newBucket();
  private final List<S3Blobs> stores = new ArrayList<>();
  private S3Faults faults;

  @BeforeEach
  void startProxy() throws Exception {
    faults = new S3Faults(SERVER.port());
  }

  @AfterEach
  void stop() throws Exception {
    faults.thaw();
    for (S3Blobs one : stores) {
      await(one.close());
    }
    faults.close();
  }

  /** Starts another process on the same rows and objects. */
  private Services another(long waitMillis) throws Exception {
    return another(waitMillis, database);
  }

  private Services another(long waitMillis, Database rows) throws Exception {
    return another(waitMillis, rows, faults.port());
  }

  /** Starts a process whose requests to the store always pass. */
  private Services untroubled() throws Exception {
    return another(ResumableUploads.WAIT_MILLIS, database, SERVER.port());
  }

  private Services another(long waitMillis, Database rows, int port) throws Exception {
    S3Blobs store =
        await(
            S3Blobs.open(
                new S3Blobs.Environment(
                    vertx,
                    rows,
                    folder.resolve("spools-" + stores.size()),
                    clock,
                    random,
                    (operation, outcome, nanos) -> {}),
                S3Config.parse(S3Server.store(bucket, port), Optional.of(SERVER.credentials())),
                BlobConfig.defaults()));
    stores.add(store);
    return new Services(rows, store, waitMillis);
  }

  private Services another() throws Exception {
    return another(ResumableUploads.WAIT_MILLIS);
  }

  private void fail(String requests, Fault fault) {
    faults.next(Integer.MAX_VALUE, request -> request.matches(requests), fault);
  }

  private CheckpointService.Announced announceFile(Services process) throws Exception {
    return await(
        process.checkpoints.publish(
            member("alice"), publication(Visibility.ORG, "a.bin", FIRST, true)));
  }

  private Future<ResumableUploads.Progress> send(
      Services process, CheckpointService.Announced file, int from, int to) {
    return process.sessions.put(
        file.session(),
        Optional.of("bytes " + from + '-' + (to - 1) + '/' + FIRST.length),
        source(FIRST, from, to, null));
  }

  private Future<CheckpointStore.Listed> commitFile(
      Services process, CheckpointService.Announced file) {
    return process.sessions.commit(
        member("alice"), file.item().id(), FIRST.length, Optional.empty());
  }

  private static ErrorCode refusal(Future<?> future) {
    return fails(ApiException.class, future).code();
  }

  /** Asserts that the trail has one publication, and the store has no surplus objects. */
  private void isPublishedOnce(Checkpoint item, byte[] content, int objects) throws Exception {
    assertArrayEquals(content, content(stores.get(0), item, CheckpointView.live(item)));
    assertEquals(
        List.of(1L), integers("SELECT COUNT(*) FROM audit WHERE action = 'checkpoint_publish'"));
    eventually("the orphaned parts are deleted", () -> SERVER.objects(bucket).size() == objects);
    assertEquals(countedBytes(), accountedBytes());
  }

  /** Returns the progress that a query is answered with. */
  private static long progress(Services process, CheckpointService.Announced file)
      throws Exception {
    return await(query(process, file)).stored();
  }

  private static Future<ResumableUploads.Progress> query(
      Services process, CheckpointService.Announced file) {
    return process.sessions.put(
        file.session(), Optional.of("bytes */" + FIRST.length), source(FIRST, 0, 0, null));
  }

  @Test
  void aClientIsToldOfNoByteThatDiesWithTheProcess() throws Exception {
    Services process = another();
    CheckpointService.Announced file = announceFile(process);
    assertEquals(100_000, await(send(process, file, 0, 100_000)).stored());
    fail("PUT .*/pieces/.*", Fault.INTERNAL_ERROR);
    fails(StorageFaultException.class, send(process, file, 100_000, 300_000));
    assertEquals(100_000, progress(process, file));
    // A request that would leave a gap gets the same answer.
    assertEquals(100_000, await(send(process, file, 350_000, FIRST.length)).stored());
    faults.thaw();
    Services heir = another();
    assertEquals(100_000, progress(heir, file));
    // Received bytes need not be sent again after they are flushed.
    assertEquals(300_000, await(send(process, file, 100_000, 300_000)).stored());
    assertEquals(300_000, progress(heir, file));
    await(send(heir, file, 300_000, FIRST.length));
    isPublishedOnce(await(commitFile(heir, file)).item(), FIRST, 1);
  }

  @Test
  void aFileThatTheStoreDidNotTakeIsPublishedOnceByALaterCommit() throws Exception {
    Services process = another();
    CheckpointService.Announced file = announceFile(process);
    await(send(process, file, 0, 300_000));
    fail(WHOLE, Fault.INTERNAL_ERROR);
    fails(StorageFaultException.class, send(process, file, 300_000, FIRST.length));
    fails(StorageFaultException.class, commitFile(process, file));
    faults.thaw();
    Checkpoint item = await(commitFile(process, file)).item();
    isPublishedOnce(item, FIRST, 1);
    assertEquals(ErrorCode.CONFLICT, refusal(commitFile(process, file)));
  }

  @Test
  void aSetOfWhichTheStoreDidNotTakeAFileIsPublishedOnceByALaterCommit() throws Exception {
    Services process = another();
    CheckpointService.AnnouncedSet set = await(announce(process, "set", FIRST, SECOND));
    assertTrue(await(put(process, set, 1, SECOND)).isComplete());
    fail(WHOLE, Fault.INTERNAL_ERROR);
    fails(StorageFaultException.class, put(process, set, 0, FIRST));
    assertEquals(ErrorCode.CONFLICT, refusal(commit(process, set)));
    faults.thaw();
    assertTrue(await(ask(process, set, 0)).isComplete(), "it is not sent again");
    fail(WHOLE, Fault.INTERNAL_ERROR);
    fails(StorageFaultException.class, commit(process, set));
    faults.thaw();
    Checkpoint item = await(commit(process, set)).item();
    isPublishedOnce(item, SetFile.manifest(files(FIRST, SECOND)), 3);
    assertEquals(ErrorCode.CONFLICT, refusal(commit(process, set)));
  }

  @Test
  void aRequestForAFileWaitsForTheStoreForAWhileOnly() throws Exception {
    Services process = another(SOON_MILLIS);
    CheckpointService.AnnouncedSet set = await(announce(process, "set", FIRST));
    fail(WHOLE, Fault.FROZEN);
    ApiException late = fails(ApiException.class, put(process, set, 0, FIRST));
    assertEquals(ErrorCode.OVERLOADED, late.code());
    assertTrue(late.extras().containsKey("retry_after_s"));
    assertEquals(
        ErrorCode.OVERLOADED, refusal(ask(process, set, 0)), "it continues in the background");
    faults.awaitFrozen(1);
    faults.thaw();
    assertTrue(later(() -> ask(process, set, 0)).isComplete());
    Checkpoint item = await(commit(another(), set)).item();
    isPublishedOnce(item, SetFile.manifest(files(FIRST)), 2);
  }

  /** Retries until it succeeds, like a client. */
  private static <T> T later(Supplier<Future<T>> asking) throws Exception {
    List<Future<T>> asked = new ArrayList<>(List.of(asking.get()));
    eventually(
        "it is done",
        () -> {
          if (asked.get(0).failed()) {
            asked.set(0, asking.get());
          }
          return asked.get(0).succeeded();
        });
    return await(asked.get(0));
  }

  @Test
  void aFileThatTwoProcessesTookIsReadBackByTheLaterAndTheEarlierIsTold() throws Exception {
    Services first = another();
    Services second = another();
    CheckpointService.AnnouncedSet set = await(announce(first, "set", FIRST));
    assertEquals(100_000, await(put(first, set, 0, FIRST, 0, 100_000)).stored());
    assertEquals(200_000, await(put(second, set, 0, FIRST, 100_000, 200_000)).stored());
    assertEquals(200_000, await(ask(first, set, 0)).stored());
    assertEquals(300_000, await(put(first, set, 0, FIRST, 200_000, 300_000)).stored());
    assertTrue(await(put(second, set, 0, FIRST, 300_000, FIRST.length)).isComplete());
    assertTrue(await(put(first, set, 0, FIRST)).isComplete());
    Checkpoint item = await(commit(first, set)).item();
    isPublishedOnce(item, SetFile.manifest(files(FIRST)), 2);
  }

  @Test
  void aProcessThatThawsChangesNothingOfAFileThatAnotherHasEnded() throws Exception {
    Services first = another(ResumableUploads.WAIT_MILLIS, new UntoldEnds(database));
    Services second = another();
    CheckpointService.AnnouncedSet set = await(announce(first, "set", FIRST));
    await(put(first, set, 0, FIRST, 0, 100_000));
    faults.next(1, request -> request.matches(WHOLE), Fault.FROZEN);
    Future<ResumableUploads.Progress> frozen = put(first, set, 0, FIRST, 100_000, FIRST.length);
    faults.awaitFrozen(1);
    assertTrue(await(put(second, set, 0, FIRST)).isComplete());
    Checkpoint item = await(commit(second, set)).item();
    faults.thaw();
    eventually("the frozen request ends", frozen::isComplete);
    assertFalse(frozen.succeeded() && !frozen.result().isComplete());
    isPublishedOnce(item, SetFile.manifest(files(FIRST)), 2);
  }

  @Test
  void aRequestWhoseClientHasLeftTakesNothingOver() throws Exception {
    Services first = another();
    Services second = another();
    CheckpointService.Announced file = announceFile(first);
    await(send(first, file, 0, 100_000));
    IllegalStateException gone = new IllegalStateException("the client is gone");
    fails(
        IllegalStateException.class,
        second.sessions.put(
            file.session(),
            Optional.of("bytes 100000-199999/" + FIRST.length),
            left(source(FIRST, 100_000, 200_000, null), gone)));
    assertEquals(List.of(1L), integers("SELECT epoch FROM blob_upload"));
    assertEquals(200_000, await(send(first, file, 100_000, 200_000)).stored());
  }

  /** A source whose sender is known to have disconnected. */
  private static ByteSource left(ByteSource bytes, RuntimeException gone) {
    return new ByteSource() {
      @Override
      public OptionalLong length() {
        return bytes.length();
      }

      @Override
      public Optional<String> contentType() {
        return bytes.contentType();
      }

      @Override
      public void requireSender() {
        throw gone;
      }

      @Override
      public Future<Long> read(int blockBytes, long expectedBytes, Sink sink) {
        return bytes.read(blockBytes, expectedBytes, sink);
      }
    };
  }

  @Test
  void whatTwoProcessesTookIsReadBackForTheCommitAlone() throws Exception {
    Services first = another();
    Services second = another();
    CheckpointService.Announced file = announceFile(first);
    await(send(first, file, 0, 100_000));
    assertTrue(await(send(second, file, 100_000, FIRST.length)).isComplete());
    assertEquals(
        List.of(),
        faults.seen().stream().filter(one -> one.matches("GET .*/(blobs|pieces)/.*")).toList());
    isPublishedOnce(await(commitFile(first, file)).item(), FIRST, 1);
  }

  /** Sends a file's bytes to both processes, so that the committing one reads them back. */
  private CheckpointService.Announced sendToBoth(Services first, Services second) throws Exception {
    CheckpointService.Announced file = announceFile(first);
    await(send(first, file, 0, 100_000));
    assertTrue(await(send(second, file, 100_000, FIRST.length)).isComplete());
    return file;
  }

  private static void until(String what, Callable<Boolean> holds) throws InterruptedException {
    eventually(
        what,
        () -> {
          try {
            return holds.call();
          } catch (Exception e) {
            throw new AssertionError(what, e);
          }
        });
  }

  /** Commits a file through a process that cannot read it back, and expects its error. */
  private void freezeInCommit(Services process, CheckpointService.Announced file) throws Exception {
    fail("GET .*/blobs/.*", Fault.FROZEN);
    assertEquals(ErrorCode.OVERLOADED, refusal(commitFile(process, file)));
    until(
        "it reports the failure",
        () -> integers("SELECT finishing_until FROM blob_upload").get(0) > 0);
  }

  @Test
  void aCommitThatTakesLongIsLeftToItsProcessAndAnotherNeedNotReadTheBytes() throws Exception {
    Services first = another(SOON_MILLIS);
    Services second = untroubled();
    CheckpointService.Announced file = sendToBoth(first, second);
    freezeInCommit(first, file);
    fails(UploadBusyException.class, commitFile(second, file));
    assertEquals(FIRST.length, progress(second, file));
    faults.thaw();
    // Although its client has disconnected.
    until("the bytes are durable", () -> integers("SELECT COUNT(*) FROM blob").get(0) == 1);
    isPublishedOnce(await(commitFile(second, file)).item(), FIRST, 1);
  }

  @Test
  void aCommitInWhichItsProcessFrozeIsDoneByAnother() throws Exception {
    AtomicBoolean isFrozen = new AtomicBoolean();
    Services first = another(SOON_MILLIS, new UntoldEnds(database, isFrozen::get), faults.port());
    Services second = untroubled();
    CheckpointService.Announced file = sendToBoth(first, second);
    freezeInCommit(first, file);
    isFrozen.set(true);
    fails(UploadBusyException.class, commitFile(second, file));
    clock.advance(LEFT_MILLIS);
    Checkpoint item = await(commitFile(second, file)).item();
    faults.thaw();
    isPublishedOnce(item, FIRST, 1);
  }

  @Test
  void anotherDigestThatIsFoundTooLateToBeToldIsToldToTheNextCommit() throws Exception {
    Services first = another(SOON_MILLIS);
    CheckpointService.Announced file = sendToBoth(another(), first);
    Supplier<Future<CheckpointStore.Listed>> commit =
        () ->
            first.sessions.commit(
                member("alice"), file.item().id(), FIRST.length, Optional.of("0".repeat(64)));
    fail("GET .*/blobs/.*", Fault.FROZEN);
    assertEquals(ErrorCode.OVERLOADED, refusal(commit.get()));
    faults.awaitFrozen(1);
    faults.thaw();
    List<ApiException> failures = new ArrayList<>();
    eventually(
        "the client gets the answer",
        () -> {
          failures.add(fails(ApiException.class, commit.get()));
          return failures.get(failures.size() - 1).code() == ErrorCode.CONFLICT;
        });
    assertTrue(
        String.valueOf(failures.get(failures.size() - 1).getMessage()).contains("have SHA-256"));
    // The answer does not wait for the deletion longer than for the digest.
    until("it starts again", () -> later(() -> query(first, file)).stored() == 0);
  }

  @Test
  void aRequestThatComesAfterTheFileWasPublishedOpensNothing() throws Exception {
    Services first = another();
    Promise<Void> released = Promise.promise();
    AtomicBoolean isOpening = new AtomicBoolean();
    Services second =
        another(ResumableUploads.WAIT_MILLIS, openingAfter(isOpening, released.future()));
    CheckpointService.Announced file = announceFile(first);
    Future<ResumableUploads.Progress> late = send(second, file, 0, 100_000);
    eventually("it looks for the upload", isOpening::get);
    await(send(first, file, 0, FIRST.length));
    Checkpoint item = await(commitFile(first, file)).item();
    released.complete();
    assertEquals(ErrorCode.GONE, refusal(late));
    assertEquals(List.of(0L), integers("SELECT COUNT(*) FROM blob_upload"));
    isPublishedOnce(item, FIRST, 1);
  }

  @Test
  void aRequestThatComesAfterTheBytesAreDurableIsToldToAskAgain() throws Exception {
    Services first = another();
    Promise<Void> released = Promise.promise();
    AtomicBoolean isOpening = new AtomicBoolean();
    Services second =
        another(ResumableUploads.WAIT_MILLIS, openingAfter(isOpening, released.future()));
    CheckpointService.AnnouncedSet set = await(announce(first, "set", FIRST));
    Future<ResumableUploads.Progress> late = put(second, set, 0, FIRST, 0, 100_000);
    eventually("it looks for the upload", isOpening::get);
    assertTrue(await(put(first, set, 0, FIRST)).isComplete());
    released.complete();
    fails(BlobNotFoundException.class, late);
    assertEquals(List.of(0L), integers("SELECT COUNT(*) FROM blob_upload"));
    assertTrue(await(ask(second, set, 0)).isComplete());
  }

  @Test
  void aRequestThatCannotLookForItsItemDeletesNothingThatAnotherHasTaken() throws Exception {
    Services first = another();
    Promise<Void> looked = Promise.promise();
    AtomicBoolean isLooking = new AtomicBoolean();
    Services second =
        another(ResumableUploads.WAIT_MILLIS, lookingForItems(isLooking, looked.future()));
    CheckpointService.Announced file = announceFile(first);
    Future<ResumableUploads.Progress> late = send(second, file, 0, 100_000);
    eventually("it has opened the upload, and looks", isLooking::get);
    assertEquals(200_000, await(send(first, file, 0, 200_000)).stored());
    looked.fail(new StoreUnavailableException("the database is away", null));
    fails(StoreUnavailableException.class, late);
    assertEquals(200_000, progress(first, file));
    await(send(first, file, 200_000, FIRST.length));
    isPublishedOnce(await(commitFile(first, file)).item(), FIRST, 1);
  }

  /**
   * A database whose answers are delayed once an upload was opened.
   *
   * @param isLooking set when a delayed query arrives
   */
  private Database lookingForItems(AtomicBoolean isLooking, Future<Void> released) {
    AtomicBoolean isOpened = new AtomicBoolean();
    return new ForwardingDatabase(database) {
      @Override
      public <T> Future<List<T>> read(String sql, List<?> parameters, RowMapper<T> mapper) {
        if (sql.contains("FROM blob_piece")) {
          isOpened.set(true);
        }
        if (!isOpened.get() || !sql.contains("FROM checkpoint")) {
          return super.read(sql, parameters, mapper);
        }
        isLooking.set(true);
        return released.compose(now -> super.read(sql, parameters, mapper));
      }
    };
  }

  /**
   * A database that delays look-ups of uploads.
   *
   * @param isOpening set when one arrives
   */
  private Database openingAfter(AtomicBoolean isOpening, Future<Void> released) {
    return new ForwardingDatabase(database) {
      @Override
      public <T> Future<List<T>> read(String sql, List<?> parameters, RowMapper<T> mapper) {
        if (!sql.contains("FROM blob_upload")) {
          return super.read(sql, parameters, mapper);
        }
        isOpening.set(true);
        return released.compose(now -> super.read(sql, parameters, mapper));
      }
    };
  }

  @Test
  void anInterruptedRequestIsKeptForOtherProcessesToo() throws Exception {
    Services first = another();
    Services second = another();
    CheckpointService.AnnouncedSet set = await(announce(first, "set", FIRST));
    fails(
        IllegalStateException.class,
        first.files.put(
            set.announced().session(),
            0,
            Optional.empty(),
            source(FIRST, 0, 100_000, new IllegalStateException("the client is gone"))));
    assertEquals(100_000, await(ask(second, set, 0)).stored());
  }
}
