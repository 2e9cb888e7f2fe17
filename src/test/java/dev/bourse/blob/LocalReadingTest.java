package dev.bourse.blob;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Readings of a local store: pieces of blobs, shared files, and blobs that are deleted while they
 * are read.
 */
class LocalReadingTest extends BlobFixture {
  @Test
  void blobsThatAreReadAtOnceAreBoundedHoweverManyReadThem() throws Exception {
    List<Reading> readings = new ArrayList<>();
    for (int i = 0; i < SMALL.openBlobs(); i++) {
      publish("k" + i, random(11, 10));
      readings.add(await(blobs.read("k" + i)));
    }
    publish("more", random(11, 10));
    failure(StorageBusyException.class, blobs.read("more"));
    for (int i = 0; i < 100; i++) {
      readings.add(await(blobs.read("k0")));
    }
    await(readings.get(0).close());
    failure(StorageBusyException.class, blobs.read("more"));
    await(readings.get(1).close());
    failure(BlobNotFoundException.class, blobs.read("none"));
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
}
