package dev.bourse.blob;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.bourse.core.Digests;
import io.vertx.core.Future;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Uploads of a local store: what is appended, inspected, opened again and given up. */
class LocalUploadTest extends BlobFixture {
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
  void whoeverDoesNotWaitForItsBlocksIsRefusedAndLeavesNoHole() throws Exception {
    Gate gate = new Gate();
    Upload upload = await(blobs.open("u", gate));
    List<Future<Void>> taken = new ArrayList<>();
    for (int i = 0; i < SMALL.waitingBlocks(); i++) {
      taken.add(append(upload, random(i, BLOCK)));
    }
    failure(IllegalStateException.class, append(upload, random(20, BLOCK)));
    gate.open();
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
    Gate gate = new Gate();
    Upload upload = await(blobs.open("u", gate));
    Future<Void> underWay = append(upload, random(22, BLOCK));
    Future<Void> waiting = append(upload, random(23, BLOCK));
    gate.awaitShown();
    Future<Void> abandoned = blobs.abandon("u");
    gate.open();
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
    Gate gate = new Gate();
    Future<Upload> opening = blobs.open("u", gate);
    Future<Void> abandoned = blobs.abandon("u");
    gate.open();
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
    Gate gate = new Gate();
    Future<Upload> large = blobs.open("large", gate);
    gate.awaitShown();
    Upload other = await(blobs.open("other", NONE));
    await(append(other, random(25, BLOCK)));
    assertEquals(BLOCK, gate.shown.get());

    gate.open();
    assertEquals(BLOCK, await(blobs.open("little", NONE)).stored());
    assertFalse(large.isComplete());
    await(blobs.abandon("large"));
    failure(BlobGone.class, large);
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
}
