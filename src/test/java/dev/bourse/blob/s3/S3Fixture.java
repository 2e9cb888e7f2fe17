package dev.bourse.blob.s3;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.bourse.blob.BlobConfig;
import dev.bourse.blob.BlobStore;
import dev.bourse.blob.Inspector;
import dev.bourse.blob.Reading;
import dev.bourse.blob.Upload;
import dev.bourse.core.FakeClock;
import dev.bourse.store.Database;
import dev.bourse.testing.S3Server;
import dev.bourse.testing.TestStore;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.retries.api.BackoffStrategy;
import software.amazon.awssdk.retries.api.RetryStrategy;

/** Object stores over one database and one server, one per simulated process. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
abstract class S3Fixture {
  /** The smallest part that S3 accepts, except for the last one. */
  static final int PART = 5 * 1024 * 1024;

  static final int BLOCK = BlobStore.BLOCK_BYTES;
  static final Inspector NONE = (bytes, from, to) -> {};
  static final BlobConfig BOUNDS = new BlobConfig(2, 8, 4, 8, 256, 0);

  /** Returns the service's retry strategy of one client without its pauses. */
  static RetryStrategy retries() {
    return AwsRetryStrategy.standardRetryStrategy().toBuilder()
        .backoffStrategy(BackoffStrategy.retryImmediately())
        .throttlingBackoffStrategy(BackoffStrategy.retryImmediately())
        .build();
  }

  static final S3Server SERVER = S3Server.s3proxy();

  final String bucket = SERVER.newBucket();

  @TempDir Path folder;
  final Vertx vertx = Vertx.vertx();
  final FakeClock clock = new FakeClock(1_800_000_000_000L);
  private final List<S3Blobs> opened = new ArrayList<>();
  Database database;
  S3Blobs blobs;

  @BeforeEach
  void openStore() throws Exception {
    database = await(TestStore.openEmbedded(vertx, folder.resolve("bourse.db"), clock));
    blobs = process();
  }

  @AfterEach
  void closeStore() throws Exception {
    for (S3Blobs one : opened) {
      await(one.close());
    }
    await(database.close());
    await(vertx.close());
  }

  /** The store of another process on the same database and bucket. */
  S3Blobs process() throws Exception {
    return process(SERVER.port());
  }

  /** Such a store that reaches the server through a proxy at a port. */
  S3Blobs process(int port) throws Exception {
    return process(port, database);
  }

  /** Such a store on a lossy database. */
  S3Blobs process(int port, Database rows) throws Exception {
    S3Blobs process =
        await(
            S3Blobs.open(
                new S3Blobs.Environment(
                    vertx,
                    rows,
                    folder.resolve("spools-" + opened.size()),
                    clock,
                    new Random(opened.size()),
                    (operation, outcome, nanos) -> {}),
                config(port),
                BOUNDS,
                PART,
                retries(),
                1));
    opened.add(process);
    return process;
  }

  /** The store of this test; the credentials are in a file. */
  S3Config config(int port) throws Exception {
    Path credentials =
        Files.writeString(
            folder.resolve("credentials"),
            """
            [default]
            aws_access_key_id = %s
            aws_secret_access_key = %s
            """
                .formatted(S3Server.ACCESS_KEY, S3Server.SECRET_KEY));
    return S3Config.parse(S3Server.store(bucket, port), Optional.of(credentials));
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

  static void append(Upload upload, byte[] bytes, int from, int to) throws Exception {
    for (int at = from; at < to; at += BLOCK) {
      await(upload.append(bytes, at, Math.min(to, at + BLOCK)));
    }
  }

  /** Appends and publishes some bytes. */
  static void publish(S3Blobs store, String key, byte[] bytes) throws Exception {
    Upload upload = await(store.open("of-" + key, NONE));
    append(upload, bytes, 0, bytes.length);
    await(upload.finish());
    await(upload.release());
    await(store.publish("of-" + key, key));
  }

  static byte[] content(S3Blobs store, String key) throws Exception {
    Reading reading = await(store.read(key));
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    while (bytes.size() < reading.length()) {
      int count = (int) Math.min(900_000, reading.length() - bytes.size());
      bytes.write(await(reading.piece(bytes.size(), count)).getBytes());
    }
    await(reading.close());
    return bytes.toByteArray();
  }

  static String sha256(byte[] bytes) throws Exception {
    return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
  }

  /** The bucket contains only these blobs' objects, in accordance with the rows. */
  void holdsOnly(String... keys) throws Exception {
    await(blobs.tidy());
    List<String> wanted =
        await(
            database.read(
                "SELECT object, bytes FROM blob ORDER BY object",
                List.of(),
                row -> "bourse/" + row.text("object") + ' ' + row.integer("bytes")));
    assertEquals(keys.length, wanted.size());
    // Pieces are deleted in the background.
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!SERVER.objects(bucket).equals(wanted) && System.nanoTime() < deadline) {
      TimeUnit.MILLISECONDS.sleep(20);
    }
    assertEquals(wanted, SERVER.objects(bucket));
    assertEquals(List.of(), SERVER.multiparts(bucket));
    for (String rows : List.of("blob_upload", "blob_part", "blob_piece")) {
      long left =
          await(
              database.readOne(
                  "SELECT COUNT(*) AS n FROM " + rows, List.of(), row -> row.integer("n")));
      assertEquals(0, left, rows);
    }
  }

  /** Sees bytes, counts them and computes their digest. */
  static final class Digest implements Inspector {
    final AtomicLong seen = new AtomicLong();
    private final MessageDigest digest;

    Digest() throws Exception {
      digest = MessageDigest.getInstance("SHA-256");
    }

    @Override
    public void inspect(byte[] bytes, int from, int to) {
      seen.addAndGet(to - from);
      digest.update(bytes, from, to - from);
    }

    String hex() {
      return HexFormat.of().formatHex(digest.digest());
    }
  }
}
