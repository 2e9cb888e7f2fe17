package dev.bourse.move;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.blob.BlobConfig;
import dev.bourse.blob.BlobNotFoundException;
import dev.bourse.blob.BlobStore;
import dev.bourse.blob.FallbackBlobStore;
import dev.bourse.blob.LocalBlobs;
import dev.bourse.blob.Reading;
import dev.bourse.blob.StorageFaultException;
import dev.bourse.blob.Upload;
import dev.bourse.checkpoint.BlobName;
import dev.bourse.checkpoint.CheckpointFixture;
import dev.bourse.checkpoint.StoredBlobs;
import dev.bourse.checkpoint.Visibility;
import dev.bourse.core.ApiException;
import dev.bourse.scrub.BlobFault;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import dev.bourse.walk.BlobClaims;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Moves of blobs between two stores under concurrent events. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class BlobMoveTest extends CheckpointFixture {
  private static final long GRACE = 1_000;
  private static final byte[] BYTES = bytes(900_000, 1);

  private LocalBlobs next;

  @BeforeEach
  void openNext() throws Exception {
    next = await(LocalBlobs.open(vertx, folder.resolve("next"), BlobConfig.defaults(), clock));
  }

  @AfterEach
  void closeNext() throws Exception {
    await(next.close());
  }

  private BlobMover move(BlobStore from, BlobStore to) {
    return move(new BlobMover.Place("old", from, true), new BlobMover.Place("new", to, true));
  }

  private BlobMover move(BlobMover.Place from, BlobMover.Place to) {
    return new BlobMover(
        vertx,
        new MoveStore(database),
        new StoredBlobs(database),
        Optional.of(from),
        to,
        GRACE,
        System::nanoTime);
  }

  private BlobMover move() {
    return move(blobs, next);
  }

  private Services services(BlobStore bytes) {
    return new Services(database, bytes);
  }

  private String publish(BlobStore bytes, String fileName) throws Exception {
    Services services = services(bytes);
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

  private Path place(String id) {
    return placeOn("blobs", id);
  }

  private Path placeOn(String disk, String id) {
    return folder
        .resolve(disk)
        .resolve("blobs")
        .resolve(sha256(key(id).getBytes(StandardCharsets.US_ASCII)).substring(0, 2))
        .resolve(key(id));
  }

  private static byte[] read(BlobStore bytes, String key) throws Exception {
    Reading reading = await(bytes.read(key));
    Buffer all = Buffer.buffer();
    while (all.length() < reading.length()) {
      int length = (int) Math.min(BlobStore.BLOCK_BYTES, reading.length() - all.length());
      all.appendBuffer(await(reading.piece(all.length(), length)));
    }
    await(reading.close());
    return all.getBytes();
  }

  private void ask(BlobMover move) throws Exception {
    await(move.ask("old", "new", clock.millis()));
  }

  private MoveStore.Asked asked() throws Exception {
    return await(new MoveStore(database).find()).orElseThrow();
  }

  /** Steps until the move has ended. */
  private void finish(BlobMover move) throws Exception {
    for (int i = 0; i < 100 && asked().isRunning(); i++) {
      clock.advance(10);
      await(move.step(clock.millis()));
    }
    assertFalse(asked().isRunning());
  }

  private List<String> deleteMoved(BlobMover move) throws Exception {
    // The time that the copies really took counts as well.
    clock.advance(60 * GRACE);
    await(move.step(clock.millis()));
    return names(true);
  }

  @Test
  void everythingIsReadableAllTheTimeAndDeletedWhereItWasAfterAWhile() throws Exception {
    List<String> items = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      items.add(publish(blobs, "file-" + i));
    }
    FallbackBlobStore both = new FallbackBlobStore(next, blobs);
    BlobMover move = move();
    assertFalse(await(move.step(clock.millis())), "nobody has asked for it");
    ask(move);
    for (int i = 0; i < 20 && asked().isRunning(); i++) {
      await(move.step(clock.millis()));
      for (String id : items) {
        assertArrayEquals(BYTES, read(both, key(id)));
      }
    }
    assertEquals(3, asked().movedBlobs());
    assertEquals(3L * BYTES.length, asked().movedBytes());
    assertEquals(0, asked().leftBlobs());
    assertEquals(3, names(true).size(), "they stay for a while");
    assertEquals(List.of(), deleteMoved(move));
    for (String id : items) {
      assertArrayEquals(BYTES, read(next, key(id)));
    }
  }

  @Test
  void askedTwiceItGoesOnAndAskedAgainAtTheEndItLooksOnceMore() throws Exception {
    publish(blobs, "one.bin");
    BlobMover move = move();
    ask(move);
    await(move.step(clock.millis()));
    clock.advance(5);
    ask(move);
    assertEquals(1, asked().movedBlobs());
    finish(move);
    publish(blobs, "late.bin");
    clock.advance(5);
    ask(move);
    assertTrue(asked().isRunning());
    finish(move);
    assertEquals(1, asked().movedBlobs(), "the other is there");
    assertEquals(List.of(), deleteMoved(move));
  }

  @Test
  void storesThatAreNotThoseOfTheSettingsAreRefused() throws Exception {
    BlobMover move = move();
    assertThrows(ApiException.class, () -> move.ask("new", "old", 0));
    assertThrows(ApiException.class, () -> move.ask("old", "another", 0));
    BlobMover none =
        new BlobMover(
            vertx,
            new MoveStore(database),
            new StoredBlobs(database),
            Optional.empty(),
            new BlobMover.Place("s3://bucket/folder/", next, true),
            GRACE,
            System::nanoTime);
    assertThrows(ApiException.class, () -> none.ask("local", "s3://bucket/folder", 0));
    BlobMover named =
        move(
            new BlobMover.Place("local", blobs, true),
            new BlobMover.Place("s3://bucket/folder/", next, true));
    await(named.ask("local", "s3://bucket/folder?region=somewhere", 0));
  }

  @Test
  void theWayBackIsTheSameAndDeletesNothingThatIsNeeded() throws Exception {
    String id = publish(blobs, "one.bin");
    BlobMover there = move();
    ask(there);
    finish(there);
    BlobMover back =
        move(new BlobMover.Place("new", next, true), new BlobMover.Place("old", blobs, true));
    await(back.ask("new", "old", clock.millis()));
    finish(back);
    clock.advance(60 * GRACE);
    await(back.step(clock.millis()));
    await(there.step(clock.millis()));
    assertArrayEquals(BYTES, read(blobs, key(id)));
    fails(BlobNotFoundException.class, next.read(key(id)));
  }

  /** Moves a file for each step at which a process can die. */
  @Test
  void aProcessThatDiesAtAnyStepLeavesWhatAnotherFinishes() throws Exception {
    for (int calls = 0; calls < 60; calls++) {
      String id = publish(blobs, "file-" + calls);
      AtomicInteger left = new AtomicInteger(calls);
      BlobMover dying =
          new BlobMover(
              vertx,
              new MoveStore(dying(Database.class, database, left)),
              new StoredBlobs(database),
              Optional.of(new BlobMover.Place("old", dying(BlobStore.class, blobs, left), true)),
              new BlobMover.Place("new", dying(BlobStore.class, next, left), true),
              GRACE,
              System::nanoTime);
      clock.advance(10);
      ask(move());
      Future<Boolean> itsStep = dying.step(clock.millis());
      eventually("it ends or dies", () -> itsStep.isComplete() || left.get() < 0);
      clock.advance(BlobClaims.EXPIRY_MILLIS + 1);
      await(next.close());
      openNext();
      BlobMover other = move();
      ask(other);
      finish(other);
      assertArrayEquals(BYTES, read(next, key(id)));
      assertEquals(List.of(), deleteMoved(other));
      assertEquals(0, integers("SELECT COUNT(*) FROM blob_move_claim").get(0));
      boolean isDone = left.get() >= 0;
      await(services(next).checkpoints.delete(member("alice"), id));
      await(next.delete(key(id)));
      if (isDone) {
        assertTrue(calls > 5);
        return;
      }
    }
  }

  /** Wraps a port for a process that makes a number of calls and then never gets an answer. */
  private static <T> T dying(Class<T> port, T real, AtomicInteger left) {
    return proxy(
        port,
        real,
        name ->
            left.getAndDecrement() > 0
                ? Optional.empty()
                : Optional.of(Promise.promise().future()));
  }

  /** Wraps a port, with other answers for some methods. */
  private static <T> T proxy(Class<T> port, T real, Function<String, Optional<Future<?>>> instead) {
    return port.cast(
        Proxy.newProxyInstance(
            port.getClassLoader(),
            new Class<?>[] {port},
            (proxy, method, arguments) -> {
              if (method.getReturnType() == Future.class) {
                Optional<Future<?>> answer = instead.apply(method.getName());
                if (answer.isPresent()) {
                  return answer.get();
                }
              }
              try {
                return method.invoke(real, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }

  @Test
  void whatIsLostOrChangedIsToldAndHoldsNothingUp() throws Exception {
    String lost = publish(blobs, "lost.bin");
    String changed = publish(blobs, "changed.bin");
    String cut = publish(blobs, "cut.bin");
    String whole = publish(blobs, "whole.bin");
    Files.delete(place(lost));
    Files.write(place(changed), bytes(BYTES.length, 2));
    Files.write(place(cut), bytes(BYTES.length - 1, 1));
    BlobMover move = move();
    ask(move);
    finish(move);
    assertEquals(1, asked().movedBlobs());
    assertEquals(3, asked().leftBlobs());
    assertEquals(3, await(move.progress("", 10)).faults().size());
    assertArrayEquals(BYTES, read(next, key(whole)));
    assertFalse(await(next.exists(key(changed))));
    assertTrue(await(blobs.exists(key(changed))), "it stays as it is");

    Files.write(place(changed), BYTES);
    clock.advance(10);
    ask(move);
    finish(move);
    assertEquals(2, await(move.progress("", 10)).faults().size());
    assertArrayEquals(BYTES, read(next, key(changed)));
  }

  @Test
  void whatHasArrivedAndIsNotPublishedYetHoldsNothingUpAndIsNoFault() throws Exception {
    Promise<Void> told = Promise.promise();
    Promise<Void> published = Promise.promise();
    BlobStore arriving = publishingOnce(new FallbackBlobStore(next, blobs), told.future());
    String id = arriveAt(arriving, BYTES, published);
    BlobMover move = move();
    ask(move);
    finish(move);
    assertEquals(0, asked().leftBlobs());
    assertEquals(List.of(), await(move.progress("", 10)).faults());

    told.complete();
    await(published.future());
    assertArrayEquals(BYTES, read(next, key(id)));
  }

  @Test
  void whatWasNotedAndIsInTheFormerStoreAlreadyIsMoved() throws Exception {
    Promise<Void> never = Promise.promise();
    String id = arriveAt(publishingOnce(blobs, never.future()), BYTES, Promise.promise());
    await(blobs.publish(id + ".1", key(id)));
    BlobMover move = move();
    ask(move);
    finish(move);
    assertArrayEquals(BYTES, read(next, key(id)));
    assertEquals(List.of(), deleteMoved(move));
  }

  @Test
  void whatIsDeletedWhileItIsCopiedIsInNeitherStoreInTheEnd() throws Exception {
    String id = publish(blobs, "one.bin");
    FallbackBlobStore both = new FallbackBlobStore(next, blobs);
    Services services = services(both);
    Promise<Void> held = Promise.promise();
    AtomicInteger asked = new AtomicInteger();
    BlobStore slow =
        proxy(
            BlobStore.class,
            next,
            name -> {
              if (!name.equals("publish")) {
                return Optional.empty();
              }
              asked.incrementAndGet();
              return Optional.of(held.future());
            });
    BlobMover move = move(blobs, slow);
    ask(move);
    Future<Boolean> step = move.step(clock.millis());
    eventually("the copy is about to be published", () -> asked.get() > 0);
    await(services.checkpoints.delete(member("alice"), id));
    clock.advance(10 * CONFIG.graceMillis());
    await(services.sweep.run());
    await(next.publish(id + ".1.move", key(id)));
    held.complete();
    await(step);
    assertFalse(await(next.exists(key(id))));
    assertEquals(List.of(), names(true));
    finish(move());
  }

  @Test
  void twoProcessesAtOnceMoveEachBlobOnce() throws Exception {
    for (int i = 0; i < 6; i++) {
      publish(blobs, "file-" + i);
    }
    BlobMover one = move();
    BlobMover other = move();
    ask(one);
    for (int i = 0; i < 100 && asked().isRunning(); i++) {
      clock.advance(10);
      Future<Boolean> first = one.step(clock.millis());
      Future<Boolean> second = other.step(clock.millis());
      await(first);
      await(second);
    }
    assertFalse(asked().isRunning());
    assertEquals(6, asked().movedBlobs());
    assertEquals(List.of(), deleteMoved(one));
  }

  @Test
  void whatAnotherProcessMovesBetweenTheLookAndTheClaimIsNotCopiedAgain() throws Exception {
    String id = publish(blobs, "one.bin");
    Promise<Boolean> firstLook = Promise.promise();
    AtomicInteger looks = new AtomicInteger();
    AtomicInteger copies = new AtomicInteger();
    BlobStore late =
        proxy(
            BlobStore.class,
            next,
            name -> {
              if (name.equals("open")) {
                copies.incrementAndGet();
              }
              return name.equals("exists") && looks.getAndIncrement() == 0
                  ? Optional.of(firstLook.future())
                  : Optional.empty();
            });
    BlobMover one = move(blobs, late);
    BlobMover other = move();
    ask(one);
    Future<Boolean> step = one.step(clock.millis());
    eventually("one looks", () -> looks.get() > 0);
    await(other.step(clock.millis()));
    assertEquals(1, asked().movedBlobs());

    firstLook.complete(false);
    await(step);
    assertEquals(2, looks.get());
    finish(one);
    assertEquals(0, copies.get());
    assertEquals(1, asked().movedBlobs());
    assertEquals(0, integers("SELECT COUNT(*) FROM blob_move_claim").get(0));
    assertEquals(List.of(), deleteMoved(one));
    assertArrayEquals(BYTES, read(next, key(id)));
  }

  @Test
  void whereTheFormerStoreIsADiskEachProcessMovesWhatItHas() throws Exception {
    String id = publish(blobs, "one.bin");
    LocalBlobs elsewhere =
        await(LocalBlobs.open(vertx, folder.resolve("elsewhere"), BlobConfig.defaults(), clock));
    BlobMover without =
        move(new BlobMover.Place("old", elsewhere, false), new BlobMover.Place("new", next, true));
    ask(without);
    await(without.step(clock.millis()));
    assertEquals(0, await(without.progress("", 10)).faults().size());
    BlobMover with =
        move(new BlobMover.Place("old", blobs, false), new BlobMover.Place("new", next, true));
    clock.advance(10);
    ask(with);
    finish(with);
    assertArrayEquals(BYTES, read(next, key(id)));
    await(elsewhere.close());
  }

  /** Two processes with a disk of their own each, the first with {@code blobs}. */
  private final class Disks implements AutoCloseable {
    private final LocalBlobs second;
    private final List<BlobMover> movers;

    Disks() throws Exception {
      second =
          await(LocalBlobs.open(vertx, folder.resolve("second"), BlobConfig.defaults(), clock));
      movers =
          List.of(
              move(
                  new BlobMover.Place("old", blobs, false), new BlobMover.Place("new", next, true)),
              move(
                  new BlobMover.Place("old", second, false),
                  new BlobMover.Place("new", next, true)));
    }

    /** Completes a walk of a process: it has nothing more to do until its pause is over. */
    void walk(int mover) throws Exception {
      clock.advance(BlobMover.REST_MILLIS);
      for (int i = 0; i < 20; i++) {
        if (!await(movers.get(mover).step(clock.millis()))) {
          return;
        }
      }
      throw new AssertionError("it does not rest");
    }

    @Override
    public void close() throws Exception {
      await(second.close());
    }
  }

  @Test
  void theMoveEndsWhenEachProcessHasMovedTheBlobsOfItsDisk() throws Exception {
    try (Disks disks = new Disks()) {
      String first = publish(blobs, "first.bin");
      String second = publish(disks.second, "second.bin");
      ask(disks.movers.get(0));
      disks.walk(1);
      assertTrue(asked().isRunning(), "the other process has not walked yet");
      assertEquals(1, asked().leftBlobs());
      disks.walk(1);
      assertTrue(asked().isRunning());
      disks.walk(0);
      assertFalse(asked().isRunning());
      assertEquals(0, asked().leftBlobs());
      assertEquals(2, asked().movedBlobs());
      assertArrayEquals(BYTES, read(next, key(first)));
      assertArrayEquals(BYTES, read(next, key(second)));
    }
  }

  @Test
  void damagedBlobsOnTwoDisksDoNotKeepTheMoveRunning() throws Exception {
    try (Disks disks = new Disks()) {
      Files.write(place(publish(blobs, "first.bin")), bytes(BYTES.length, 2));
      Files.write(placeOn("second", publish(disks.second, "second.bin")), bytes(BYTES.length, 3));
      ask(disks.movers.get(0));
      disks.walk(0);
      assertTrue(asked().isRunning());
      disks.walk(1);
      assertFalse(asked().isRunning());
      assertEquals(2, asked().leftBlobs());
      assertEquals(2, await(disks.movers.get(0).progress("", 10)).faults().size());
    }
  }

  @Test
  void aBlobOnNoDiskKeepsTheMoveRunningUntilTheScrubReportsIt() throws Exception {
    try (Disks disks = new Disks()) {
      String id = publish(blobs, "lost.bin");
      Files.delete(place(id));
      ask(disks.movers.get(0));
      disks.walk(0);
      disks.walk(1);
      disks.walk(0);
      assertTrue(asked().isRunning());
      assertEquals(List.of(), await(disks.movers.get(0).progress("", 10)).faults());
      await(
          database.commit(
              List.of(
                  Statement.of(
                      """
                      INSERT INTO scrub_fault (blob_key, item_id, revision, kind, detail, \
                      found_at, checked_at) VALUES (?, ?, 1, ?, 'lost', 0, 0)\
                      """,
                      key(id),
                      id,
                      BlobFault.Kind.MISSING.label()))));
      disks.walk(1);
      assertFalse(asked().isRunning());
      assertEquals(1, asked().leftBlobs());
      assertEquals(1, await(disks.movers.get(0).progress("", 10)).faults().size());
    }
  }

  @Test
  void aMoveThatIsRequestedAgainDoesNotWaitForTheEndOfAPause() throws Exception {
    try (Disks disks = new Disks()) {
      publish(disks.second, "second.bin");
      ask(disks.movers.get(0));
      disks.walk(0);
      disks.walk(1);
      assertFalse(asked().isRunning());
      clock.advance(10);
      ask(disks.movers.get(0));
      await(disks.movers.get(0).step(clock.millis()));
      await(disks.movers.get(0).step(clock.millis()));
      assertFalse(asked().isRunning());
    }
  }

  @Test
  void aStoreThatIsAwayIsTriedAgainAndSaidSo() throws Exception {
    publish(blobs, "one.bin");
    AtomicInteger faults = new AtomicInteger(2);
    BlobMover move =
        move(
            blobs,
            proxy(
                BlobStore.class,
                next,
                name ->
                    name.equals("open") && faults.getAndDecrement() > 0
                        ? Optional.of(Future.failedFuture(new StorageFaultException("away", null)))
                        : Optional.empty()));
    ask(move);
    fails(StorageFaultException.class, move.step(clock.millis()));
    assertEquals("away", await(move.progress("", 1)).trouble());
    for (int i = 0; i < 20 && asked().isRunning(); i++) {
      clock.advance(10);
      await(move.step(clock.millis()).otherwise(false));
    }
    assertEquals(1, asked().movedBlobs());
    assertEquals(null, await(move.progress("", 1)).trouble());
  }

  /** Fails each query of a walk once, so that each place where a blob could be skipped is met. */
  @Test
  void aBlobThatCouldNotBeLookedAtIsMovedByTheNextWalk() throws Exception {
    for (String call : List.of("exists", "read", "readFirst", "commit")) {
      for (int before = 0; before < 8; before++) {
        String id = publish(blobs, call + before);
        AtomicInteger calls = new AtomicInteger(before);
        Function<String, Optional<Future<?>>> once =
            name ->
                name.equals(call) && calls.getAndDecrement() == 0
                    ? Optional.of(Future.failedFuture(new StorageFaultException("away", null)))
                    : Optional.empty();
        Database failing = proxy(Database.class, database, once);
        BlobMover move =
            new BlobMover(
                vertx,
                new MoveStore(failing),
                new StoredBlobs(failing),
                Optional.of(new BlobMover.Place("old", blobs, true)),
                new BlobMover.Place("new", proxy(BlobStore.class, next, once), true),
                GRACE,
                System::nanoTime);
        clock.advance(10);
        ask(move());
        for (int i = 0; i < 30 && asked().isRunning(); i++) {
          // A claim whose release failed expires.
          clock.advance(BlobClaims.EXPIRY_MILLIS + 1);
          await(move.step(clock.millis()).otherwise(false));
        }
        assertFalse(asked().isRunning());
        assertEquals(0, asked().leftBlobs());
        assertArrayEquals(BYTES, read(next, key(id)), call + before);
        await(services(next).checkpoints.delete(member("alice"), id));
        await(next.delete(key(id)));
      }
    }
  }

  @Test
  void aFaultThatCouldNotBeRecordedKeepsTheMoveRunning() throws Exception {
    Files.delete(place(publish(blobs, "lost.bin")));
    AtomicInteger looks = new AtomicInteger();
    BlobMover move =
        move(
            blobs,
            proxy(
                BlobStore.class,
                next,
                // The first look is that of the walk, the second of the visit.
                name ->
                    name.equals("exists") && looks.getAndIncrement() == 2
                        ? Optional.of(Future.failedFuture(new StorageFaultException("away", null)))
                        : Optional.empty()));
    ask(move);
    fails(StorageFaultException.class, move.step(clock.millis()));
    await(move.step(clock.millis()));
    assertTrue(asked().isRunning());
    finish(move);
    assertEquals(1, asked().leftBlobs());
    assertEquals(1, await(move.progress("", 10)).faults().size());
  }

  @Test
  void aClaimIsReleasedWhenItsBlobCannotBeLookedUp() throws Exception {
    String id = publish(blobs, "one.bin");
    AtomicInteger faults = new AtomicInteger();
    Database claiming =
        proxy(
            Database.class,
            database,
            name -> {
              if (name.equals("commit")) {
                faults.incrementAndGet();
              }
              return Optional.empty();
            });
    Database failing =
        proxy(
            Database.class,
            database,
            name ->
                name.equals("read") && faults.compareAndSet(1, 2)
                    ? Optional.of(Future.failedFuture(new StorageFaultException("away", null)))
                    : Optional.empty());
    BlobMover move =
        new BlobMover(
            vertx,
            new MoveStore(claiming),
            new StoredBlobs(failing),
            Optional.of(new BlobMover.Place("old", blobs, true)),
            new BlobMover.Place("new", next, true),
            GRACE,
            System::nanoTime);
    ask(move());
    fails(StorageFaultException.class, move.step(clock.millis()));
    assertEquals(List.of(0L), integers("SELECT told_at FROM blob_move_claim"));
    finish(move);
    assertArrayEquals(BYTES, read(next, key(id)));
  }

  @Test
  void whatAnEarlierCopyLeftDamagedIsCopiedAnew() throws Exception {
    String id = publish(blobs, "one.bin");
    Upload earlier = await(next.open(id + ".1.move", (block, from, to) -> {}));
    await(earlier.append(new byte[1_000], 0, 1_000));
    await(earlier.release());
    BlobMover move = move();
    ask(move);
    finish(move);
    assertArrayEquals(BYTES, read(next, key(id)));
    assertEquals(0, await(move.progress("", 10)).faults().size());
  }
}
