package dev.bourse.blob.s3;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.blob.BlobNotFoundException;
import dev.bourse.blob.Reading;
import dev.bourse.blob.StorageFaultException;
import dev.bourse.blob.Upload;
import dev.bourse.blob.UploadBusyException;
import dev.bourse.faults.S3Faults;
import dev.bourse.faults.S3Faults.Fault;
import dev.bourse.faults.UntoldEnds;
import dev.bourse.testing.Polls;
import dev.bourse.testing.S3Server;
import dev.bourse.testing.Slow;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * An object store behind a faulty network, used by processes that crash and freeze. In every case a
 * blob equals the sent bytes, and in the end the store contains the objects of the rows.
 */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class S3FaultsTest extends S3Fixture {
  private static final int LENGTH = PART + 1_000_000;
  private static final byte[] BYTES = random(21, LENGTH);
  private static final int FIRST_KEPT = PART + 600_000;
  private static final int LITTLE = 300_000;
  private static final String PIECE = "PUT .*/pieces/.*";
  private static final String BEGINNING = "POST .*\\?uploads.*";
  private static final String PART_SENT = "PUT .*partNumber=.*";
  private static final String WHOLE = "PUT .*/blobs/[^?]*(\\?x-id.*)?";
  private static final String COMPLETION = "POST .*uploadId=.*";

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private S3Faults faults;

  @BeforeEach
  void startProxy() throws Exception {
    faults = new S3Faults(SERVER.port());
  }

  @AfterEach
  void stopProxy() throws Exception {
    faults.close();
    threads.shutdownNow();
  }

  /** A step of a process, from one commit or request to the next, until it crashes. */
  private static final class Life {
    private final int diesAt;
    private int steps;
    private boolean isOver;

    /**
     * @param diesAt how many steps it lives
     */
    Life(int diesAt) {
      this.diesAt = diesAt;
    }

    synchronized boolean goesOn() {
      isOver |= steps++ == diesAt;
      return !isOver;
    }

    synchronized boolean isOver() {
      return isOver;
    }
  }

  /** Bytes that were acknowledged to a client are stored. */
  private static final class Told {
    private volatile long kept;
    private volatile boolean isPublished;
  }

  /** An upload from its opening to its publication, in requests of which some end within a part. */
  private static void upload(S3Blobs store, String name, Told told) throws Exception {
    Upload upload = await(store.open("u." + name, NONE));
    try {
      for (int to : new int[] {FIRST_KEPT, LENGTH - 100_000, LENGTH}) {
        if (upload.stored() < to) {
          append(upload, BYTES, (int) upload.stored(), to);
          await(upload.keep());
          told.kept = to;
        }
      }
      await(upload.finish());
    } finally {
      await(upload.release());
    }
    await(store.publish("u." + name, "k." + name));
    told.isPublished = true;
  }

  /** Another process completes the upload and verifies the digest. */
  private void replayNext(S3Blobs store, String name, Told told) throws Exception {
    if (!await(store.exists("k." + name))) {
      assertTrue(!told.isPublished, name);
      // Otherwise it may have to wait for the crashed process's completion mark.
      clock.advance(CompletionMark.HELD_MILLIS + 1);
      Digest digest = new Digest();
      Upload upload = await(store.open("u." + name, digest));
      int stored = (int) upload.stored();
      assertTrue(stored >= told.kept && stored <= LENGTH, name + ": " + stored);
      if (stored < LENGTH) {
        append(upload, BYTES, stored, LENGTH);
      }
      await(upload.finish());
      await(upload.release());
      assertEquals(sha256(BYTES), digest.hex());
    }
    await(store.publish("u." + name, "k." + name));
    assertArrayEquals(BYTES, content(store, "k." + name));
  }

  /**
   * Does the same and retries while the store is busy, as clients do: a commit that the process
   * requested before its crash may come in between, and there is at most one of them.
   */
  private void goOnAfterDeath(S3Blobs store, String name, Told told) throws Exception {
    try {
      replayNext(store, name, told);
    } catch (ExecutionException e) {
      assertInstanceOf(UploadBusyException.class, e.getCause());
      replayNext(store, name, told);
    }
  }

  /** The daily list finds unrecorded uploads. */
  private void holdsOnlyAfterADay(List<String> keys) throws Exception {
    clock.advance(TimeUnit.DAYS.toMillis(1) + 61_000);
    holdsOnly(keys.toArray(String[]::new));
  }

  @Test
  @Slow("sends 6 MB for each of some 20 steps, because the server takes no smaller parts")
  void aProcessThatDiesBetweenAnyTwoStepsIsSucceededByAnother() throws Exception {
    List<String> keys = new ArrayList<>();
    boolean survived = false;
    for (int step = 0; !survived; step++) {
      Life life = new Life(step);
      Told told = new Told();
      String name = "died-" + step;
      try (S3Faults network = new S3Faults(SERVER.port())) {
        LossyDatabase rows = new LossyDatabase(database, life::goesOn, -1);
        S3Blobs mortal = process(network.port(), rows);
        network.next(Integer.MAX_VALUE, request -> !life.goesOn(), Fault.REFUSED);
        java.util.concurrent.Future<?> work =
            threads.submit(
                () -> {
                  upload(mortal, name, told);
                  return null;
                });
        while (!work.isDone() && !life.isOver()) {
          TimeUnit.MILLISECONDS.sleep(2);
        }
        survived = !life.isOver();
        if (survived) {
          work.get();
        }
        // What it requested before its death may still be stored.
        Polls.until("its last commit has ended", rows::isIdle);
        goOnAfterDeath(blobs, name, told);
      }
      keys.add("k." + name);
      await(blobs.delete("k." + name));
    }
    assertTrue(keys.size() > 12, "steps: " + keys);
    holdsOnlyAfterADay(List.of());
  }

  /** Sends 6 MB per step, because the server accepts no smaller parts. */
  @Test
  void anAbandoningThatDiesBetweenAnyTwoStepsIsTidiedUp() throws Exception {
    boolean survived = false;
    for (int step = 0; !survived; step++) {
      Life life = new Life(step);
      String name = "u.abandoned-" + step;
      Upload upload = await(blobs.open(name, NONE));
      append(upload, BYTES, 0, FIRST_KEPT);
      await(upload.keep());
      await(upload.release());
      try (S3Faults network = new S3Faults(SERVER.port())) {
        S3Blobs mortal = process(network.port(), new LossyDatabase(database, life::goesOn, -1));
        network.next(Integer.MAX_VALUE, request -> !life.goesOn(), Fault.REFUSED);
        Future<Void> abandoned = mortal.abandon(name);
        while (!abandoned.isComplete() && !life.isOver()) {
          TimeUnit.MILLISECONDS.sleep(2);
        }
        survived = !life.isOver();
      }
      if (step == 0) {
        // It crashed before the upload was recorded, so the search for old uploads ends it.
        await(blobs.abandon(name));
      }
    }
    holdsOnlyAfterADay(List.of());
  }

  @Test
  @Slow("sends 6 MB for each of a dozen commits, because the server takes no smaller parts")
  void anUploadWhoseCommitsAnswerIsLostGoesOnWhicheverItIs() throws Exception {
    List<String> keys = new ArrayList<>();
    int commits = Integer.MAX_VALUE;
    for (int lost = 0; lost < commits; lost++) {
      LossyDatabase rows = new LossyDatabase(database, () -> true, lost);
      S3Blobs store = process(SERVER.port(), rows);
      String name = "lost-" + lost;
      Told told = new Told();
      for (int attempt = 0; !told.isPublished; attempt++) {
        assertTrue(attempt < 4, name + " does not come to its end");
        try {
          upload(store, name, told);
        } catch (ExecutionException e) {
          // A client asks for the offset and resumes.
          assertTrue(
              await(store.exists("k." + name)) || await(store.stored("u." + name)) >= told.kept);
        }
      }
      assertArrayEquals(BYTES, content(store, "k." + name));
      keys.add("k." + name);
      commits = Math.min(commits, rows.commits());
      await(store.close());
    }
    holdsOnlyAfterADay(keys);
  }

  @Test
  void aLittleUploadWhoseCommitsAnswerIsLostIsFinishedByAskingAgain() throws Exception {
    List<String> keys = new ArrayList<>();
    int commits = Integer.MAX_VALUE;
    for (int lost = 1; lost < commits; lost++) {
      LossyDatabase rows = new LossyDatabase(database, () -> true, lost);
      S3Blobs store = process(SERVER.port(), rows);
      String name = "u.little-" + lost;
      Upload upload = await(store.open(name, NONE));
      append(upload, BYTES, 0, LITTLE);
      Future<Void> finished = upload.finish().recover(e -> upload.finish());
      await(finished);
      await(upload.release());
      String key = "k.little-" + lost;
      await(store.publish(name, key).recover(e -> store.publish(name, key)));
      assertArrayEquals(Arrays.copyOf(BYTES, LITTLE), content(store, key));
      keys.add(key);
      commits = Math.min(commits, rows.commits());
      await(store.close());
    }
    holdsOnlyAfterADay(keys);
  }

  @ParameterizedTest
  @EnumSource(
      value = Fault.class,
      names = {"INTERNAL_ERROR", "SLOW_DOWN", "REFUSED", "RESET_IN_THE_MIDDLE", "ANSWER_LOST"})
  void aFaultThatPassesIsNotNoticed(Fault fault) throws Exception {
    S3Blobs store = process(faults.port());
    Set<String> met = new HashSet<>();
    // Each request is altered once.
    faults.next(Integer.MAX_VALUE, met::add, fault);
    upload(store, "passing", new Told());
    assertArrayEquals(BYTES, content(store, "k.passing"));
    assertTrue(met.size() > 6, met::toString);
    holdsOnlyAfterADay(List.of("k.passing"));
  }

  /** Each PUT is altered once: pieces, an early part, the last part, and whole objects. */
  @ParameterizedTest
  @EnumSource(
      value = Fault.class,
      names = {"BYTE_FLIPPED", "OTHER_TAG"})
  void bytesThatTheStoreHasOtherwiseAreSentAgain(Fault fault) throws Exception {
    S3Blobs store = process(faults.port());
    Set<String> met = new HashSet<>();
    faults.next(
        Integer.MAX_VALUE, request -> request.startsWith("PUT ") && met.add(request), fault);
    byte[] bytes = random(23, 2 * PART + 1_000_000);
    publish(store, "large", bytes);
    publish(store, "little", Arrays.copyOf(BYTES, LITTLE));
    upload(store, "pieces", new Told());
    assertArrayEquals(bytes, content(store, "large"));
    assertArrayEquals(Arrays.copyOf(BYTES, LITTLE), content(store, "little"));
    assertArrayEquals(BYTES, content(store, "k.pieces"));
    assertTrue(met.size() >= 7, met::toString);
    holdsOnlyAfterADay(List.of("large", "little", "k.pieces"));
  }

  @ParameterizedTest
  @EnumSource(
      value = Fault.class,
      names = {"BYTE_FLIPPED", "OTHER_TAG"})
  void aPartThatTheStoreNeverHasRightFailsAfterThreeTries(Fault fault) throws Exception {
    S3Blobs store = process(faults.port());
    Upload upload = await(store.open("u", NONE));
    append(upload, BYTES, 0, PART - 1);
    faults.next(Integer.MAX_VALUE, request -> request.matches(PART_SENT), fault);
    failure(StorageFaultException.class, upload.append(BYTES, PART - 1, PART));
    long tries = faults.seen().stream().filter(request -> request.matches(PART_SENT)).count();
    // A server that rejects a request may close the connection first, and the library retries that.
    assertTrue(tries >= 3 && tries <= 9, tries + " tries");
    await(upload.release());
    assertEquals(0, await(store.stored("u")), "nothing of it is recorded");
    faults.thaw();
    await(store.abandon("u"));
    holdsOnlyAfterADay(List.of());
  }

  /** The server of the other tests detects them by their signatures; over TLS there are none. */
  @Test
  void alteredBytesThatNoSignatureShowsAreSentAgain() throws Exception {
    S3Server server = S3Server.s3mock();
    try (S3Client client = server.client();
        S3Faults network = new S3Faults(server.port())) {
      client.createBucket(request -> request.bucket(bucket));
      S3Blobs store = process(network.port());
      Set<String> met = new HashSet<>();
      network.next(
          Integer.MAX_VALUE,
          request -> request.matches(PART_SENT) && met.add(request),
          Fault.BYTE_FLIPPED);
      byte[] bytes = random(25, 2 * PART + 1_000_000);
      publish(store, "large", bytes);
      assertArrayEquals(bytes, content(store, "large"));
      assertEquals(3, met.size(), met::toString);
      await(store.close());
    }
  }

  @Test
  void aStoreWhoseTagsAreNoDigestsIsSentTheDigestWithEachPart() throws Exception {
    S3Blobs store = process(faults.port());
    faults.next(Integer.MAX_VALUE, request -> request.startsWith("PUT "), Fault.ENCRYPTED);
    byte[] bytes = random(24, 3 * PART + 1_000_000);
    publish(store, "large", bytes);
    publish(store, "little", Arrays.copyOf(BYTES, LITTLE));
    assertArrayEquals(bytes, content(store, "large"));
    assertArrayEquals(Arrays.copyOf(BYTES, LITTLE), content(store, "little"));
    // A request that the client library repeats is seen twice.
    Set<String> parts =
        faults.seen().stream()
            .filter(request -> request.matches(PART_SENT))
            .collect(Collectors.toSet());
    assertEquals(4, parts.size(), "the first answer tells, so none is sent before it is spooled");
    holdsOnlyAfterADay(List.of("large", "little"));
  }

  @Test
  void anAnswerThatBreaksOffIsReadOn() throws Exception {
    publish(blobs, "k", BYTES);
    S3Blobs store = process(faults.port());
    faults.next(2, request -> request.startsWith("GET "), Fault.ANSWER_CUT);
    assertArrayEquals(BYTES, content(store, "k"));
  }

  @Test
  void aPieceThatIsAllThatIsWantedLeavesTheConnectionForTheNext() throws Exception {
    publish(blobs, "k", BYTES);
    S3Blobs store = process(faults.port());
    int before = faults.connections();
    for (int offset = 0; offset < 20; offset++) {
      Reading reading = await(store.read("k"));
      Buffer piece = await(reading.onlyPiece(offset, 5));
      await(reading.close());
      assertArrayEquals(Arrays.copyOfRange(BYTES, offset, offset + 5), piece.getBytes());
    }
    assertTrue(faults.connections() - before < 5, faults.connections() - before + " connections");
  }

  @Test
  void aStoreThatIsGoneIsAFaultUntilItIsBack() throws Exception {
    S3Blobs store = process(faults.port());
    publish(store, "before", Arrays.copyOf(BYTES, LITTLE));
    Upload upload = await(store.open("u", NONE));
    append(upload, BYTES, 0, LITTLE);
    faults.all(Fault.REFUSED);
    failure(StorageFaultException.class, upload.keep());
    assertTrue(await(store.exists("before")));
    failure(StorageFaultException.class, store.delete("before"));
    assertFalse(await(store.exists("before")), "its object is deleted later");
    faults.thaw();
    await(upload.keep());
    assertEquals(LITTLE, await(store.stored("u")));
    await(upload.finish());
    await(upload.release());
    await(store.publish("u", "after"));
    assertArrayEquals(Arrays.copyOf(BYTES, LITTLE), content(store, "after"));
    holdsOnlyAfterADay(List.of("after"));
  }

  @Test
  void aStaleListEndsNothingThatIsNeededAndHoldsNothingUp() throws Exception {
    S3Blobs store = process(faults.port());
    Upload upload = await(store.open("u", NONE));
    append(upload, BYTES, 0, PART);
    try (S3Calls calls = new S3Calls(config(SERVER.port()), (operation, outcome, nanos) -> {})) {
      calls.begin("blobs/nobodys");
      aDayLater(store);
      assertEquals(1, SERVER.multiparts(bucket).size(), "the upload that a row names");

      faults.next(1, request -> request.contains("?uploads"), Fault.STALE);
      calls.begin("blobs/nobodys-later");
      append(upload, BYTES, PART, LENGTH);
      await(upload.finish());
      await(upload.release());
      await(store.publish("u", "k"));
      // The list contains both deleted ones, and not the existing one.
      aDayLater(store);
      assertEquals(1, SERVER.multiparts(bucket).size(), "the one it did not see");
    }
    assertArrayEquals(BYTES, content(store, "k"));
    holdsOnlyAfterADay(List.of("k"));
  }

  @Test
  void whatCannotBeTidiedUpKeepsNothingElseFromIt() throws Exception {
    S3Blobs store = process(faults.port());
    for (String name : List.of("u.a", "u.b", "u.c")) {
      Upload upload = await(store.open(name, NONE));
      append(upload, BYTES, 0, LITTLE);
      await(upload.keep());
      await(upload.release());
      faults.next(Integer.MAX_VALUE, request -> request.startsWith("DELETE "), Fault.SLOW_DOWN);
      failure(StorageFaultException.class, store.abandon(name));
      faults.thaw();
    }
    clock.advance(TimeUnit.MINUTES.toMillis(2));
    faults.next(
        Integer.MAX_VALUE, request -> request.matches("DELETE .*/u\\.a\\..*"), Fault.SLOW_DOWN);
    failure(StorageFaultException.class, store.tidy());
    assertEquals(1, SERVER.objects(bucket).size());

    faults.thaw();
    clock.advance(TimeUnit.MINUTES.toMillis(2));
    await(store.tidy());
    holdsOnly();
  }

  @Test
  void aPartThatTheStoreDoesNotTakeIsNotSentOnceMoreAfterItsTries() throws Exception {
    S3Blobs store = process(faults.port());
    byte[] bytes = random(22, 2 * PART);
    Upload upload = await(store.open("u", NONE));
    append(upload, bytes, 0, PART);
    faults.next(
        Integer.MAX_VALUE, request -> request.matches("PUT .*partNumber=2.*"), Fault.SLOW_DOWN);
    assertThrows(ExecutionException.class, () -> append(upload, bytes, PART, bytes.length));
    assertTrue(
        faults.seen().stream().filter(request -> request.contains("partNumber=2")).count() <= 3);
    await(upload.release());
    faults.thaw();
    await(store.abandon("u"));
    holdsOnlyAfterADay(List.of());
  }

  private void aDayLater(S3Blobs store) throws Exception {
    clock.advance(TimeUnit.DAYS.toMillis(1) + 1);
    await(store.tidy());
  }

  /** Freezes a process in a request, lets another one do its work, and resumes the first. */
  private void thawsBehindAnother(String kind, int length, String name) throws Exception {
    S3Blobs frozen = process(faults.port(), new UntoldEnds(database));
    Upload upload = await(frozen.open("u." + name, NONE));
    faults.next(1, request -> request.matches(kind), Fault.FROZEN);
    java.util.concurrent.Future<?> work =
        threads.submit(
            () -> {
              append(upload, BYTES, 0, length);
              await(upload.keep());
              await(upload.finish());
              return null;
            });
    faults.awaitFrozen(1);
    byte[] bytes = Arrays.copyOf(BYTES, length);
    Digest digest = new Digest();
    Upload other = await(blobs.open("u." + name, digest));
    if (other.stored() < length) {
      append(other, bytes, (int) other.stored(), length);
    }
    await(other.finish());
    await(other.release());
    await(blobs.publish("u." + name, "k." + name));
    assertEquals(sha256(bytes), digest.hex());
    faults.thaw();
    try {
      work.get(60, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      // It lost the upload, or finds it complete.
    }
    await(upload.release());
    await(frozen.close());
    assertArrayEquals(bytes, content(blobs, "k." + name));
    holdsOnlyAfterADay(List.of("k." + name));
  }

  @Test
  void aPartThatThawsBehindTheEndChangesNothing() throws Exception {
    thawsBehindAnother(PART_SENT, LENGTH, "part");
  }

  @Test
  void aBeginningThatThawsBehindTheEndLeavesNothing() throws Exception {
    thawsBehindAnother(BEGINNING, LENGTH, "begun");
  }

  @Test
  void aPieceThatThawsBehindTheEndLeavesNothing() throws Exception {
    thawsBehindAnother(PIECE, LITTLE, "piece");
  }

  @Test
  void aWholeObjectThatThawsBehindTheEndLeavesNothing() throws Exception {
    thawsBehindAnother(WHOLE, LITTLE, "whole");
  }

  @Test
  void aCompletionThatThawsBehindAnothersChangesNothing() throws Exception {
    thawsBehindAnother(COMPLETION, LENGTH, "completion");
  }

  @Test
  void ofTwoThatAppendAtOnceTheBytesOfOneAreTheBlob() throws Exception {
    S3Blobs other = process();
    byte[] others = random(22, LENGTH);
    List<String> keys = new ArrayList<>();
    for (int round = 0; round < 4; round++) {
      String name = "both-" + round;
      List<java.util.concurrent.Future<Boolean>> both =
          List.of(
              threads.submit(() -> uploadAll(blobs, name, BYTES)),
              threads.submit(() -> uploadAll(other, name, others)));
      int won = 0;
      for (java.util.concurrent.Future<Boolean> one : both) {
        won += one.get(60, TimeUnit.SECONDS) ? 1 : 0;
      }
      if (won > 0) {
        await(blobs.publish("u." + name, "k." + name));
        byte[] found = content(blobs, "k." + name);
        assertTrue(Arrays.equals(found, BYTES) || Arrays.equals(found, others), "mixed bytes");
        keys.add("k." + name);
      } else {
        // A part of the earlier opening replaced the later one's, and the upload restarts; or the
        // later one found that part and kept it.
        assertTrue(Set.of(0L, (long) PART).contains(await(blobs.stored("u." + name))), name);
        await(blobs.abandon("u." + name));
      }
    }
    holdsOnlyAfterADay(keys);
  }

  /**
   * Returns whether this process took all of its own bytes, or found those of the other complete.
   */
  private static boolean uploadAll(S3Blobs store, String name, byte[] bytes) throws Exception {
    Upload upload;
    try {
      upload = await(store.open("u." + name, NONE));
    } catch (ExecutionException e) {
      assertInstanceOf(UploadBusyException.class, e.getCause(), "two that open at once");
      return false;
    }
    try {
      if (upload.stored() == 0) {
        append(upload, bytes, 0, bytes.length);
        await(upload.finish());
        return true;
      }
      return false;
    } catch (ExecutionException e) {
      assertTrue(
          e.getCause() instanceof UploadBusyException
              || e.getCause() instanceof BlobNotFoundException
              || e.getCause() instanceof StorageFaultException,
          () -> "failed with " + e.getCause());
      return false;
    } finally {
      await(upload.release());
    }
  }
}
