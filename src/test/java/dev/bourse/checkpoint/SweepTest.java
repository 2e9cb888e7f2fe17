package dev.bourse.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.blob.StorageFault;
import dev.bourse.store.Statement;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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
  void nothingIsDeletedByItsAgeWhileNoClockIsConfirmed() throws Exception {
    Services services = services();
    Published one = new Published(services, "one.bin");
    await(services.checkpoints.delete(member("alice"), one.id));
    clock.advance(10 * CONFIG.graceMillis());
    clock.confirm(false);
    assertEquals(0, await(services.sweep.run()));
    assertEquals(true, await(blobs.exists(one.key)));

    clock.confirm(true);
    assertTrue(await(services.sweep.run()) > 0);
    assertEquals(false, await(blobs.exists(one.key)));
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

  @Test
  void thoughPagesOfBytesCannotBeDeletedWhatComesBehindThemIs() throws Exception {
    Services services = services();
    List<String> stuck = new ArrayList<>();
    for (int i = 0; i < 250; i++) {
      stuck.add(BlobName.key("ckp_stuck" + i, 1, sha256(BYTES)));
      Files.createDirectories(place(stuck.get(i)).resolve("inside"));
      garbage(stuck.get(i));
    }
    clock.advance(10);
    Published other = new Published(services, "other.bin");
    await(services.checkpoints.delete(member("alice"), other.id));
    clock.advance(10 * CONFIG.graceMillis());

    assertEquals(1, await(services.sweep.run()));
    assertEquals(false, await(blobs.exists(other.key)));
    assertEquals(250L, integers("SELECT COUNT(*) FROM checkpoint_garbage").get(0));
    fails(StorageFault.class, services.sweep.run());
    for (String key : stuck) {
      Files.delete(place(key).resolve("inside"));
    }
    int deleted = 0;
    int now;
    while ((now = await(services.sweep.run())) > 0) {
      deleted += now;
    }
    assertEquals(250, deleted, "all of them are tried again");
    assertEquals(0L, integers("SELECT COUNT(*) FROM checkpoint_garbage").get(0));
  }

  /** Where a blob's file is. */
  private Path place(String key) {
    return folder
        .resolve("blobs/blobs")
        .resolve(sha256(key.getBytes(StandardCharsets.US_ASCII)).substring(0, 2))
        .resolve(key);
  }

  private void garbage(String key) throws Exception {
    await(
        database.commit(
            List.of(
                Statement.of(
                    "INSERT INTO checkpoint_garbage (name, kind, since) VALUES (?, 'blob', ?)",
                    key,
                    clock.millis()))));
  }
}
