package dev.bourse.blob.s3;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.blob.BlobStore;
import dev.bourse.blob.BlobStoreContract;
import dev.bourse.store.Database;
import dev.bourse.testing.S3Server;
import dev.bourse.testing.TestStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;

/** The contract of blob stores, for one on an S3 server. */
@SuppressWarnings("NullAway.Init") // JUnit gives the folder.
abstract class S3Contract extends BlobStoreContract {
  /** The smallest part that S3 accepts, except for the last one. */
  private static final int PART = 5 * 1024 * 1024;

  private final S3Server server;
  private final String bucket;
  private final Random random = new Random(1);
  private @Nullable Database database;
  @TempDir Path folder;

  S3Contract(S3Server server) {
    this.server = server;
    bucket = server.newBucket();
  }

  @Override
  protected BlobStore open() throws Exception {
    Path credentials =
        Files.writeString(
            folder.resolve("credentials"),
            """
            [default]
            aws_access_key_id = %s
            aws_secret_access_key = %s
            """
                .formatted(S3Server.ACCESS_KEY, S3Server.SECRET_KEY));
    return await(
        S3Blobs.open(
            new S3Blobs.Environment(
                vertx,
                database(),
                folder.resolve("spools"),
                clock,
                random,
                (operation, outcome, nanos) -> {}),
            S3Config.parse(server.store(bucket), Optional.of(credentials)),
            SMALL,
            PART,
            S3Fixture.retries(),
            1));
  }

  private Database database() throws Exception {
    if (database == null) {
      database = await(TestStore.openEmbedded(vertx, folder.resolve("rows"), clock));
    }
    return database;
  }

  @Override
  protected int largeBytes() {
    return PART + 300_017;
  }

  /** The objects of the blobs' rows, and no others after the cleanup. */
  @Override
  protected void checkHoldsNothingElse() throws Exception {
    BlobStore cleanup = open();
    await(cleanup.tidy());
    List<String> named =
        await(
            database()
                .read(
                    "SELECT object, bytes FROM blob ORDER BY object",
                    List.of(),
                    row -> "bourse/" + row.text("object") + ' ' + row.integer("bytes")));
    // Deletions in the background may take a while.
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!server.objects(bucket).equals(named) && System.nanoTime() < deadline) {
      TimeUnit.MILLISECONDS.sleep(10);
    }
    assertEquals(named, server.objects(bucket));
    assertEquals(List.of(), server.multiparts(bucket));
    await(cleanup.close());
  }

  @Override
  protected void closeGround() throws Exception {
    await(database().close());
  }
}
