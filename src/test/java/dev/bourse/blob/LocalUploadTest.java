package dev.bourse.blob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.vertx.core.Future;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Uploads of a local store: appending, inspection, reopening and ending. */
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
  void abandoningAnUploadEndsItsOpening() throws Exception {
    upload("u", new byte[BLOCK], new byte[BLOCK]);
    Gate gate = new Gate();
    Future<Upload> opening = blobs.open("u", gate);
    Future<Void> abandoned = blobs.abandon("u");
    gate.open();
    failure(BlobNotFoundException.class, opening);
    await(abandoned);
    assertEquals(List.of(), files("uploads"));
  }

  @Test
  void storedBytesAreInspectedInTurnsAndNoBlockWaitsForThem() throws Exception {
    reopen(new BlobConfig(1, 8, 4, 4, 64, 0));
    upload("large", new byte[1]);
    upload("little", new byte[BLOCK]);
    try (RandomAccessFile file = new RandomAccessFile(path("large").toFile(), "rw")) {
      // A sparse file takes no space, and minutes to read.
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
    failure(BlobNotFoundException.class, large);
  }
}
