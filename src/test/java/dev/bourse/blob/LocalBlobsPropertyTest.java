package dev.bourse.blob;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Random walks over uploads and blobs, compared with a model of byte strings. */
class LocalBlobsPropertyTest extends BlobFixture {
  private static final int WALKS = 25;
  private static final int STEPS = 40;

  private final Map<String, byte[]> uploads = new HashMap<>();
  private final Map<String, byte[]> published = new HashMap<>();
  private final Map<String, Opened> open = new HashMap<>();

  /** An open upload and the bytes its inspector has seen. */
  private record Opened(Upload upload, Seen seen) {}

  private static final class Seen implements Inspector {
    private byte[] bytes = new byte[0];

    @Override
    public void inspect(byte[] block, int from, int to) {
      bytes = joined(bytes, Arrays.copyOfRange(block, from, to));
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void anyOrderOfCallsKeepsUploadsAndBlobsAsTheModelHasThem(long seed) throws Exception {
    Random random = new Random(seed);
    for (int walk = 0; walk < WALKS; walk++) {
      for (int i = 0; i < STEPS; i++) {
        String upload = "u" + random.nextInt(4);
        String key = "k" + walk + "-" + i;
        switch (random.nextInt(12)) {
          case 0, 1, 2 -> open(upload);
          case 3, 4, 5, 6 -> append(upload, random);
          case 7 -> release(upload);
          case 8, 9 -> publish(upload, key);
          case 10 -> abandon(upload);
          default -> delete(random);
        }
      }
      restart();
      check();
    }
  }

  private static byte[] joined(byte[] first, byte[] second) {
    byte[] both = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    return both;
  }

  private void open(String id) throws Exception {
    Seen seen = new Seen();
    if (open.containsKey(id)) {
      failure(StorageBusyException.class, blobs.open(id, seen));
    } else {
      open.put(id, new Opened(await(blobs.open(id, seen)), seen));
      uploads.putIfAbsent(id, new byte[0]);
      assertArrayEquals(uploads.get(id), seen.bytes);
    }
  }

  /** Up to four blocks that do not wait for each other. */
  private void append(String id, Random random) throws Exception {
    Opened opened = open.get(id);
    if (opened == null) {
      return;
    }
    List<Future<Void>> all = new ArrayList<>();
    for (int i = random.nextInt(4); i >= 0; i--) {
      byte[] block = random(random.nextLong(), random.nextInt(3_000));
      uploads.merge(id, block, LocalBlobsPropertyTest::joined);
      all.add(append(opened.upload(), block));
    }
    if (random.nextBoolean()) {
      all.add(opened.upload().release());
      open.remove(id);
    }
    await(Future.all(all));
    assertArrayEquals(uploads.get(id), opened.seen().bytes);
  }

  private void release(String id) throws Exception {
    Opened opened = open.remove(id);
    if (opened != null) {
      await(opened.upload().release());
    }
  }

  private void publish(String id, String key) throws Exception {
    if (open.containsKey(id)) {
      failure(StorageBusyException.class, blobs.publish(id, key));
      return;
    }
    byte[] bytes = uploads.remove(id);
    if (bytes == null) {
      failure(BlobNotFoundException.class, blobs.publish(id, key));
    } else {
      await(blobs.publish(id, key));
      published.put(key, bytes);
    }
  }

  private void abandon(String id) throws Exception {
    await(blobs.abandon(id));
    uploads.remove(id);
    open.remove(id);
  }

  private void delete(Random random) throws Exception {
    List<String> keys = published.keySet().stream().sorted().toList();
    if (!keys.isEmpty()) {
      String key = keys.get(random.nextInt(keys.size()));
      published.remove(key);
      await(blobs.delete(key));
    }
  }

  private void restart() throws Exception {
    open.clear();
    reopen(SMALL);
  }

  private void check() throws Exception {
    for (int i = 0; i < 4; i++) {
      byte[] kept = uploads.getOrDefault("u" + i, new byte[0]);
      assertEquals(kept.length, await(blobs.stored("u" + i)));
    }
    TreeSet<String> keys = new TreeSet<>();
    files("blobs").forEach(file -> keys.add(String.valueOf(file.getFileName())));
    assertEquals(new TreeSet<>(published.keySet()), keys);
    for (Map.Entry<String, byte[]> blob : published.entrySet()) {
      assertArrayEquals(blob.getValue(), blob(blob.getKey()));
    }
  }
}
