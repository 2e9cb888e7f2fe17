package dev.bourse.blob;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;

/** The contract of blob stores, for a local one. */
@SuppressWarnings("NullAway.Init") // JUnit gives the folder.
class LocalBlobsContractTest extends BlobStoreContract {
  @TempDir Path folder;

  @Override
  protected BlobStore open() throws Exception {
    return await(LocalBlobs.open(vertx, folder.resolve("checkpoints"), SMALL, clock));
  }

  @Override
  protected int largeBytes() {
    return 5 * BLOCK + 17;
  }

  @Override
  protected void checkHoldsNothingElse() throws IOException {
    try (Stream<Path> files = Files.walk(folder.resolve("checkpoints").resolve("uploads"))) {
      List<Path> left = files.filter(Files::isRegularFile).toList();
      assertTrue(left.isEmpty(), () -> "uploads that nobody ended: " + left);
    }
  }
}
