package dev.bourse.blob;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.Page;
import io.vertx.core.Future;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The behaviour of a local store without failures, and its rejections. */
class LocalBlobsTest extends BlobFixture {
  private static final Instant FAR = Instant.parse("2100-01-01T00:00:00Z");

  @Test
  void nobodyButTheServicesUserMayReadTheFiles() throws Exception {
    publish("k", random(2, 10));
    upload("u", random(3, 10));
    await(blobs.folderId());
    try (Stream<Path> paths = Files.walk(folder)) {
      for (Path path : paths.toList()) {
        assertEquals(
            Files.isDirectory(path) ? "rwx------" : "rw-------",
            PosixFilePermissions.toString(Files.getPosixFilePermissions(path)),
            path::toString);
      }
    }
  }

  @Test
  void aFolderIsKnownByTheSameIdAfterARestart() throws Exception {
    String id = await(blobs.folderId());
    reopen(BlobConfig.defaults());
    assertEquals(id, await(blobs.folderId()));
  }

  @Test
  void uploadsAndBlobsAreListedInPagesByTheirAge() throws Exception {
    for (int i = 0; i < 60; i++) {
      upload("u" + i, new byte[1]);
      Files.setLastModifiedTime(path("u" + i), FileTime.fromMillis(i * 1_000L));
    }
    publish("k", new byte[1]);
    TreeSet<String> found = new TreeSet<>();
    String after = "";
    Page<String> page;
    do {
      page = await(blobs.listUploads(Instant.ofEpochSecond(40), after, 7));
      assertTrue(page.items().size() <= 7);
      found.addAll(page.items());
      after = page.items().get(page.items().size() - 1);
      // A listed item may be deleted before the next page is requested.
      await(blobs.abandon(after));
    } while (page.more());
    TreeSet<String> old = new TreeSet<>();
    for (int i = 0; i < 40; i++) {
      old.add("u" + i);
    }
    assertEquals(old, found);
    assertEquals(List.of("k"), await(blobs.listBlobs(FAR, "", 10)).items());
    failure(IllegalArgumentException.class, blobs.listBlobs(FAR, "", 0));
    failure(IllegalArgumentException.class, blobs.listBlobs(FAR, "../up", 1));
  }

  @Test
  void aClosedStoreFailsWhatWaitsKeepsWholeBlocksAndTakesNoCalls() throws Exception {
    publish("k", new byte[10]);
    Reading reading = await(blobs.read("k"));
    Gate gate = new Gate();
    Upload upload = await(blobs.open("u", gate));
    Future<Void> underWay = append(upload, random(28, BLOCK));
    Future<Void> waiting = append(upload, random(29, BLOCK));
    gate.awaitShown();
    Future<Void> closed = blobs.close();
    gate.open();
    await(closed);
    await(underWay);
    failure(StorageBusyException.class, waiting);
    assertFalse(reading.file().orElseThrow().isOpen());
    failure(StorageBusyException.class, blobs.open("u", NONE));
    failure(StorageBusyException.class, blobs.read("k"));
    failure(StorageBusyException.class, blobs.exists("k"));
    failure(StorageBusyException.class, blobs.publish("u", "k2"));
    assertArrayEquals(random(28, BLOCK), Files.readAllBytes(onlyFile("uploads")));
    blobs = open(SMALL);
    assertEquals(BLOCK, await(blobs.stored("u")));
  }
}
