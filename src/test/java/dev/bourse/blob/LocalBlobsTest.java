package dev.bourse.blob;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.Digests;
import dev.bourse.core.Page;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a local store does when nothing fails, and what it refuses. */
class LocalBlobsTest extends BlobFixture {
  private static final Instant FAR = Instant.parse("2100-01-01T00:00:00Z");

  @Test
  void appendedBytesAreReadableUnderTheKeyOncePublished() throws Exception {
    byte[] bytes = random(1, 700_000);
    Upload upload = await(blobs.open("u1", NONE));
    await(upload.append(bytes, 0, BLOCK));
    await(upload.append(bytes, BLOCK, BLOCK + 1));
    await(upload.append(bytes, BLOCK + 1, bytes.length));
    assertEquals(bytes.length, upload.stored());
    await(upload.release());
    assertFalse(await(blobs.exists("item-1.2")));

    await(blobs.publish("u1", "item-1.2"));
    assertTrue(await(blobs.exists("item-1.2")));
    assertArrayEquals(bytes, blob("item-1.2"));
    assertEquals(List.of(), files("uploads"));
    assertEquals(0, await(blobs.stored("u1")));
  }

  @Test
  void anUploadWithNoBytesBecomesAnEmptyBlob() throws Exception {
    publish("empty");
    assertEquals(0, await(blobs.read("empty")).length());
  }

  @Test
  void nobodyButTheServicesUserMayReadTheFiles() throws Exception {
    publish("k", random(2, 10));
    upload("u", random(3, 10));
    try (Stream<Path> paths = Files.walk(folder)) {
      for (Path path : paths.toList()) {
        assertEquals(
            Files.isDirectory(path) ? "rwx------" : "rw-------",
            PosixFilePermissions.toString(Files.getPosixFilePermissions(path)),
            path::toString);
      }
    }
  }

  @Test
  void aPieceIsExactlyTheBytesAskedFor() throws Exception {
    byte[] bytes = random(4, 300_000);
    publish("k", bytes);
    Reading reading = await(blobs.read("k"));
    assertEquals(bytes.length, reading.length());
    assertArrayEquals(
        Arrays.copyOfRange(bytes, 299_990, 300_000), await(reading.piece(299_990, 10)).getBytes());
    assertArrayEquals(Arrays.copyOfRange(bytes, 5, 6), await(reading.piece(5, 1)).getBytes());
    for (long[] piece : new long[][] {{-1, 1}, {0, 0}, {299_990, 11}, {Long.MAX_VALUE, 1}}) {
      failure(IllegalArgumentException.class, reading.piece(piece[0], (int) piece[1]));
    }
    ByteBuffer some = ByteBuffer.allocate(7);
    reading.file().orElseThrow().read(some, 100_000);
    assertArrayEquals(Arrays.copyOfRange(bytes, 100_000, 100_007), some.array());
    await(reading.close());
    await(reading.close());
    failure(IllegalStateException.class, reading.piece(0, 1));
  }

  @Test
  void aBlobThatIsDeletedStaysReadableToWhoeverHasItOpen() throws Exception {
    byte[] bytes = random(5, 300_000);
    publish("k", bytes);
    Reading reading = await(blobs.read("k"));
    await(blobs.delete("k"));
    await(blobs.delete("k"));
    assertFalse(await(blobs.exists("k")));
    failure(BlobGone.class, blobs.read("k"));
    assertArrayEquals(bytes, content(reading));
  }

  @Test
  void theInspectorSeesEachBlockInOrderBeforeItIsWritten() throws Exception {
    byte[] bytes = random(6, 10 * 1_000);
    List<Byte> seen = new ArrayList<>();
    List<Long> lengths = new ArrayList<>();
    Inspector inspector =
        (block, from, to) -> {
          try {
            lengths.add(Files.size(onlyFile("uploads")));
          } catch (Exception e) {
            throw new AssertionError(e);
          }
          for (int i = from; i < to; i++) {
            seen.add(block[i]);
          }
        };
    Upload upload = await(blobs.open("u", inspector));
    List<Future<Void>> all = new ArrayList<>();
    for (int i = 0; i < bytes.length; i += 1_000) {
      all.add(upload.append(bytes, i, i + 1_000));
      if (all.size() % SMALL.waitingBlocks() == 0) {
        await(Future.all(all));
      }
    }
    await(Future.all(all));
    for (int i = 0; i < bytes.length; i++) {
      assertEquals(bytes[i], seen.get(i));
    }
    assertEquals(
        List.of(0L, 1_000L, 2_000L, 3_000L, 4_000L, 5_000L, 6_000L, 7_000L, 8_000L, 9_000L),
        lengths);
  }

  @Test
  void nothingOfARejectedBlockIsStoredAndTheUploadTakesNoMore() throws Exception {
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
    Future<Void> first = append(upload, good);
    Future<Void> second = append(upload, bad);
    Future<Void> third = append(upload, good);
    await(first);
    assertSame(secret, failure(IllegalStateException.class, second));
    assertSame(secret, failure(IllegalStateException.class, third));
    assertSame(secret, failure(IllegalStateException.class, append(upload, good)));
    await(upload.release());
    assertArrayEquals(good, Files.readAllBytes(onlyFile("uploads")));
  }

  @Test
  void anUploadOpenedAgainHasItsBytesInspectedAndGoesOn() throws Exception {
    byte[] bytes = random(7, 5 * 1024 * 1024 + 17);
    byte[] rest = random(8, 1_000);
    upload("u", slices(bytes));
    reopen(SMALL);
    assertEquals(bytes.length, await(blobs.stored("u")));

    MessageDigest digest = Digests.newSha256();
    Upload upload =
        await(blobs.open("u", (block, from, to) -> digest.update(block, from, to - from)));
    assertEquals(bytes.length, upload.stored());
    await(append(upload, rest));
    await(upload.release());
    await(blobs.publish("u", "k"));
    byte[] whole = Arrays.copyOf(bytes, bytes.length + rest.length);
    System.arraycopy(rest, 0, whole, bytes.length, rest.length);
    assertArrayEquals(whole, blob("k"));
    assertArrayEquals(Digests.sha256(whole), digest.digest());
  }

  private static byte[][] slices(byte[] bytes) {
    List<byte[]> slices = new ArrayList<>();
    for (int i = 0; i < bytes.length; i += BLOCK) {
      slices.add(Arrays.copyOfRange(bytes, i, Math.min(bytes.length, i + BLOCK)));
    }
    return slices.toArray(byte[][]::new);
  }

  @Test
  void anOpeningFailsWithWhatTheInspectorThrowsAtStoredBytesAndReleasesTheUpload()
      throws Exception {
    upload("u", random(9, 100));
    IllegalStateException secret = new IllegalStateException("a secret");
    Future<Upload> opening =
        blobs.open(
            "u",
            (bytes, from, to) -> {
              throw secret;
            });
    assertSame(secret, failure(IllegalStateException.class, opening));
    await(await(blobs.open("u", NONE)).release());
    await(blobs.abandon("u"));
    assertEquals(List.of(), files("uploads"));
  }

  @Test
  void anUploadThatIsOpenIsNeitherOpenedNorPublished() throws Exception {
    Upload upload = await(blobs.open("u", NONE));
    failure(StorageBusy.class, blobs.open("u", NONE));
    failure(StorageBusy.class, blobs.publish("u", "k"));
    await(append(upload, random(10, 10)));
    await(upload.release());
    await(blobs.publish("u", "k"));
    assertEquals(10, blob("k").length);
  }

  @Test
  void openUploadsAreBounded() throws Exception {
    List<Upload> open = new ArrayList<>();
    for (int i = 0; i < SMALL.openUploads(); i++) {
      open.add(await(blobs.open("u" + i, NONE)));
    }
    failure(StorageBusy.class, blobs.open("more", NONE));
    await(open.get(3).release());
    await(blobs.open("more", NONE));
  }

  @Test
  void blobsThatAreReadAtOnceAreBoundedHoweverManyReadThem() throws Exception {
    List<Reading> readings = new ArrayList<>();
    for (int i = 0; i < SMALL.openBlobs(); i++) {
      publish("k" + i, random(11, 10));
      readings.add(await(blobs.read("k" + i)));
    }
    publish("more", random(11, 10));
    failure(StorageBusy.class, blobs.read("more"));
    for (int i = 0; i < 100; i++) {
      readings.add(await(blobs.read("k0")));
    }
    await(readings.get(0).close());
    failure(StorageBusy.class, blobs.read("more"));
    await(readings.get(1).close());
    failure(BlobGone.class, blobs.read("none"));
    await(blobs.read("more"));
  }

  @Test
  void readingsOfOneBlobShareItsFileAndEachEndsByItself() throws Exception {
    byte[] bytes = random(12, 3 * BLOCK);
    publish("k", bytes);
    List<Future<Reading>> asked = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      asked.add(blobs.read("k"));
    }
    await(Future.all(asked));
    Reading first = asked.get(0).result();
    Reading second = asked.get(1).result();
    assertSame(first.file().orElseThrow(), second.file().orElseThrow());
    await(first.close());
    await(first.close());
    failure(IllegalStateException.class, first.piece(5, 20));
    assertArrayEquals(Arrays.copyOfRange(bytes, 5, 25), await(second.piece(5, 20)).getBytes());
    for (Future<Reading> reading : asked) {
      await(reading.result().close());
    }
    assertFalse(second.file().orElseThrow().isOpen());
    Reading anew = await(blobs.read("k"));
    assertArrayEquals(Arrays.copyOfRange(bytes, 5, 25), await(anew.piece(5, 20)).getBytes());
  }

  @Test
  void aDeletedBlobIsReadToItsEndButByNobodyElse() throws Exception {
    byte[] bytes = random(13, BLOCK);
    publish("k", bytes);
    Reading reading = await(blobs.read("k"));
    await(blobs.delete("k"));
    failure(BlobGone.class, blobs.read("k"));
    assertArrayEquals(bytes, await(reading.piece(0, BLOCK)).getBytes());
  }

  @Test
  void whoeverDoesNotWaitForItsBlocksIsRefusedAndLeavesNoHole() throws Exception {
    CountDownLatch gate = new CountDownLatch(1);
    Upload upload = await(blobs.open("u", (bytes, from, to) -> pass(gate)));
    List<Future<Void>> taken = new ArrayList<>();
    for (int i = 0; i < SMALL.waitingBlocks(); i++) {
      taken.add(append(upload, random(i, BLOCK)));
    }
    failure(IllegalStateException.class, append(upload, random(20, BLOCK)));
    gate.countDown();
    await(Future.all(taken));
    failure(IllegalStateException.class, append(upload, random(21, BLOCK)));
    await(upload.release());
    byte[][] blocks = new byte[SMALL.waitingBlocks()][];
    Arrays.setAll(blocks, i -> random(i, BLOCK));
    assertArrayEquals(joined(blocks), Files.readAllBytes(onlyFile("uploads")));
  }

  private static byte[] joined(byte[]... blocks) {
    ByteBuffer all = ByteBuffer.allocate(Arrays.stream(blocks).mapToInt(b -> b.length).sum());
    Arrays.stream(blocks).forEach(all::put);
    return all.array();
  }

  private static void pass(CountDownLatch gate) {
    try {
      gate.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aBlockAfterTheReleaseOrLargerThanMayBeIsRefused() throws Exception {
    Upload upload = await(blobs.open("u", NONE));
    failure(
        IllegalArgumentException.class, append(upload, new byte[BlobStore.MAX_BLOCK_BYTES + 1]));
    await(append(upload, new byte[BlobStore.MAX_BLOCK_BYTES]));
    await(upload.release());
    await(upload.release());
    failure(IllegalStateException.class, append(upload, new byte[1]));
    assertEquals(BlobStore.MAX_BLOCK_BYTES, await(blobs.stored("u")));
  }

  @Test
  void abandoningAnUploadFailsWhatWaitsAndDeletesItsBytes() throws Exception {
    CountDownLatch gate = new CountDownLatch(1);
    AtomicInteger inspected = new AtomicInteger();
    Upload upload =
        await(
            blobs.open(
                "u",
                (bytes, from, to) -> {
                  inspected.incrementAndGet();
                  pass(gate);
                }));
    Future<Void> underWay = append(upload, random(22, BLOCK));
    Future<Void> waiting = append(upload, random(23, BLOCK));
    while (inspected.get() == 0) {
      Thread.onSpinWait();
    }
    Future<Void> abandoned = blobs.abandon("u");
    gate.countDown();
    await(abandoned);
    await(underWay);
    failure(BlobGone.class, waiting);
    failure(BlobGone.class, append(upload, random(24, BLOCK)));
    assertEquals(List.of(), files("uploads"));
    await(blobs.abandon("u"));
    await(blobs.abandon("never-there"));
  }

  @Test
  void abandoningAnUploadEndsItsOpening() throws Exception {
    upload("u", new byte[BLOCK], new byte[BLOCK]);
    CountDownLatch gate = new CountDownLatch(1);
    Future<Upload> opening = blobs.open("u", (bytes, from, to) -> pass(gate));
    Future<Void> abandoned = blobs.abandon("u");
    gate.countDown();
    failure(BlobGone.class, opening);
    await(abandoned);
    assertEquals(List.of(), files("uploads"));
  }

  @Test
  void storedBytesAreInspectedInTurnsAndNoBlockWaitsForThem() throws Exception {
    reopen(new BlobConfig(1, 8, 4, 4, 64, 0));
    upload("large", new byte[1]);
    upload("little", new byte[BLOCK]);
    try (RandomAccessFile file = new RandomAccessFile(path("large").toFile(), "rw")) {
      // Holes cost no room, and minutes to read.
      file.setLength(4L << 40);
    }
    CountDownLatch gate = new CountDownLatch(1);
    AtomicLong seen = new AtomicLong();
    Future<Upload> large =
        blobs.open(
            "large",
            (bytes, from, to) -> {
              seen.addAndGet(to - from);
              pass(gate);
            });
    while (seen.get() == 0) {
      Thread.onSpinWait();
    }
    Upload other = await(blobs.open("other", NONE));
    await(append(other, random(25, BLOCK)));
    assertEquals(BLOCK, seen.get());

    gate.countDown();
    assertEquals(BLOCK, await(blobs.open("little", NONE)).stored());
    assertFalse(large.isComplete());
    await(blobs.abandon("large"));
    failure(BlobGone.class, large);
  }

  private Path path(String uploadId) throws Exception {
    return files("uploads").stream()
        .filter(file -> file.endsWith(uploadId))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void uploadsAtTheSameTimeKeepTheirBytesApart() throws Exception {
    byte[] left = random(26, 20 * BLOCK);
    byte[] right = random(27, 20 * BLOCK);
    Upload first = await(blobs.open("u1", NONE));
    Upload second = await(blobs.open("u2", NONE));
    for (int i = 0; i < left.length; i += BLOCK) {
      await(Future.all(first.append(left, i, i + BLOCK), second.append(right, i, i + BLOCK)));
    }
    await(Future.all(first.release(), second.release()));
    await(Future.all(blobs.publish("u1", "k1"), blobs.publish("u2", "k2")));
    assertArrayEquals(left, blob("k1"));
    assertArrayEquals(right, blob("k2"));
  }

  @Test
  void uploadsAndBlobsAreListedInPagesByTheirAge() throws Exception {
    for (int i = 0; i < 60; i++) {
      upload("u" + i, new byte[1]);
      Files.setLastModifiedTime(path("u" + i), FileTime.fromMillis(i * 1_000L));
    }
    publish("k", new byte[1]);
    TreeSet<String> found = new TreeSet<>();
    String after = "";
    Page<String> page;
    do {
      page = await(blobs.listUploads(Instant.ofEpochSecond(40), after, 7));
      assertTrue(page.items().size() <= 7);
      found.addAll(page.items());
      after = page.items().get(page.items().size() - 1);
      // What was listed may go before the next page is asked for.
      await(blobs.abandon(after));
    } while (page.more());
    TreeSet<String> old = new TreeSet<>();
    for (int i = 0; i < 40; i++) {
      old.add("u" + i);
    }
    assertEquals(old, found);
    assertEquals(List.of("k"), await(blobs.listBlobs(FAR, "", 10)).items());
    failure(IllegalArgumentException.class, blobs.listBlobs(FAR, "", 0));
    failure(IllegalArgumentException.class, blobs.listBlobs(FAR, "../up", 1));
  }

  @Test
  void theAgeOfABlobCountsFromItsPublication() throws Exception {
    upload("u", new byte[1]);
    Files.setLastModifiedTime(path("u"), FileTime.fromMillis(0));
    await(blobs.publish("u", "k"));
    assertEquals(List.of(), await(blobs.listBlobs(clock.instant(), "", 10)).items());
    assertEquals(
        List.of("k"), await(blobs.listBlobs(clock.instant().plusMillis(1), "", 10)).items());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".", "..", ".hidden", "a/b", "../a", "a b", "é", "a\u0000"})
  void aNameThatIsNoNameIsRefused(String name) throws Exception {
    failure(IllegalArgumentException.class, blobs.open(name, NONE));
    failure(IllegalArgumentException.class, blobs.stored(name));
    failure(IllegalArgumentException.class, blobs.publish(name, "k"));
    failure(IllegalArgumentException.class, blobs.publish("u", name));
    failure(IllegalArgumentException.class, blobs.abandon(name));
    failure(IllegalArgumentException.class, blobs.delete(name));
    failure(IllegalArgumentException.class, blobs.exists(name));
    failure(IllegalArgumentException.class, blobs.read(name));
    failure(IllegalArgumentException.class, blobs.exists("a".repeat(129)));
    assertFalse(await(blobs.exists("a".repeat(128))));
  }

  @Test
  void futuresCompleteOnTheContextThatAsked() throws Exception {
    publish("k", new byte[10]);
    Context context = vertx.getOrCreateContext();
    Promise<Void> done = Promise.promise();
    context.runOnContext(
        v ->
            blobs
                .open("u", NONE)
                .compose(
                    upload -> {
                      assertSame(context, Vertx.currentContext());
                      return append(upload, new byte[10]).compose(x -> upload.release());
                    })
                .compose(
                    x -> {
                      assertSame(context, Vertx.currentContext());
                      return blobs.read("k");
                    })
                .compose(reading -> reading.piece(0, 10))
                .map(
                    x -> {
                      assertSame(context, Vertx.currentContext());
                      return (Void) null;
                    })
                .onComplete(done::handle));
    await(done.future());
  }

  @Test
  void aClosedStoreFailsWhatWaitsKeepsWholeBlocksAndTakesNoCalls() throws Exception {
    publish("k", new byte[10]);
    Reading reading = await(blobs.read("k"));
    CountDownLatch gate = new CountDownLatch(1);
    AtomicInteger inspected = new AtomicInteger();
    Upload upload =
        await(
            blobs.open(
                "u",
                (bytes, from, to) -> {
                  inspected.incrementAndGet();
                  pass(gate);
                }));
    Future<Void> underWay = append(upload, random(28, BLOCK));
    Future<Void> waiting = append(upload, random(29, BLOCK));
    while (inspected.get() == 0) {
      Thread.onSpinWait();
    }
    Future<Void> closed = blobs.close();
    gate.countDown();
    await(closed);
    await(underWay);
    failure(StorageBusy.class, waiting);
    assertFalse(reading.file().orElseThrow().isOpen());
    failure(StorageBusy.class, blobs.open("u", NONE));
    failure(StorageBusy.class, blobs.read("k"));
    failure(StorageBusy.class, blobs.exists("k"));
    failure(StorageBusy.class, blobs.publish("u", "k2"));
    assertArrayEquals(random(28, BLOCK), Files.readAllBytes(onlyFile("uploads")));
    blobs = open(SMALL);
    assertEquals(BLOCK, await(blobs.stored("u")));
  }
}
