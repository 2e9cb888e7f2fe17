package dev.bourse.blob;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.FakeClock;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A local store in its own folder, with helpers for its tests. */
abstract class BlobFixture {
  static final int BLOCK = BlobStore.BLOCK_BYTES;
  static final Inspector NONE = (bytes, from, to) -> {};

  /** Two threads and room for 8 uploads, so that limits are reached soon. */
  static final BlobConfig SMALL = new BlobConfig(2, 8, 4, 4, 64, 0);

  final FakeClock clock = new FakeClock(1_800_000_000_000L);
  final Vertx vertx = Vertx.vertx();
  Path folder;
  LocalBlobs blobs;

  @BeforeEach
  void openStore(@TempDir Path temporary) throws Exception {
    folder = temporary.resolve("checkpoints");
    blobs = open(SMALL);
  }

  @AfterEach
  void closeStore() throws Exception {
    await(blobs.close());
    await(vertx.close());
  }

  LocalBlobs open(BlobConfig config) throws Exception {
    return await(LocalBlobs.open(vertx, folder, config, clock));
  }

  void reopen(BlobConfig config) throws Exception {
    await(blobs.close());
    blobs = open(config);
  }

  static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  static <E extends Throwable> E failure(Class<E> type, Future<?> future) {
    ExecutionException e = assertThrows(ExecutionException.class, () -> await(future));
    return assertInstanceOf(type, e.getCause());
  }

  static byte[] random(long seed, int length) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  static Future<Void> append(Upload upload, byte[] bytes) {
    return upload.append(bytes, 0, bytes.length);
  }

  /** An upload of these blocks, released. */
  void upload(String uploadId, byte[]... blocks) throws Exception {
    Upload upload = await(blobs.open(uploadId, NONE));
    for (byte[] block : blocks) {
      await(append(upload, block));
    }
    await(upload.release());
  }

  void publish(String key, byte[]... blocks) throws Exception {
    upload("of-" + key, blocks);
    await(blobs.publish("of-" + key, key));
  }

  byte[] blob(String key) throws Exception {
    return content(await(blobs.read(key)));
  }

  static byte[] content(Reading reading) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    while (bytes.size() < reading.length()) {
      int count = (int) Math.min(100_000, reading.length() - bytes.size());
      bytes.write(await(reading.piece(bytes.size(), count)).getBytes());
    }
    await(reading.close());
    return bytes.toByteArray();
  }

  /** The files below an area of the store. */
  List<Path> files(String area) throws IOException {
    try (Stream<Path> found = Files.walk(folder.resolve(area))) {
      return found.filter(Files::isRegularFile).sorted().toList();
    }
  }

  Path onlyFile(String area) throws IOException {
    List<Path> found = files(area);
    assertTrue(found.size() == 1, () -> "files: " + found);
    return found.get(0);
  }

  /** The file of an upload. */
  Path path(String uploadId) throws Exception {
    return files("uploads").stream()
        .filter(file -> file.endsWith(uploadId))
        .findFirst()
        .orElseThrow();
  }

  /** An inspector that counts its blocks and blocks until the gate is opened. */
  static final class Gate implements Inspector {
    final AtomicLong shown = new AtomicLong();
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

    /** Waits until it has received a block. */
    void awaitShown() throws InterruptedException {
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      while (shown.get() == 0) {
        assertTrue(System.nanoTime() < deadline, "nothing is shown");
        TimeUnit.MILLISECONDS.sleep(1);
      }
    }
  }
}
