package dev.bourse.blob;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.FakeClock;
import dev.bourse.core.Page;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The contract of {@link BlobStore}; subclasses test one store each. */
public abstract class BlobStoreContract {
  protected static final Inspector NONE = (bytes, from, to) -> {};
  protected static final int BLOCK = BlobStore.BLOCK_BYTES;

  /** Two threads and room for 8 uploads, so that limits are reached soon. */
  protected static final BlobConfig SMALL = new BlobConfig(2, 8, 4, 8, 64, 0);

  private static final Instant FAR = Instant.parse("2100-01-01T00:00:00Z");
  private static final byte[] LITTLE = random(1, 300_000);

  protected final FakeClock clock = new FakeClock(1_800_000_000_000L);
  protected final Vertx vertx = Vertx.vertx();
  protected BlobStore blobs;

  /** Opens the store of this test. */
  protected abstract BlobStore open() throws Exception;

  /** More bytes than the store sends at once, and not a multiple of any block size. */
  protected abstract int largeBytes();

  /** Fails if the store contains anything unexpected. */
  protected abstract void checkHoldsNothingElse() throws Exception;

  /** Closes the environment of the stores. */
  protected void closeGround() throws Exception {}

  @BeforeEach
  void openStore() throws Exception {
    blobs = open();
  }

  @AfterEach
  void closeStore() throws Exception {
    await(blobs.close());
    checkHoldsNothingElse();
    closeGround();
    await(vertx.close());
  }

  private void reopen() throws Exception {
    await(blobs.close());
    blobs = open();
  }

  protected static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  protected static <E extends Throwable> E failure(Class<E> type, Future<?> future) {
    ExecutionException e = assertThrows(ExecutionException.class, () -> await(future));
    return assertInstanceOf(type, e.getCause());
  }

  protected static byte[] random(long seed, int length) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  /** Appends all bytes, block by block. */
  protected static void append(Upload upload, byte[] bytes) throws Exception {
    for (int i = 0; i < bytes.length; i += BLOCK) {
      await(upload.append(bytes, i, Math.min(bytes.length, i + BLOCK)));
    }
  }

  private void upload(String uploadId, byte[] bytes) throws Exception {
    Upload upload = await(blobs.open(uploadId, NONE));
    append(upload, bytes);
    await(upload.finish());
    await(upload.release());
  }

  private void publish(String key, byte[] bytes) throws Exception {
    upload("of-" + key, bytes);
    await(blobs.publish("of-" + key, key));
  }

  protected static byte[] blob(BlobStore store, String key) throws Exception {
    Reading reading = await(store.read(key));
    byte[] bytes = content(reading);
    await(reading.close());
    return bytes;
  }

  private static byte[] content(Reading reading) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    while (bytes.size() < reading.length()) {
      int count = (int) Math.min(BlobStore.MAX_BLOCK_BYTES, reading.length() - bytes.size());
      bytes.write(await(reading.piece(bytes.size(), count)).getBytes());
    }
    return bytes.toByteArray();
  }

  protected static byte[] joined(byte[] head, byte[] tail) {
    byte[] all = Arrays.copyOf(head, head.length + tail.length);
    System.arraycopy(tail, 0, all, head.length, tail.length);
    return all;
  }

  /** Records the bytes it receives. */
  protected static final class Witness implements Inspector {
    private final ByteArrayOutputStream seen = new ByteArrayOutputStream();

    @Override
    public synchronized void inspect(byte[] bytes, int from, int to) {
      seen.write(bytes, from, to - from);
    }

    public synchronized byte[] seen() {
      return seen.toByteArray();
    }
  }

  /** Blocks until it is opened. */
  private static final class Gate implements Inspector {
    private final AtomicLong shown = new AtomicLong();
    private final CountDownLatch opened = new CountDownLatch(1);

    @Override
    public void inspect(byte[] bytes, int from, int to) {
      shown.addAndGet(to - from);
      try {
        opened.await();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }

    void open() {
      opened.countDown();
    }

    void awaitShown() throws InterruptedException {
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      while (shown.get() == 0) {
        assertTrue(System.nanoTime() < deadline, "nothing is shown");
        TimeUnit.MILLISECONDS.sleep(1);
      }
    }
  }

  @Test
  void appendedBytesAreReadableUnderTheKeyOncePublished() throws Exception {
    byte[] bytes = random(2, largeBytes());
    Upload upload = await(blobs.open("u1", NONE));
    append(upload, bytes);
    assertEquals(bytes.length, upload.stored());
    await(upload.finish());
    await(upload.release());
    assertFalse(await(blobs.exists("item-1.2")));
    failure(BlobNotFoundException.class, blobs.read("item-1.2"));

    await(blobs.publish("u1", "item-1.2"));
    assertTrue(await(blobs.exists("item-1.2")));
    assertArrayEquals(bytes, blob(blobs, "item-1.2"));
    assertEquals(0, await(blobs.stored("u1")));
  }

  @Test
  void anUploadWithNoBytesBecomesAnEmptyBlob() throws Exception {
    publish("empty", new byte[0]);
    Reading reading = await(blobs.read("empty"));
    assertEquals(0, reading.length());
    await(reading.close());
  }

  @Test
  void aNameThatIsNoNameIsRefused() throws Exception {
    List<String> names = List.of("", ".", "..", ".hidden", "a/b", "../a", "a b", "é", "a\u0000");
    for (String name : names) {
      failure(IllegalArgumentException.class, blobs.open(name, NONE));
      failure(IllegalArgumentException.class, blobs.stored(name));
      failure(IllegalArgumentException.class, blobs.publish(name, "k"));
      failure(IllegalArgumentException.class, blobs.publish("u", name));
      failure(IllegalArgumentException.class, blobs.abandon(name));
      failure(IllegalArgumentException.class, blobs.delete(name));
      failure(IllegalArgumentException.class, blobs.exists(name));
      failure(IllegalArgumentException.class, blobs.read(name));
      failure(IllegalArgumentException.class, blobs.address(name, Duration.ofMinutes(1), Map.of()));
    }
    failure(IllegalArgumentException.class, blobs.exists("a".repeat(129)));
    assertFalse(await(blobs.exists("a".repeat(128))));
  }

  @Test
  void futuresCompleteOnTheContextThatAsked() throws Exception {
    publish("k", LITTLE);
    Context context = vertx.getOrCreateContext();
    Promise<Void> done = Promise.promise();
    context.runOnContext(
        v ->
            blobs
                .open("u", NONE)
                .onComplete(opened -> assertSame(context, Vertx.currentContext()))
                .compose(
                    upload ->
                        upload
                            .append(LITTLE, 0, 10)
                            .onComplete(taken -> assertSame(context, Vertx.currentContext()))
                            .compose(x -> upload.keep())
                            .onComplete(kept -> assertSame(context, Vertx.currentContext()))
                            .compose(x -> upload.finish())
                            .onComplete(whole -> assertSame(context, Vertx.currentContext()))
                            .compose(x -> upload.release()))
                .onComplete(released -> assertSame(context, Vertx.currentContext()))
                .compose(x -> blobs.publish("u", "k2"))
                .onComplete(published -> assertSame(context, Vertx.currentContext()))
                .compose(x -> blobs.read("k"))
                .compose(reading -> reading.piece(0, 10).eventually(reading::close))
                .onComplete(read -> assertSame(context, Vertx.currentContext()))
                .<Void>mapEmpty()
                .onComplete(done::handle));
    await(done.future());
  }

  @Test
  void theInspectorSeesEveryByteOnceAndInOrderByTheEnd() throws Exception {
    byte[] bytes = random(3, largeBytes());
    Witness witness = new Witness();
    Upload upload = await(blobs.open("u", witness));
    assertTrue(upload.isInspected());
    append(upload, bytes);
    assertArrayEquals(bytes, witness.seen());
    assertTrue(upload.isInspected());
    await(upload.finish());
    await(upload.finish());
    assertArrayEquals(bytes, witness.seen());
    await(upload.release());
    await(blobs.abandon("u"));
  }

  @Test
  void anUploadOpenedAgainGoesOnAndIsInspectedFromItsBeginningByItsEnd() throws Exception {
    byte[] head = random(4, largeBytes());
    byte[] tail = random(5, 1_000);
    Upload before = await(blobs.open("u", NONE));
    append(before, head);
    await(before.keep());
    await(before.release());
    reopen();
    assertEquals(head.length, await(blobs.stored("u")));

    Witness witness = new Witness();
    Upload upload = await(blobs.open("u", witness));
    assertEquals(head.length, upload.stored());
    append(upload, tail);
    await(upload.finish());
    assertTrue(upload.isInspected());
    assertArrayEquals(joined(head, tail), witness.seen());
    await(upload.release());
    await(blobs.publish("u", "k"));
    assertArrayEquals(joined(head, tail), blob(blobs, "k"));
  }

  @Test
  void whatIsKeptInManySmallRequestsIsAllThere() throws Exception {
    byte[] bytes = random(6, 12 * 1_000);
    for (int i = 0; i < 12; i++) {
      Upload upload = await(blobs.open("u", NONE));
      assertEquals(i * 1_000L, upload.stored());
      await(upload.append(bytes, i * 1_000, (i + 1) * 1_000));
      await(upload.keep());
      await(upload.keep());
      await(upload.release());
      assertEquals((i + 1) * 1_000L, await(blobs.stored("u")));
    }
    upload("u", new byte[0]);
    await(blobs.publish("u", "k"));
    assertArrayEquals(bytes, blob(blobs, "k"));
  }

  @Test
  void oneRequestMayBeKeptManyTimesOverAndGoOn() throws Exception {
    byte[] bytes = random(7, 50 * 1_000);
    Upload upload = await(blobs.open("u", NONE));
    for (int i = 0; i < 50; i++) {
      await(upload.append(bytes, i * 1_000, (i + 1) * 1_000));
      await(upload.keep());
    }
    await(upload.release());
    reopen();
    assertEquals(bytes.length, await(blobs.stored("u")));
    upload("u", new byte[0]);
    await(blobs.publish("u", "k"));
    assertArrayEquals(bytes, blob(blobs, "k"));
  }

  @Test
  void aFinishedUploadIsFoundFinishedByTheNextOpening() throws Exception {
    byte[] bytes = random(8, largeBytes());
    upload("u", bytes);
    reopen();
    assertEquals(bytes.length, await(blobs.stored("u")));
    Witness witness = new Witness();
    Upload upload = await(blobs.open("u", witness));
    await(upload.finish());
    assertArrayEquals(bytes, witness.seen());
    await(upload.release());
    await(blobs.publish("u", "k"));
    assertArrayEquals(bytes, blob(blobs, "k"));
  }

  @Test
  void nothingOfARejectedBlockIsKeptAndTheUploadTakesNoMore() throws Exception {
    IllegalStateException secret = new IllegalStateException("a secret");
    Inspector inspector =
        (bytes, from, to) -> {
          if (bytes[from] == 'x') {
            throw secret;
          }
        };
    byte[] good = {'a', 'b', 'c'};
    byte[] bad = {'x', 'y'};
    Upload upload = await(blobs.open("u", inspector));
    Future<Void> first = upload.append(good, 0, 3);
    Future<Void> second = upload.append(bad, 0, 2);
    Future<Void> third = upload.append(good, 0, 3);
    await(first);
    assertSame(secret, failure(IllegalStateException.class, second));
    assertSame(secret, failure(IllegalStateException.class, third));
    assertSame(secret, failure(IllegalStateException.class, upload.append(good, 0, 3)));
    assertEquals(3, upload.stored());
    await(upload.release());
    assertTrue(await(blobs.stored("u")) <= 3);
    await(blobs.abandon("u"));
  }

  @Test
  void bytesOfAnEarlierOpeningThatTheInspectorRejectsFailTheOpeningOrTheEnd() throws Exception {
    byte[] bytes = random(9, largeBytes());
    Upload before = await(blobs.open("u", NONE));
    append(before, bytes);
    await(before.keep());
    await(before.release());
    IllegalStateException secret = new IllegalStateException("a secret");
    for (int i = 0; i < 2; i++) {
      Future<Void> judged =
          blobs
              .open(
                  "u",
                  (block, from, to) -> {
                    throw secret;
                  })
              .compose(upload -> upload.finish().eventually(upload::release));
      assertSame(secret, failure(IllegalStateException.class, judged));
    }
    await(blobs.abandon("u"));
    failure(BlobNotFoundException.class, blobs.publish("u", "k"));
  }

  @Test
  void anUploadThatIsOpenIsNeitherOpenedNorPublished() throws Exception {
    Upload upload = await(blobs.open("u", NONE));
    failure(StorageBusyException.class, blobs.open("u", NONE));
    failure(StorageBusyException.class, blobs.publish("u", "k"));
    append(upload, LITTLE);
    await(upload.finish());
    await(upload.release());
    await(blobs.publish("u", "k"));
    assertArrayEquals(LITTLE, blob(blobs, "k"));
  }

  @Test
  void openUploadsAreBounded() throws Exception {
    List<Upload> open = new ArrayList<>();
    for (int i = 0; i < SMALL.openUploads(); i++) {
      open.add(await(blobs.open("u" + i, NONE)));
    }
    failure(StorageBusyException.class, blobs.open("more", NONE));
    await(open.get(3).release());
    await(await(blobs.open("more", NONE)).release());
    for (Upload upload : open) {
      await(upload.release());
    }
    for (int i = 0; i < SMALL.openUploads(); i++) {
      await(blobs.abandon("u" + i));
    }
    await(blobs.abandon("more"));
  }

  @Test
  void uploadsAtTheSameTimeKeepTheirBytesApart() throws Exception {
    byte[] left = random(10, largeBytes());
    byte[] right = random(11, largeBytes());
    Upload first = await(blobs.open("u1", NONE));
    Upload second = await(blobs.open("u2", NONE));
    for (int i = 0; i < left.length; i += BLOCK) {
      int to = Math.min(left.length, i + BLOCK);
      await(Future.all(first.append(left, i, to), second.append(right, i, to)));
    }
    await(Future.all(first.finish(), second.finish()));
    await(Future.all(first.release(), second.release()));
    await(Future.all(blobs.publish("u1", "k1"), blobs.publish("u2", "k2")));
    assertArrayEquals(left, blob(blobs, "k1"));
    assertArrayEquals(right, blob(blobs, "k2"));
  }

  @Test
  void whoeverDoesNotWaitForItsBlocksIsRefusedAndLeavesNoHole() throws Exception {
    Gate gate = new Gate();
    Upload upload = await(blobs.open("u", gate));
    byte[] bytes = random(12, BLOCK);
    List<Future<Void>> taken = new ArrayList<>();
    for (int i = 0; i < SMALL.waitingBlocks(); i++) {
      taken.add(upload.append(bytes, 0, BLOCK));
    }
    failure(IllegalStateException.class, upload.append(bytes, 0, BLOCK));
    gate.open();
    await(Future.all(taken));
    failure(IllegalStateException.class, upload.append(bytes, 0, BLOCK));
    assertEquals((long) SMALL.waitingBlocks() * BLOCK, upload.stored());
    await(upload.release());
    await(blobs.abandon("u"));
  }

  @Test
  void aBlockAfterTheReleaseOrLargerThanMayBeIsRefused() throws Exception {
    Upload upload = await(blobs.open("u", NONE));
    byte[] large = new byte[BlobStore.MAX_BLOCK_BYTES + 1];
    failure(IllegalArgumentException.class, upload.append(large, 0, large.length));
    await(upload.append(large, 0, BlobStore.MAX_BLOCK_BYTES));
    await(upload.keep());
    await(upload.release());
    await(upload.release());
    failure(IllegalStateException.class, upload.append(large, 0, 1));
    assertEquals(BlobStore.MAX_BLOCK_BYTES, await(blobs.stored("u")));
    await(blobs.abandon("u"));
  }

  @Test
  void abandoningAnUploadFailsWhatWaitsAndDeletesItsBytes() throws Exception {
    Gate gate = new Gate();
    Upload upload = await(blobs.open("u", gate));
    Future<Void> underWay = upload.append(LITTLE, 0, 1_000);
    Future<Void> waiting = upload.append(LITTLE, 0, 1_000);
    gate.awaitShown();
    Future<Void> abandoned = blobs.abandon("u");
    gate.open();
    await(abandoned);
    await(underWay);
    failure(BlobNotFoundException.class, waiting);
    failure(BlobNotFoundException.class, upload.append(LITTLE, 0, 1_000));
    assertEquals(0, await(blobs.stored("u")));
    await(blobs.abandon("u"));
    await(blobs.abandon("never-there"));
  }

  @Test
  void anAbandonedUploadLeavesNothingHoweverFarItWas() throws Exception {
    byte[] bytes = random(13, largeBytes());
    Upload begun = await(blobs.open("begun", NONE));
    append(begun, bytes);
    await(begun.keep());
    await(begun.release());
    Upload open = await(blobs.open("open", NONE));
    append(open, bytes);
    upload("finished", bytes);
    for (String one : List.of("begun", "open", "finished")) {
      await(blobs.abandon(one));
      assertEquals(0, await(blobs.stored(one)));
      failure(BlobNotFoundException.class, blobs.publish(one, "k"));
    }
  }

  @Test
  void anUploadNamedAsAnAbandonedOneBeginsAnew() throws Exception {
    Upload first = await(blobs.open("u", NONE));
    append(first, random(14, largeBytes()));
    await(first.keep());
    await(blobs.abandon("u"));
    upload("u", LITTLE);
    await(blobs.publish("u", "k"));
    assertArrayEquals(LITTLE, blob(blobs, "k"));
  }

  @Test
  void aPublicationAskedForAgainSucceeds() throws Exception {
    publish("k", LITTLE);
    await(blobs.publish("of-k", "k"));
    reopen();
    await(blobs.publish("of-k", "k"));
    assertArrayEquals(LITTLE, blob(blobs, "k"));
  }

  @Test
  void aPublicationThatFindsUploadAndBlobKeepsTheBlobAndEndsTheUpload() throws Exception {
    publish("k", LITTLE);
    upload("of-k", new byte[10]);
    await(blobs.publish("of-k", "k"));
    assertArrayEquals(LITTLE, blob(blobs, "k"));
    assertEquals(0, await(blobs.stored("of-k")));
  }

  @Test
  void aPublicationOfNothingIsGone() throws Exception {
    failure(BlobNotFoundException.class, blobs.publish("u", "k"));
    assertFalse(await(blobs.exists("k")));
  }

  @Test
  void aPieceIsExactlyTheBytesAskedFor() throws Exception {
    byte[] bytes = random(15, largeBytes());
    publish("k", bytes);
    Reading reading = await(blobs.read("k"));
    assertEquals(bytes.length, reading.length());
    int end = bytes.length;
    for (int[] piece :
        new int[][] {{end - 10, 10}, {5, 1}, {6, 1_000}, {1_006, 10}, {0, end / 9}}) {
      byte[] expected = Arrays.copyOfRange(bytes, piece[0], piece[0] + piece[1]);
      assertArrayEquals(expected, await(reading.piece(piece[0], piece[1])).getBytes());
    }
    long[][] none = {{-1, 1}, {0, 0}, {end - 10, 11}, {Long.MAX_VALUE, 1}};
    for (long[] piece : none) {
      failure(IllegalArgumentException.class, reading.piece(piece[0], (int) piece[1]));
    }
    failure(IllegalArgumentException.class, reading.piece(0, BlobStore.MAX_BLOCK_BYTES + 1));
    await(reading.close());
    await(reading.close());
    failure(IllegalStateException.class, reading.piece(0, 1));
  }

  @Test
  void aBlobThatIsDeletedStaysReadableToWhoeverHasItOpen() throws Exception {
    byte[] bytes = random(16, largeBytes());
    publish("k", bytes);
    Reading reading = await(blobs.read("k"));
    await(reading.piece(0, 1_000));
    await(blobs.delete("k"));
    await(blobs.delete("k"));
    assertFalse(await(blobs.exists("k")));
    failure(BlobNotFoundException.class, blobs.read("k"));
    byte[] rest = Arrays.copyOfRange(bytes, 1_000, 1_000 + BLOCK);
    assertArrayEquals(rest, await(reading.piece(1_000, BLOCK)).getBytes());
    await(reading.close());
  }

  @Test
  void anAddressGivesTheBlobWithTheHeadersAskedForOrThereIsNone() throws Exception {
    publish("k", LITTLE);
    Map<String, String> headers =
        Map.of(
            "Content-Type", "application/x-weights",
            "Content-Disposition", "attachment; filename=\"a b.bin\"",
            "Cache-Control", "no-store");
    Optional<URI> address = await(blobs.address("k", Duration.ofMinutes(1), headers));
    if (address.isPresent()) {
      HttpResponse<byte[]> answer =
          HttpClient.newHttpClient()
              .send(
                  HttpRequest.newBuilder(address.get()).build(),
                  HttpResponse.BodyHandlers.ofByteArray());
      assertEquals(200, answer.statusCode());
      assertArrayEquals(LITTLE, answer.body());
      headers.forEach(
          (name, value) -> assertEquals(value, answer.headers().firstValue(name).orElse("")));
      failure(BlobNotFoundException.class, blobs.address("none", Duration.ofMinutes(1), headers));
    }
  }

  @Test
  void anAddressThatLastsTooLongOrSaysOtherHeadersIsRefused() throws Exception {
    publish("k", LITTLE);
    for (Duration lifetime : List.of(Duration.ZERO, Duration.ofMinutes(61))) {
      failure(IllegalArgumentException.class, blobs.address("k", lifetime, Map.of()));
    }
    failure(
        IllegalArgumentException.class,
        blobs.address("k", Duration.ofMinutes(1), Map.of("Set-Cookie", "a=b")));
  }

  @Test
  void uploadsAndBlobsAreListedInPages() throws Exception {
    TreeSet<String> uploads = new TreeSet<>();
    for (int i = 0; i < 7; i++) {
      upload("u" + i, new byte[1]);
      uploads.add("u" + i);
      publish("k" + i, new byte[1]);
    }
    TreeSet<String> found = new TreeSet<>();
    String after = "";
    Page<String> page;
    do {
      page = await(blobs.listUploads(FAR, after, 3));
      assertTrue(page.items().size() <= 3);
      found.addAll(page.items());
      after = page.items().get(page.items().size() - 1);
      // A listed item may be deleted before the next page is requested.
      await(blobs.abandon(after));
    } while (page.more());
    assertEquals(uploads, found);
    Page<String> some = await(blobs.listBlobs(FAR, "", 3));
    assertEquals(some.items(), await(blobs.listBlobs(FAR, "", 3)).items());
    assertEquals(3, some.items().size());
    assertTrue(some.more());
    for (String left : uploads) {
      await(blobs.abandon(left));
    }
    assertEquals(List.of(), await(blobs.listUploads(FAR, "", 10)).items());
    failure(IllegalArgumentException.class, blobs.listBlobs(FAR, "", 0));
    failure(IllegalArgumentException.class, blobs.listBlobs(FAR, "", 1_001));
    failure(IllegalArgumentException.class, blobs.listBlobs(FAR, "../up", 1));
  }

  @Test
  void theAgeOfABlobCountsFromItsPublication() throws Exception {
    upload("u", new byte[1]);
    clock.advance(Duration.ofHours(1).toMillis());
    await(blobs.publish("u", "k"));
    assertEquals(List.of(), await(blobs.listBlobs(clock.instant(), "", 10)).items());
    assertEquals(
        List.of("k"), await(blobs.listBlobs(clock.instant().plusMillis(1), "", 10)).items());
  }

  @Test
  void aBlobThatIsPublishedAgainAfterItWasListedIsNotDeletedAsListed() throws Exception {
    publish("again", LITTLE);
    publish("orphan", LITTLE);
    publish("replaced", LITTLE);
    clock.advance(Duration.ofHours(1).toMillis());
    Instant before = clock.instant();
    assertEquals(3, await(blobs.listBlobs(before, "", 10)).items().size());
    await(blobs.publish("of-again", "again"));
    await(blobs.delete("replaced"));
    publish("replaced", LITTLE);
    for (String key : List.of("again", "orphan", "replaced", "unknown")) {
      await(blobs.delete(key, before));
    }
    assertArrayEquals(LITTLE, blob(blobs, "again"));
    assertArrayEquals(LITTLE, blob(blobs, "replaced"));
    assertFalse(await(blobs.exists("orphan")));
  }

  @Test
  void aClosedStoreEndsWhatIsOpenAndTakesNoCalls() throws Exception {
    publish("k", LITTLE);
    Reading reading = await(blobs.read("k"));
    Gate gate = new Gate();
    Upload upload = await(blobs.open("u", gate));
    Future<Void> underWay = upload.append(LITTLE, 0, 1_000);
    Future<Void> waiting = upload.append(LITTLE, 0, 1_000);
    gate.awaitShown();
    Future<Void> closed = blobs.close();
    gate.open();
    await(closed);
    await(underWay);
    failure(StorageBusyException.class, waiting);
    failure(RuntimeException.class, reading.piece(0, 1));
    failure(StorageBusyException.class, blobs.open("u", NONE));
    failure(StorageBusyException.class, blobs.read("k"));
    failure(StorageBusyException.class, blobs.exists("k"));
    failure(StorageBusyException.class, blobs.publish("u", "k2"));
    await(blobs.close());
    blobs = open();
    await(blobs.abandon("u"));
  }
}
