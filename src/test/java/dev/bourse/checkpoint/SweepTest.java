package dev.bourse.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.blob.BlobStore;
import dev.bourse.blob.StorageFaultException;
import dev.bourse.blob.Upload;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The deletion of obsolete data, when some of it cannot be deleted. */
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
    fails(StorageFaultException.class, services.sweep.run());
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
    fails(StorageFaultException.class, services.sweep.run());
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

  /** The store, of which some deletions fail, after the time that all attempts take. */
  private BlobStore failingSlowly(Predicate<String> isStuck, List<String> tried) {
    return (BlobStore)
        Proxy.newProxyInstance(
            BlobStore.class.getClassLoader(),
            new Class<?>[] {BlobStore.class},
            (proxy, method, arguments) -> {
              if (Set.of("delete", "abandon").contains(method.getName())
                  && isStuck.test((String) arguments[0])) {
                tried.add((String) arguments[0]);
                clock.advance(3_000);
                return Future.failedFuture(new StorageFaultException("it is away", null));
              }
              return method.invoke(blobs, arguments);
            });
  }

  private static List<String> keys(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> BlobName.key("ckp_one" + i, 1, sha256(BYTES)))
        .toList();
  }

  /** Creates a blob without a row. */
  private void orphan(String key) throws Exception {
    Upload upload = await(blobs.open("of-" + key, (bytes, from, to) -> {}));
    await(upload.append(BYTES, 0, BYTES.length));
    await(upload.finish());
    await(upload.release());
    await(blobs.publish("of-" + key, key));
  }

  @Test
  void aRunDoesNotWaitForAStorageThatIsAwayMoreThanThreeTimes() throws Exception {
    List<String> keys = keys(9);
    for (String key : keys) {
      garbage(key);
      clock.advance(1);
    }
    for (String key : keys(20).subList(10, 20)) {
      orphan(key);
    }
    clock.advance(Sweep.ORPHAN_AGE_MILLIS + CONFIG.graceMillis());
    List<String> tried = new ArrayList<>();
    AtomicBoolean isAway = new AtomicBoolean(true);
    Services services = new Services(database, failingSlowly(key -> isAway.get(), tried));
    fails(StorageFaultException.class, services.sweep.run());
    assertEquals(keys.subList(0, 3), tried);
    fails(StorageFaultException.class, services.sweep.run());
    assertEquals(keys.subList(0, 6), tried);

    isAway.set(false);
    int deleted = 0;
    int now;
    while ((now = await(services.sweep.run())) > 0) {
      deleted += now;
    }
    assertEquals(19, deleted, "those that were tried in vain, too");
    assertEquals(0L, integers("SELECT COUNT(*) FROM checkpoint_garbage").get(0));
  }

  @Test
  void whatFailsSlowlyEachTimeDoesNotKeepTheSweepFromWhatComesBehindIt() throws Exception {
    List<String> useless = keys(4);
    for (String key : useless) {
      garbage(key);
      clock.advance(1);
    }
    for (String key : keys(8).subList(4, 8)) {
      orphan(key);
    }
    clock.advance(Sweep.ORPHAN_AGE_MILLIS + CONFIG.graceMillis());
    List<String> orphans =
        await(blobs.listBlobs(Instant.ofEpochMilli(clock.millis()), "", 10)).items();
    Set<String> stuck = new HashSet<>(useless.subList(0, 3));
    stuck.addAll(orphans.subList(0, 3));
    Services services = new Services(database, failingSlowly(stuck::contains, new ArrayList<>()));

    fails(StorageFaultException.class, services.sweep.run());
    assertEquals(1, await(services.sweep.run()), "the one behind the three that failed");
    assertEquals(3L, integers("SELECT COUNT(*) FROM checkpoint_garbage").get(0));
    int runs = 0;
    while (await(blobs.exists(orphans.get(3)))) {
      assertTrue(++runs <= 4, "the orphan behind three is reached");
      services.sweep.run().otherwiseEmpty().toCompletionStage().toCompletableFuture().join();
    }
  }

  /** Returns the path of a blob's file. */
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
