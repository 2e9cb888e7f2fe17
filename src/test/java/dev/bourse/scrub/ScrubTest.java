package dev.bourse.scrub;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.blob.BlobGone;
import dev.bourse.blob.BlobStore;
import dev.bourse.blob.StorageFault;
import dev.bourse.checkpoint.BlobName;
import dev.bourse.checkpoint.CheckpointFixture;
import dev.bourse.checkpoint.CheckpointService;
import dev.bourse.checkpoint.Metadata;
import dev.bourse.checkpoint.ReplacePolicy;
import dev.bourse.checkpoint.SetFile;
import dev.bourse.checkpoint.StoredBlobs;
import dev.bourse.checkpoint.Visibility;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** What the scrub finds, and that several processes divide it among them. */
class ScrubTest extends CheckpointFixture {
  private static final int ALL_IN_A_DAY = Pace.WHOLE;
  private static final long DAY = 86_400_000;
  private static final byte[] BYTES = bytes(3_000, 1);

  private final AtomicInteger opened = new AtomicInteger();

  private Scrub scrub(BlobStore bytes, int share) {
    return scrub(bytes, share, true);
  }

  private Scrub scrub(BlobStore bytes, int share, boolean isShared) {
    return new Scrub(
        vertx,
        new ScrubStore(database),
        new StoredBlobs(database),
        bytes,
        isShared,
        new ScrubConfig(share),
        System::nanoTime);
  }

  private Scrub scrub() {
    return scrub(blobs, ALL_IN_A_DAY);
  }

  private String publish(String fileName) throws Exception {
    Services services = services();
    String id =
        await(
                services.checkpoints.publish(
                    member("alice"), publication(Visibility.ORG, fileName, BYTES, false)))
            .item()
            .id();
    await(services.direct.put(member("alice"), id, source(BYTES)));
    return id;
  }

  private static String key(String id) {
    return BlobName.key(id, 1, sha256(BYTES));
  }

  /** Where a blob's file is. */
  private Path place(String id) {
    return placeOf(key(id));
  }

  private Path placeOf(String key) {
    return folder
        .resolve("blobs/blobs")
        .resolve(sha256(key.getBytes(StandardCharsets.US_ASCII)).substring(0, 2))
        .resolve(key);
  }

  /** Publishes a set of one file; gives its id. */
  private String publishSet(String name) throws Exception {
    Services services = services();
    CheckpointService.Announced set =
        await(
                services.checkpoints.publishSet(
                    member("alice"),
                    new CheckpointService.SetAnnouncement(
                        new Metadata(name, "", name, SetFile.MANIFEST_TYPE, BYTES.length, null, 1),
                        Visibility.ORG,
                        ReplacePolicy.ANY,
                        List.of(
                            new SetFile(
                                0, "a.bin", BYTES.length, sha256(BYTES), null, List.of())))))
            .announced();
    await(services.files.put(set.session(), 0, Optional.empty(), source(BYTES)));
    await(
        services.sessions.commit(member("alice"), set.item().id(), BYTES.length, Optional.empty()));
    return set.item().id();
  }

  @Test
  void aSetThatIsWholeHasNoFaultAndALostFileOfItIsListed() throws Exception {
    String id = publishSet("set");
    Scrub scrub = scrub();
    round(scrub);
    assertEquals(List.of(), faults(scrub));
    Files.delete(placeOf(BlobName.fileKey(id, 1, 0, sha256(BYTES))));
    round(scrub);
    ScrubStore.Found lost = faults(scrub).get(0);
    assertEquals(id, lost.item());
    assertEquals(Fault.Kind.MISSING, lost.fault().kind());
    await(services().checkpoints.delete(member("alice"), id));
    round(scrub);
    assertEquals(List.of(), faults(scrub), "nobody reads it any more");
  }

  /** Steps through a whole round, a day for each blob. */
  private void round(Scrub scrub) throws Exception {
    int end = Math.max(1, await(scrub.progress("", 1)).round()) + 1;
    for (int i = 0; i < 100 && await(scrub.progress("", 1)).round() < end; i++) {
      clock.advance(DAY);
      await(scrub.step(clock.millis()));
    }
  }

  private List<ScrubStore.Found> faults(Scrub scrub) throws Exception {
    return await(scrub.progress("", 100)).faults();
  }

  @Test
  void lostShortAndChangedFilesAreListedByItem() throws Exception {
    String lost = publish("lost.bin");
    String cut = publish("cut.bin");
    String changed = publish("changed.bin");
    publish("whole.bin");
    Files.delete(place(lost));
    Files.write(place(cut), bytes(2_999, 1));
    Files.write(place(changed), bytes(3_000, 2));
    Scrub scrub = scrub();
    round(scrub);
    List<ScrubStore.Found> found = faults(scrub);
    assertEquals(3, found.size());
    for (ScrubStore.Found one : found) {
      Fault.Kind expected =
          one.item().equals(lost)
              ? Fault.Kind.MISSING
              : one.item().equals(cut) ? Fault.Kind.LENGTH : Fault.Kind.DIGEST;
      assertEquals(expected, one.fault().kind());
      assertEquals("lab", one.orgId());
    }
    assertEquals(3, scrub.faults());
    assertEquals(BYTES.length, scrub.checkedBytes());
    assertEquals(1, await(scrub.progress("", 1)).faults().size());
    assertEquals(2, await(scrub.progress(found.get(0).key(), 100)).faults().size());
  }

  @Test
  void aFaultGoesOnceItsBytesAreWholeAgainOrItsItemIsDeleted() throws Exception {
    String lost = publish("lost.bin");
    String deleted = publish("deleted.bin");
    Files.delete(place(lost));
    Files.delete(place(deleted));
    Scrub scrub = scrub();
    round(scrub);
    assertEquals(2, faults(scrub).size());

    await(services().checkpoints.delete(member("alice"), deleted));
    assertEquals(List.of(lost), faults(scrub).stream().map(ScrubStore.Found::item).toList());
    clock.advance(60_000);
    await(scrub.step(clock.millis()));
    assertEquals(1, scrub.faults());

    Files.write(place(lost), BYTES);
    assertEquals(1, await(scrub.ask(lost)));
    assertTrue(await(scrub.step(clock.millis())));
    assertEquals(List.of(), faults(scrub));
    assertEquals(0, scrub.faults());
  }

  @Test
  void whatIsAskedForIsCheckedThoughTheScrubIsOff() throws Exception {
    String lost = publish("lost.bin");
    Files.delete(place(lost));
    Scrub off = scrub(blobs, 0);
    assertFalse(await(off.step(clock.millis())));
    await(off.ask(lost));
    await(off.ask(lost));
    assertEquals(1, await(off.progress("", 1)).waiting());
    assertTrue(await(off.step(clock.millis())));
    assertEquals(1, faults(off).size());
    assertFalse(await(off.step(clock.millis())));
  }

  @Test
  void whereEachProcessHasItsOwnFilesWhatIsNotThereMayBeAnothers() throws Exception {
    Files.delete(place(publish("anothers.bin")));
    String changed = publish("own.bin");
    Files.write(place(changed), bytes(3_000, 2));
    Scrub own = scrub(blobs, ALL_IN_A_DAY, false);
    round(own);
    assertEquals(List.of(changed), faults(own).stream().map(ScrubStore.Found::item).toList());
  }

  @Test
  void noMoreThanTheShareIsReadHoweverOftenItIsLooked() throws Exception {
    for (int i = 0; i < 4; i++) {
      publish("file-" + i);
    }
    Scrub scrub = scrub();
    clock.advance(100 * DAY);
    int checked = 0;
    for (int hour = 0; hour < 24; hour++) {
      checked += await(scrub.step(clock.millis())) ? 1 : 0;
      checked += await(scrub.step(clock.millis())) ? 1 : 0;
      clock.advance(DAY / 24);
    }
    assertEquals(4, checked, "a quarter of a day for each of four");
  }

  @Test
  void twoProcessesAtOnceDivideTheBlobsAndCheckEachOnce() throws Exception {
    for (int i = 0; i < 6; i++) {
      publish("file-" + i);
    }
    Scrub one = scrub();
    Scrub other = scrub();
    int checked = 0;
    for (int i = 0; i < 60 && checked < 6; i++) {
      clock.advance(DAY / 6);
      Future<Boolean> first = one.step(clock.millis());
      Future<Boolean> second = other.step(clock.millis());
      checked += (await(first) ? 1 : 0) + (await(second) ? 1 : 0);
    }
    assertEquals(6, checked);
    assertEquals(6L * BYTES.length, one.checkedBytes() + other.checkedBytes());
    assertEquals(6, await(one.progress("", 1)).checkedBlobs());
  }

  @Test
  void aBlobThatADyingProcessHadTakenUpIsAnothersAfterAWhile() throws Exception {
    String id = publish("file.bin");
    Files.delete(place(id));
    Promise<Object> never = Promise.promise();
    scrub(reading(never::future), ALL_IN_A_DAY).step(clock.millis());
    Scrub other = scrub();
    eventually("it is being read", () -> opened.get() > 0);
    assertFalse(await(other.step(clock.millis())), "somebody is at it");
    clock.advance(Scrub.LEFT_MILLIS);
    assertTrue(await(other.step(clock.millis())));
    assertEquals(1, faults(other).size());
    assertEquals(1, await(other.progress("", 1)).checkedBlobs());
  }

  @Test
  void whatAProcessFindsThatStoodStillWhileAnotherTookItsPlaceIsNotKept() throws Exception {
    publish("file.bin");
    Promise<Object> late = Promise.promise();
    Scrub frozen = scrub(reading(late::future), ALL_IN_A_DAY);
    Future<Boolean> itsStep = frozen.step(clock.millis());
    Scrub other = scrub();
    eventually("it is being read", () -> opened.get() > 0);
    clock.advance(Scrub.LEFT_MILLIS);
    assertTrue(await(other.step(clock.millis())));
    late.fail(new BlobGone("lost, as it seemed then"));
    assertFalse(await(itsStep));
    assertEquals(List.of(), faults(other));
    assertEquals(1, await(other.progress("", 1)).checkedBlobs());
  }

  @Test
  void aCheckThatIsBrokenOffAtTheEndOfItsProcessIsTakenUpByAnotherAtOnce() throws Exception {
    publish("file.bin");
    Promise<Object> late = Promise.promise();
    Scrub ending = scrub(reading(late::future), ALL_IN_A_DAY);
    Future<Boolean> itsStep = ending.step(clock.millis());
    Scrub other = scrub();
    eventually("it is being read", () -> opened.get() > 0);
    await(ending.stop());
    late.complete(await(blobs.read(names(true).get(0))));
    assertFalse(await(itsStep));
    assertTrue(await(other.step(clock.millis())));
    assertEquals(1, await(other.progress("", 1)).checkedBlobs());
  }

  @Test
  void aStoreThatIsAwayIsWaitedForAndABlobItNeverGivesIsAFault() throws Exception {
    String id = publish("file.bin");
    Scrub scrub =
        scrub(reading(() -> Future.failedFuture(new StorageFault("bad sector", null))), 0);
    await(scrub.ask(id));
    for (int attempt = 1; attempt < Scrub.ATTEMPTS; attempt++) {
      fails(StorageFault.class, scrub.step(clock.millis()));
      assertFalse(await(scrub.step(clock.millis())), "it is not asked again at once");
      assertEquals(List.of(), faults(scrub));
      clock.advance(Scrub.LEFT_MILLIS + 1_000);
    }
    assertTrue(await(scrub.step(clock.millis())));
    assertEquals(Fault.Kind.UNREADABLE, faults(scrub).get(0).fault().kind());
  }

  @Test
  void anItemThatIsDeletedWhileItsBytesAreReadIsNotSaidToBeLost() throws Exception {
    String id = publish("file.bin");
    Scrub scrub =
        scrub(
            reading(
                () ->
                    services()
                        .checkpoints
                        .delete(member("alice"), id)
                        .compose(deleted -> Future.failedFuture(new BlobGone("no such blob")))),
            0);
    await(scrub.ask(id));
    PrintStream log = System.err;
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
    try {
      assertTrue(await(scrub.step(clock.millis())));
    } finally {
      System.setErr(log);
    }
    assertEquals(1, opened.get());
    assertEquals(List.of(), faults(scrub));
    assertFalse(said.toString(StandardCharsets.UTF_8).contains(id));
  }

  /** The store, except that this is what opening a blob for reading comes to. */
  private BlobStore reading(Supplier<Future<Object>> opening) {
    return (BlobStore)
        Proxy.newProxyInstance(
            BlobStore.class.getClassLoader(),
            new Class<?>[] {BlobStore.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("read")) {
                opened.incrementAndGet();
                return opening.get();
              }
              try {
                return method.invoke(blobs, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  @Test
  void blobsOfAnyNumberAreEachCheckedOnceARoundWhateverIsAddedAndDeletedMeanwhile()
      throws Exception {
    Random random = new Random(7);
    List<String> items = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      items.add(publish("file-" + i));
    }
    Scrub scrub = scrub();
    for (int i = 0; i < 30; i++) {
      clock.advance(DAY);
      await(scrub.step(clock.millis()));
      if (random.nextInt(4) == 0) {
        await(
            services()
                .checkpoints
                .delete(member("alice"), items.remove(random.nextInt(items.size()))));
        items.add(publish("more-" + i));
      }
    }
    assertEquals(0, scrub.faults());
    assertTrue(await(scrub.progress("", 1)).round() > 2);
  }
}
