package dev.bourse.blob;

import dev.bourse.core.Digests;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.concurrent.ExecutionException;

/** A process of its own with a local store, which prints what it did line by line. */
final class BlobProcess {
  static final int BLOCK = 64 * 1024;
  static final int BLOCKS = 5;

  private BlobProcess() {}

  public static void main(String[] args) throws Exception {
    Vertx vertx = Vertx.vertx();
    LocalBlobs blobs =
        get(LocalBlobs.open(vertx, Path.of(args[1]), BlobFixture.SMALL, Clock.systemUTC()));
    switch (args[0]) {
      case "publish" -> publishForEver(blobs, Integer.parseInt(args[2]));
      case "fill" -> fill(blobs);
      case "stream" -> stream(blobs, Integer.parseInt(args[2]));
      default -> throw new IllegalArgumentException(args[0]);
    }
    get(blobs.close());
    get(vertx.close());
  }

  /** The content of the blob with this number, block by block. */
  static byte[] block(int number) {
    byte[] block = new byte[BLOCK];
    Arrays.fill(block, (byte) (number * 31 + 7));
    return block;
  }

  private static void publishForEver(LocalBlobs blobs, int first) throws Exception {
    for (int number = first; ; number++) {
      Upload upload = get(blobs.open("u" + number, BlobFixture.NONE));
      for (int i = 0; i < BLOCKS; i++) {
        get(BlobFixture.append(upload, block(number)));
      }
      get(upload.release());
      get(blobs.publish("u" + number, "k" + number));
      System.out.println(number + ".");
      System.out.flush();
    }
  }

  /** Appends until the disk is full, and continues with another upload. */
  private static void fill(LocalBlobs blobs) throws Exception {
    Upload upload = get(blobs.open("large", BlobFixture.NONE));
    try {
      while (true) {
        get(BlobFixture.append(upload, block(1)));
      }
    } catch (ExecutionException e) {
      System.out.println(String.valueOf(e.getCause()));
    }
    get(upload.release());
    System.out.println(upload.stored());
    Upload little = get(blobs.open("little", BlobFixture.NONE));
    get(BlobFixture.append(little, block(2)));
    get(little.release());
    get(blobs.publish("little", "little"));
    System.out.println(get(blobs.read("little")).length());
  }

  /** Appends this many MiB, opens them again, publishes and reads them; prints both digests. */
  private static void stream(LocalBlobs blobs, int mebibytes) throws Exception {
    MessageDigest written = Digests.newSha256();
    Upload upload = get(blobs.open("large", into(written)));
    ArrayDeque<Future<Void>> waiting = new ArrayDeque<>();
    byte[][] blocks = new byte[BlobFixture.SMALL.waitingBlocks()][];
    Arrays.setAll(blocks, i -> BlobFixture.random(i, BlobStore.BLOCK_BYTES));
    for (int i = 0; i < mebibytes * 4; i++) {
      if (waiting.size() == blocks.length) {
        get(waiting.remove());
      }
      waiting.add(BlobFixture.append(upload, blocks[i % blocks.length]));
    }
    get(Future.all(new ArrayList<>(waiting)));
    get(upload.release());
    MessageDigest again = Digests.newSha256();
    get(get(blobs.open("large", into(again))).release());
    get(blobs.publish("large", "large"));
    MessageDigest read = Digests.newSha256();
    Reading reading = get(blobs.read("large"));
    for (long at = 0; at < reading.length(); at += BlobStore.BLOCK_BYTES) {
      read.update(get(reading.piece(at, BlobStore.BLOCK_BYTES)).getBytes());
    }
    System.out.println(reading.length());
    System.out.println(HexFormat.of().formatHex(written.digest()));
    System.out.println(HexFormat.of().formatHex(again.digest()));
    System.out.println(HexFormat.of().formatHex(read.digest()));
  }

  private static Inspector into(MessageDigest digest) {
    return (bytes, from, to) -> digest.update(bytes, from, to - from);
  }

  private static <T> T get(Future<T> future) throws Exception {
    return BlobFixture.await(future);
  }
}
