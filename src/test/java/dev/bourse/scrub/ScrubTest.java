package dev.bourse.scrub;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.blob.BlobConfig;
import dev.bourse.blob.BlobNotFoundException;
import dev.bourse.blob.BlobStore;
import dev.bourse.blob.LocalBlobs;
import dev.bourse.blob.StorageFaultException;
import dev.bourse.checkpoint.BlobName;
import dev.bourse.checkpoint.CheckpointFixture;
import dev.bourse.checkpoint.CheckpointService;
import dev.bourse.checkpoint.Metadata;
import dev.bourse.checkpoint.ReplacePolicy;
import dev.bourse.checkpoint.SetFile;
import dev.bourse.checkpoint.StoredBlobs;
import dev.bourse.checkpoint.Visibility;
import dev.bourse.store.Statement;
import dev.bourse.walk.BlobClaims;
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
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Faults that the scrub finds, and the division of its work among several processes. */
class ScrubTest extends CheckpointFixture {
  private static final int ALL_IN_A_DAY = ReadThrottle.WHOLE;
  private static final long DAY = 86_400_000;
  private static final byte[] BYTES = bytes(3_000, 1);

  private final AtomicInteger opened = new AtomicInteger();

  private Scrub scrub(BlobStore bytes, int share) {
    return scrub(bytes, share, Optional.empty());
  }

  /** The scrub of a process with a folder of its own, which checks on request only. */
  private Scrub scrubOf(LocalBlobs own) {
    return scrub(own, 0, Optional.of(new FolderRegistry(database, own, clock)));
  }

  private Scrub scrub(BlobStore bytes, int share, Optional<FolderRegistry> own) {
    return new Scrub(
        vertx,
        new ScrubStore(database),
        new StoredBlobs(database),
        bytes,
        own,
        new ScrubConfig(share),
        System::nanoTime);
  }

  private Scrub scrub() {
    return scrub(blobs, ALL_IN_A_DAY);
  }

  private String publish(String fileName) throws Exception {
    return publish(services(), fileName);
  }

  private String publish(Services services, String fileName) throws Exception {
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

  /** Returns the path of a blob's file. */
  private Path place(String id) {
    return placeOf(key(id));
  }

  private Path placeOf(String key) {
    return folder
        .resolve("blobs/blobs")
        .resolve(sha256(key.getBytes(StandardCharsets.US_ASCII)).substring(0, 2))
        .resolve(key);
  }

  /** Publishes a set of one file; returns its id. */
  private String publishSet(String name) throws Exception {
    Services services = services();
    CheckpointService.AnnouncedSet announced =
        await(
            services.checkpoints.publishSet(
                member("alice"),
                new CheckpointService.SetAnnouncement(
                    new Metadata(name, "", name, SetFile.MANIFEST_TYPE, BYTES.length, null, 1),
                    Visibility.ORG,
                    ReplacePolicy.ANY,
                    List.of(
                        new SetFile(0, "a.bin", BYTES.length, sha256(BYTES), null, List.of())))));
    CheckpointService.Announced set = announced.announced();
    if (!announced.missing().isEmpty()) {
      await(services.files.put(set.session(), 0, Optional.empty(), source(BYTES)));
    }
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
    assertEquals(BlobFault.Kind.MISSING, lost.fault().kind());
    await(services().checkpoints.delete(member("alice"), id));
    round(scrub);
    assertEquals(List.of(), faults(scrub), "nobody reads it any more");
  }

  @Test
  void aFaultOfAFileThatSetsShareStaysUntilTheLastOfThemGoes() throws Exception {
    String first = publishSet("one");
    String second = publishSet("two");
    String key = BlobName.fileKey(first, 1, 0, sha256(BYTES));
    Files.write(placeOf(key), bytes(3_000, 2));
    Scrub scrub = scrub();
    round(scrub);
    List<ScrubStore.Found> found = faults(scrub);
    assertEquals(1, found.size());
    String noted = found.get(0).item();
    String left = noted.equals(first) ? second : first;

    await(services().checkpoints.delete(member("alice"), noted));
    for (int minutes = 0; minutes < 2; minutes++) {
      assertEquals(List.of(left), faults(scrub).stream().map(ScrubStore.Found::item).toList());
      assertEquals(left.equals(first) ? "one" : "two", faults(scrub).get(0).fileName());
      clock.advance(60_000);
      await(scrub.step(clock.millis()));
      assertEquals(1, scrub.faults());
    }
    assertTrue(await(new ScrubStore(database).hasFault(key)), "no new set is linked to it");

    await(services().checkpoints.delete(member("alice"), left));
    assertEquals(List.of(), faults(scrub));
    clock.advance(60_000);
    await(scrub.step(clock.millis()));
    assertEquals(0, scrub.faults());
  }

  @Test
  void aFaultIsKeptThoughTheSetItWasFoundUnderGoesMeanwhile() throws Exception {
    String first = publishSet("one");
    String second = publishSet("two");
    String key = BlobName.fileKey(first, 1, 0, sha256(BYTES));
    StoredBlobs.Blob blob = await(new StoredBlobs(database).find(key)).orElseThrow();
    String left = blob.item().equals(first) ? second : first;
    Scrub scrub =
        scrub(
            reading(
                () ->
                    services()
                        .checkpoints
                        .delete(member("alice"), blob.item())
                        .compose(
                            deleted -> Future.failedFuture(new BlobNotFoundException("lost")))),
            0);
    await(database.commit(List.of(claim(key))));
    assertTrue(await(scrub.step(clock.millis())));
    assertEquals(List.of(left), faults(scrub).stream().map(ScrubStore.Found::item).toList());
  }

  /** Requests the check of one blob. */
  private static Statement claim(String key) {
    return Statement.of(
        "INSERT INTO scrub_claim (blob_key, told_at, attempts) VALUES (?, 0, 0)", key);
  }

  /** Steps through a whole round, with a day for each blob. */
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
      BlobFault.Kind expected =
          one.item().equals(lost)
              ? BlobFault.Kind.MISSING
              : one.item().equals(cut) ? BlobFault.Kind.LENGTH : BlobFault.Kind.DIGEST;
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

  /** Lets the processes check an item until none of them has work left. */
  private void check(String item, Scrub... processes) throws Exception {
    await(processes[0].ask(item));
    boolean isBusy = true;
    for (int i = 0; isBusy; i++) {
      assertTrue(i < 10, "they go on for ever");
      isBusy = false;
      for (Scrub process : processes) {
        isBusy |= await(process.step(clock.millis()));
      }
    }
  }

  /** Lets a day pass in which these processes run. */
  private void liveADay(Scrub... processes) throws Exception {
    for (int hour = 0; hour <= 24; hour++) {
      for (Scrub process : processes) {
        await(process.step(clock.millis()));
      }
      clock.advance(3_600_000);
    }
  }

  private LocalBlobs openOthers() throws Exception {
    return await(LocalBlobs.open(vertx, folder.resolve("others"), BlobConfig.defaults(), clock));
  }

  private Set<String> faultyItems(Scrub scrub) throws Exception {
    return faults(scrub).stream().map(ScrubStore.Found::item).collect(Collectors.toSet());
  }

  private long waiting() throws Exception {
    return await(scrub().progress("", 1)).waiting();
  }

  @Test
  void ofFoldersOfTheirOwnEachProcessChecksWhatItHasAndWhatNoneHasIsLost() throws Exception {
    LocalBlobs others = openOthers();
    String here = publish("here.bin");
    String there = publish(new Services(database, others), "there.bin");
    String lost = publish("lost.bin");
    Files.delete(place(lost));
    Scrub one = scrubOf(blobs);
    Scrub other = scrubOf(others);
    liveADay(one, other);
    for (String item : List.of(here, there, lost)) {
      check(item, one, other);
      check(item, other, one);
    }
    assertEquals(Set.of(lost), faultyItems(one));
    assertEquals(0, waiting());

    Files.write(place(lost), BYTES);
    check(lost, other, one);
    assertEquals(Set.of(), faultyItems(one), "found by whoever has it again");
    await(others.close());
  }

  @Test
  void aFaultThatItsOwnerFoundIsNotEndedByAProcessWithoutTheFile() throws Exception {
    LocalBlobs others = openOthers();
    String changed = publish("changed.bin");
    Files.write(place(changed), bytes(3_000, 2));
    Scrub owner = scrubOf(blobs);
    Scrub other = scrubOf(others);
    liveADay(owner, other);
    check(changed, owner, other);
    assertEquals(Set.of(changed), faultyItems(owner));
    check(changed, other);
    assertEquals(Set.of(changed), faultyItems(owner));
    assertEquals(1, waiting(), "for its owner");
    check(changed, owner);
    assertEquals(0, waiting());
    assertEquals(Set.of(changed), faultyItems(owner));
    await(others.close());
  }

  @Test
  void aProcessThatIsAwayIsWaitedForADay() throws Exception {
    LocalBlobs others = openOthers();
    String there = publish(new Services(database, others), "there.bin");
    Scrub here = scrubOf(blobs);
    liveADay(here, scrubOf(others));
    await(others.close());
    check(there, here);
    assertEquals(Set.of(), faultyItems(here));
    liveADay(here);
    check(there, here);
    assertEquals(Set.of(there), faultyItems(here), "it has been away for a day");

    LocalBlobs back = openOthers();
    check(there, scrubOf(back), here);
    assertEquals(Set.of(), faultyItems(here));
    await(back.close());
  }

  @Test
  void besideAProcessOfTheLastReleaseNothingIsLostUntilADayHasPassed() throws Exception {
    String there = publish(new Services(database, openOthers()), "there.bin");
    String changed = publish("changed.bin");
    Files.write(place(changed), bytes(3_000, 2));
    Scrub here = scrubOf(blobs);
    check(there, here);
    check(changed, here);
    assertEquals(Set.of(changed), faultyItems(here));

    // A process of the last release announces no folder, and forgets blobs that it does not find.
    await(
        database.commit(
            List.of(
                Statement.of("DELETE FROM scrub_claim"), Statement.of("DELETE FROM scrub_fault"))));
    check(changed, here);
    check(there, here);
    assertEquals(Set.of(changed), faultyItems(here));
    liveADay(here);
    check(there, here);
    assertEquals(Set.of(changed, there), faultyItems(here));
  }

  @Test
  void noStepOfTheClockTakesAnothersFilesForLost() throws Exception {
    LocalBlobs others = openOthers();
    String there = publish(new Services(database, others), "there.bin");
    Scrub here = scrubOf(blobs);
    Scrub other = scrubOf(others);
    for (long step : List.of(0L, 30 * DAY, -60 * DAY, DAY / 2, -DAY / 2)) {
      liveADay(here, other);
      clock.advance(step);
      check(there, here);
      assertEquals(Set.of(), faultyItems(here), "after a step of " + step);
      clock.confirm(false);
      check(there, here, other);
      clock.confirm(true);
      assertEquals(Set.of(), faultyItems(here));
    }
    await(others.close());
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
    clock.advance(BlobClaims.EXPIRY_MILLIS);
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
    clock.advance(BlobClaims.EXPIRY_MILLIS);
    assertTrue(await(other.step(clock.millis())));
    late.fail(new BlobNotFoundException("lost, as it seemed then"));
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
        scrub(reading(() -> Future.failedFuture(new StorageFaultException("bad sector", null))), 0);
    await(scrub.ask(id));
    for (int attempt = 1; attempt < Scrub.ATTEMPTS; attempt++) {
      fails(StorageFaultException.class, scrub.step(clock.millis()));
      assertFalse(await(scrub.step(clock.millis())), "it is not asked again at once");
      assertEquals(List.of(), faults(scrub));
      clock.advance(Scrub.REST_MILLIS + 60_000);
    }
    assertTrue(await(scrub.step(clock.millis())));
    assertEquals(BlobFault.Kind.UNREADABLE, faults(scrub).get(0).fault().kind());
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
                        .compose(
                            deleted ->
                                Future.failedFuture(new BlobNotFoundException("no such blob")))),
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

  @Test
  void whatHasArrivedAndIsNotPublishedYetIsNotSaidToBeLost() throws Exception {
    Promise<Void> told = Promise.promise();
    Promise<Void> published = Promise.promise();
    String id = arriveAt(publishingOnce(blobs, told.future()), BYTES, published);
    Scrub scrub = scrub();
    assertEquals(1, await(scrub.ask(id)));
    assertTrue(await(scrub.step(clock.millis())));
    assertEquals(List.of(), faults(scrub));
    assertEquals(0, scrub.checkedBytes());

    told.complete();
    await(published.future());
    round(scrub);
    assertEquals(List.of(), faults(scrub));
    assertEquals(BYTES.length, scrub.checkedBytes());
    Files.delete(place(id));
    round(scrub);
    assertEquals(1, faults(scrub).size());
  }

  /** The store, with another result of opening a blob for reading. */
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
