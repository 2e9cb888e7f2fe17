package dev.bourse.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.blob.StorageFault;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The deletion of what is of no more use, when some of it cannot be deleted. */
class SweepTest extends CheckpointFixture {
  private static final byte[] BYTES = bytes(1_000, 1);

  private final class Published {
    final String id;
    final String key;

    Published(Services services, String fileName) throws Exception {
      Checkpoint item =
          await(
                  services.checkpoints.publish(
                      member("alice"), publication(Visibility.ORG, fileName, BYTES, false)))
              .item();
      await(services.direct.put(member("alice"), item.id(), source(BYTES)));
      id = item.id();
      key = BlobName.key(id, 1, sha256(BYTES));
    }

    Path file() throws Exception {
      try (Stream<Path> files = Files.walk(folder)) {
        return files.filter(path -> path.endsWith(key)).findFirst().orElseThrow();
      }
    }
  }

  @Test
  void whatCannotBeDeletedHoldsNothingElseUpAndIsTriedAgain() throws Exception {
    Services services = services();
    Published stuck = new Published(services, "stuck.bin");
    Published other = new Published(services, "other.bin");
    Path place = stuck.file();
    Files.delete(place);
    Files.createDirectory(place);
    Path inside = Files.createFile(place.resolve("inside"));
    for (Published one : new Published[] {stuck, other}) {
      await(services.checkpoints.delete(member("alice"), one.id));
      clock.advance(10 * CONFIG.graceMillis());
    }

    assertTrue(await(services.sweep.run()) > 0);
    assertEquals(false, await(blobs.exists(other.key)), "it comes behind the one that is stuck");
    fails(StorageFault.class, services.sweep.run());
    Files.delete(inside);
    assertTrue(await(services.sweep.run()) > 0);
    assertEquals(false, await(blobs.exists(stuck.key)));
    assertEquals(0, await(services.sweep.run()));
  }
}
