package dev.bourse.blob.s3;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.blob.StorageBusyException;
import dev.bourse.blob.StorageFaultException;
import dev.bourse.blob.Upload;
import dev.bourse.blob.UploadBusyException;
import dev.bourse.faults.S3Faults;
import dev.bourse.faults.S3Faults.Fault;
import dev.bourse.faults.UntoldEnds;
import dev.bourse.store.Statement;
import dev.bourse.testing.Slow;
import io.vertx.core.Future;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Processes take uploads from each other within a part, as happens with so many clients that each
 * leaves before its turn. A proxy measures the cost for the store.
 */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class S3TakeoverTest extends S3Fixture {
  private static final int LENGTH = 2 * PART + 700_000;
  private static final byte[] BYTES = random(31, LENGTH);
  private static final int KEPT = 2_000_000;

  private S3Faults network;

  @BeforeEach
  void startProxy() throws Exception {
    network = new S3Faults(SERVER.port());
  }

  @AfterEach
  void stopProxy() throws Exception {
    network.close();
  }

  /** How often the bytes of a piece were requested through the proxy. */
  private long reads() {
    return network.seen().stream().filter(request -> request.matches("GET .*/pieces/.*")).count();
  }

  /** One request: the part of an upload that a process takes before the next one has it. */
  private static void send(S3Blobs process, int from, int to) throws Exception {
    Upload upload = await(process.open("u", NONE));
    assertEquals(from, upload.stored());
    append(upload, BYTES, from, to);
    await(upload.keep());
    await(upload.release());
  }

  /** Sends the rest through a process, which has to compute the digest; the blob is complete. */
  private void end(S3Blobs process, int from, int length) throws Exception {
    Digest digest = new Digest();
    Upload upload = await(process.open("u", digest));
    append(upload, BYTES, from, length);
    await(upload.finish());
    await(upload.release());
    assertEquals(sha256(Arrays.copyOf(BYTES, length)), digest.hex());
    await(process.publish("u", "k"));
    assertArrayEquals(Arrays.copyOf(BYTES, length), content(blobs, "k"));
    holdsOnly("k");
  }

  @Test
  void whatIsTakenOverIsReadOnceItsPartIsFull() throws Exception {
    send(blobs, 0, KEPT);
    S3Blobs other = process(network.port());
    Upload upload = await(other.open("u", NONE));
    assertEquals(KEPT, upload.stored());
    append(upload, BYTES, KEPT, PART - 1);
    assertEquals(0, reads());
    append(upload, BYTES, PART - 1, PART + 5);
    assertEquals(1, reads());
    await(upload.keep());
    await(upload.release());
    end(blobs, PART + 5, LENGTH);
  }

  @Test
  void whoeverTakesAnUploadOverAndLeavesReadsNothing() throws Exception {
    send(blobs, 0, KEPT);
    S3Blobs other = process(network.port());
    for (int turn = 0; turn < 5; turn++) {
      send(other, KEPT, KEPT);
      send(blobs, KEPT, KEPT);
    }
    assertEquals(0, reads());
    end(other, KEPT, KEPT);
  }

  @Test
  void theEndOfLessThanAPartReadsWhatIsTakenOver() throws Exception {
    send(blobs, 0, KEPT);
    end(process(), KEPT, KEPT + 100_000);
  }

  @Test
  @Slow("keeps 40 pieces in turn and sends 11 MB")
  void aTailThatTwoProcessesKeptInTurnIsWholeAndOfFewPieces() throws Exception {
    S3Blobs other = process(network.port());
    int at = 0;
    for (int turn = 0; turn < 40; turn++) {
      send(turn % 2 == 0 ? other : blobs, at, at + 10_000 + turn);
      at += 10_000 + turn;
    }
    S3Rows rows = new S3Rows(database, config(SERVER.port()).name(), clock);
    assertTrue(await(rows.keptPieces(await(rows.find("u")).orElseThrow())).size() < 40);
    end(other, at, LENGTH);
  }

  @Test
  void whatWasTakenOverIsNotInspectedUntilAllIsThere() throws Exception {
    send(blobs, 0, KEPT);
    Digest digest = new Digest();
    Upload upload = await(process().open("u", digest));
    assertFalse(upload.isInspected());
    append(upload, BYTES, KEPT, LENGTH);
    assertEquals(0, digest.seen.get());
    await(upload.finish());
    assertEquals(LENGTH, digest.seen.get());
    assertTrue(upload.isInspected());
    await(upload.release());
    await(blobs.abandon("u"));
    holdsOnly();
  }

  @Test
  void aProcessFromWhichItIsTakenAgainReadsNothingThatTheNextDeleted() throws Exception {
    send(blobs, 0, KEPT);
    S3Blobs earlier = process();
    Upload late = await(earlier.open("u", NONE));
    append(late, BYTES, KEPT, PART - 1);
    send(blobs, KEPT, PART + 5);
    failure(StorageBusyException.class, late.append(BYTES, PART - 1, PART + 5));
    await(late.release());
    end(blobs, PART + 5, LENGTH);
  }

  private long told() throws Exception {
    return await(
        database.readOne(
            "SELECT finishing_until FROM blob_upload",
            List.of(),
            row -> row.integer("finishing_until")));
  }

  /** A process that reads an upload back, does not finish, and marks the row. */
  private Future<Void> readingBack(S3Blobs process) throws Exception {
    send(blobs, 0, KEPT);
    Upload upload = await(process.open("u", NONE));
    append(upload, BYTES, KEPT, LENGTH);
    network.next(Integer.MAX_VALUE, request -> request.matches("GET .*/blobs/.*"), Fault.FROZEN);
    Future<Void> end = upload.finish().eventually(upload::release);
    network.awaitFrozen(1);
    awaitTold(clock.millis());
    return end;
  }

  /** Waits until the row is marked beyond some time. */
  private void awaitTold(long beyondMillis) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (told() <= beyondMillis) {
      assertTrue(System.nanoTime() < deadline, "nothing is told");
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  @Test
  void anUploadIsLeftToTheProcessThatIsAtItsEnd() throws Exception {
    Future<Void> end = readingBack(process(network.port()));
    failure(UploadBusyException.class, blobs.open("u", NONE));
    clock.advance(CompletionMark.HELD_MILLIS + 1);
    awaitTold(clock.millis());
    failure(UploadBusyException.class, blobs.open("u", NONE));
    assertEquals(LENGTH, await(blobs.stored("u")));
    network.thaw();
    await(end);
    assertEquals(0, told());
    await(blobs.publish("u", "k"));
    assertArrayEquals(BYTES, content(blobs, "k"));
    holdsOnly("k");
  }

  @Test
  void anUploadAtWhoseEndAProcessFrozeIsOpenedByTheNextInTime() throws Exception {
    AtomicBoolean isFrozen = new AtomicBoolean();
    Future<Void> end =
        readingBack(process(network.port(), new UntoldEnds(database, isFrozen::get)));
    isFrozen.set(true);
    failure(UploadBusyException.class, blobs.open("u", NONE));
    clock.advance(CompletionMark.HELD_MILLIS + 1);
    end(blobs, LENGTH, LENGTH);
    network.thaw();
    await(end.otherwiseEmpty());
    holdsOnly("k");
  }

  @Test
  void aClockThatIsFarAheadKeepsNobodyFromAnUpload() throws Exception {
    send(blobs, 0, KEPT);
    await(
        database.commit(
            List.of(
                Statement.of(
                    "UPDATE blob_upload SET finishing_until = ?", clock.millis() + 3_600_000))));
    end(process(), KEPT, LENGTH);
  }

  @Test
  void aPartWhoseBeginningCannotBeReadIsTheClientsToSendAgain() throws Exception {
    send(blobs, 0, KEPT);
    S3Blobs other = process(network.port());
    Upload upload = await(other.open("u", NONE));
    append(upload, BYTES, KEPT, PART - 1);
    network.next(
        Integer.MAX_VALUE, request -> request.matches("GET .*/pieces/.*"), Fault.ANSWER_CUT);
    failure(StorageFaultException.class, upload.append(BYTES, PART - 1, PART));
    await(upload.release());
    network.thaw();
    end(other, KEPT, LENGTH);
  }

  @Test
  void anUploadOfWhichAPieceIsLostBeginsAnew() throws Exception {
    send(blobs, 0, KEPT);
    S3Rows rows = new S3Rows(database, config(SERVER.port()).name(), clock);
    try (S3Calls calls = new S3Calls(config(SERVER.port()), (operation, outcome, nanos) -> {})) {
      List<S3Rows.Piece> kept = await(rows.keptPieces(await(rows.find("u")).orElseThrow()));
      kept.forEach(piece -> calls.delete(piece.object()));
    }
    Upload upload = await(blobs.open("u", NONE));
    append(upload, BYTES, KEPT, PART - 1);
    failure(StorageFaultException.class, upload.append(BYTES, PART - 1, PART));
    assertEquals(0, upload.stored());
    await(upload.release());
    end(process(), 0, LENGTH);
  }

  /**
   * Ends an upload through another process while one has it open, and restarts it under its name.
   */
  private Upload begunAnew(S3Blobs other, byte[] bytes, int length) throws Exception {
    await(await(other.open("u", NONE)).release());
    await(other.abandon("u"));
    Upload anew = await(other.open("u", NONE));
    append(anew, bytes, 0, length);
    await(anew.keep());
    return anew;
  }

  /** The restarted upload is complete and unaffected by the earlier opening. */
  private void isWhole(S3Blobs process, Upload anew, byte[] bytes) throws Exception {
    await(anew.finish());
    await(anew.release());
    await(process.publish("u", "k"));
    assertArrayEquals(bytes, content(process, "k"));
    holdsOnly("k");
  }

  @Test
  void whoeverKeptAnUploadOpenFindsTheOneThatBeganAnewUnderItsName() throws Exception {
    Upload late = await(blobs.open("u", NONE));
    append(late, BYTES, 0, KEPT);
    await(late.keep());
    S3Blobs other = process();
    byte[] bytes = random(32, KEPT - 700_000);
    Upload anew = begunAnew(other, bytes, 1_000_000);

    assertFalse(await(late.isCurrent()));
    assertEquals(1_000_000, await(blobs.stored("u")));
    assertTrue(await(anew.isCurrent()));
    await(late.release());
    append(anew, bytes, 1_000_000, bytes.length);
    isWhole(other, anew, bytes);
  }

  @Test
  void anOpeningWhosePartsAreGoneLeavesTheUploadThatBeganAnewUnderItsName() throws Exception {
    Upload late = await(blobs.open("u", NONE));
    append(late, BYTES, 0, PART + 5);
    S3Blobs other = process();
    byte[] bytes = random(33, LENGTH);
    Upload anew = begunAnew(other, bytes, PART + 5);

    append(late, BYTES, PART + 5, 2 * PART - 1);
    failure(UploadBusyException.class, late.append(BYTES, 2 * PART - 1, 2 * PART));
    await(late.release());
    append(anew, bytes, PART + 5, LENGTH);
    isWhole(other, anew, bytes);
  }

  @Test
  void theBytesOfAnOpeningDoNotEndTheUploadThatBeganAnewUnderItsName() throws Exception {
    Upload late = await(blobs.open("u", NONE));
    append(late, BYTES, 0, KEPT);
    S3Blobs other = process();
    byte[] bytes = random(34, KEPT);
    Upload anew = begunAnew(other, bytes, 1_000_000);

    failure(UploadBusyException.class, late.keep());
    failure(UploadBusyException.class, late.finish());
    await(late.release());
    append(anew, bytes, 1_000_000, KEPT);
    isWhole(other, anew, bytes);
  }

  @Test
  void whatIsLateOfAnUploadThatIsGoneChangesNothingOfTheNextOfItsName() throws Exception {
    S3Rows rows = new S3Rows(database, config(SERVER.port()).name(), clock);
    await(await(blobs.open("u", NONE)).release());
    S3Rows.UploadRow gone = await(rows.find("u")).orElseThrow();
    S3Blobs other = process();
    Upload anew = begunAnew(other, BYTES, 2 * PART);
    S3Rows.UploadRow open = await(rows.find("u")).orElseThrow();
    assertEquals(gone.epoch(), open.epoch());

    await(rows.markCompletion(gone, clock.millis() + CompletionMark.HELD_MILLIS));
    await(rows.abort(gone, List.of(S3Rows.State.OPEN)));
    await(rows.deleteUpload(gone));
    assertEquals(0, told());
    assertEquals(open, await(rows.find("u")).orElseThrow());
    assertEquals(2, await(rows.parts("u")).size());

    await(rows.recordCompleting(open, 2 * PART));
    await(rows.recordCompleted(gone));
    assertEquals(S3Rows.State.COMPLETING, await(rows.find("u")).orElseThrow().state());
    isWhole(other, anew, Arrays.copyOf(BYTES, 2 * PART));
    failure(UploadBusyException.class, rows.publish(gone, "late"));
  }
}
