package dev.bourse.blob.s3;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.blob.Reading;
import dev.bourse.blob.StorageBusyException;
import dev.bourse.blob.StorageFaultException;
import dev.bourse.blob.Upload;
import dev.bourse.blob.Workers;
import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.s3.S3Client;

/** Uploads and blobs in a real object store, taken over by other processes at every step. */
class S3BlobsTest extends S3Fixture {
  private static final int LENGTH = 2 * PART + 1_234_567;
  private static final byte[] BYTES = random(7, LENGTH);

  @Test
  void piecesInOrderAreRightWhereverTheyBeginAndEnd() throws Exception {
    publish(blobs, "ordered", BYTES);
    Reading reading = await(blobs.read("ordered"));
    for (int from : new int[] {0, PART - 300_000, 17}) {
      int at = from;
      for (int count : new int[] {100_000, 100_000, 100_000, 40_000, 100_000, 200_000, 1}) {
        assertArrayEquals(
            Arrays.copyOfRange(BYTES, at, at + count), await(reading.piece(at, count)).getBytes());
        at += count;
      }
    }
    await(reading.close());
  }

  @Test
  void aPartThatIsSentWhileItComesIsKeptAsATailWhenItDoesNotBecomeOne() throws Exception {
    int end = PART + 3_000_000;
    Upload upload = await(blobs.open("u.20", NONE));
    append(upload, BYTES, 0, end);
    await(upload.keep());
    await(upload.release());
    Upload again = await(blobs.open("u.20", NONE));
    assertEquals(end, again.stored());
    await(again.finish());
    await(again.release());
    await(blobs.publish("u.20", "k.20"));
    assertArrayEquals(Arrays.copyOf(BYTES, end), content(blobs, "k.20"));
    holdsOnly("k.20");
  }

  @Test
  void whatAProcessMakesForAnUploadThatAnotherHasIsDeleted() throws Exception {
    byte[] bytes = random(21, 100_000);
    Upload first = await(blobs.open("u.21", NONE));
    await(first.append(bytes, 0, bytes.length));
    S3Rows rows = new S3Rows(database, config(SERVER.port()).name(), clock);
    S3Rows.UploadRow row = await(rows.find("u.21")).orElseThrow();
    S3Rows.Piece dead = new S3Rows.Piece("u.21", row.objectOfEpoch(1), 0, bytes.length);
    // It crashed after its object was made and before that was recorded.
    await(rows.recordPendingPiece(row, dead));
    try (S3Calls calls = new S3Calls(config(SERVER.port()), (operation, outcome, nanos) -> {})) {
      calls.put(dead.object(), payload(bytes));
    }
    S3Blobs other = process();
    Upload second = await(other.open("u.21", NONE));
    assertEquals(0, second.stored());
    await(second.append(bytes, 0, bytes.length));
    await(second.finish());
    await(second.release());
    await(other.publish("u.21", "k.21"));
    await(first.release());
    assertArrayEquals(bytes, content(other, "k.21"));
    // Its object might have appeared later than that.
    clock.advance(301_000);
    holdsOnly("k.21");
  }

  @Test
  void anUploadWhosePartsTheStoreLostBeginsAnew() throws Exception {
    Upload upload = await(blobs.open("u.22", NONE));
    append(upload, BYTES, 0, PART);
    S3Rows rows = new S3Rows(database, config(SERVER.port()).name(), clock);
    S3Rows.UploadRow row = await(rows.find("u.22")).orElseThrow();
    try (S3Calls calls = new S3Calls(config(SERVER.port()), (operation, outcome, nanos) -> {})) {
      calls.abort(String.valueOf(row.object()), String.valueOf(row.multipart()));
    }
    // Some services report it at the next part, others at the end.
    failure(
        StorageFaultException.class,
        appendAll(upload, random(22, PART), PART).compose(taken -> upload.finish()));
    await(upload.release());
    assertEquals(0, await(blobs.stored("u.22")));
    publish(blobs, "k.22", random(22, PART + 1));
    holdsOnly("k.22");
  }

  @Test
  void anotherProcessGoesOnBehindTheLastPartWhenTheFirstDied() throws Exception {
    Upload lost = await(blobs.open("u.2", NONE));
    append(lost, BYTES, 0, PART + 700_000);

    S3Blobs other = process();
    assertEquals(PART, await(other.stored("u.2")));
    Digest digest = new Digest();
    Upload upload = await(other.open("u.2", digest));
    assertEquals(PART, upload.stored());
    assertFalse(upload.isInspected());
    append(upload, BYTES, PART, LENGTH);
    assertEquals(0, digest.seen.get());
    await(upload.finish());
    assertEquals(LENGTH, digest.seen.get());
    assertEquals(sha256(BYTES), digest.hex());
    await(upload.release());
    await(other.publish("u.2", "k.2"));
    assertArrayEquals(BYTES, content(other, "k.2"));
    await(lost.release());
    holdsOnly("k.2");
  }

  @Test
  void whatWasKeptIsFoundByAnotherProcess() throws Exception {
    Upload first = await(blobs.open("u.3", NONE));
    append(first, BYTES, 0, PART + 700_000);
    await(first.keep());
    append(first, BYTES, PART + 700_000, PART + 900_000);
    await(first.keep());
    append(first, BYTES, PART + 900_000, PART + 950_000);

    S3Blobs other = process();
    assertEquals(PART + 900_000, await(other.stored("u.3")));
    Upload upload = await(other.open("u.3", NONE));
    assertEquals(PART + 900_000, upload.stored());
    append(upload, BYTES, PART + 900_000, LENGTH);
    await(upload.finish());
    await(upload.release());
    await(other.publish("u.3", "k.3"));
    assertArrayEquals(BYTES, content(other, "k.3"));
    await(first.release());
    holdsOnly("k.3");
  }

  /** Stores 80 pieces, each with its own requests to the server. */
  @Test
  void aTailOfManyPiecesIsKeptAsOne() throws Exception {
    byte[] bytes = random(3, 80 * 1_000);
    Upload upload = await(blobs.open("u.4", NONE));
    for (int i = 0; i < 80; i++) {
      await(upload.append(bytes, i * 1_000, (i + 1) * 1_000));
      await(upload.keep());
    }
    S3Blobs other = process();
    Digest digest = new Digest();
    Upload again = await(other.open("u.4", digest));
    assertEquals(80_000, again.stored());
    assertTrue(
        await(database.read("SELECT object FROM blob_piece", List.of(), r -> 1)).size() < 40);
    await(again.finish());
    assertEquals(sha256(bytes), digest.hex());
    await(upload.release());
    await(again.release());
    await(other.publish("u.4", "k.4"));
    assertArrayEquals(bytes, content(blobs, "k.4"));
    holdsOnly("k.4");
  }

  @Test
  void ofTwoThatAppendTheLaterOpeningHasTheUpload() throws Exception {
    S3Blobs other = process();
    Upload first = await(blobs.open("u.5", NONE));
    append(first, BYTES, 0, PART);
    Upload second = await(other.open("u.5", NONE));
    failure(StorageBusyException.class, appendAll(first, random(9, PART), PART));
    failure(StorageBusyException.class, first.keep());
    failure(StorageBusyException.class, first.finish());
    append(second, BYTES, PART, LENGTH);
    await(second.finish());
    await(second.release());
    await(first.release());
    await(other.publish("u.5", "k.5"));
    assertArrayEquals(BYTES, content(other, "k.5"));
    holdsOnly("k.5");
  }

  @Test
  void ofAnUploadThatIsCompleteSeveralOpeningsAreOfUse() throws Exception {
    S3Blobs other = process();
    Upload first = await(blobs.open("u.23", NONE));
    append(first, BYTES, 0, LENGTH);
    Upload second = await(other.open("u.23", NONE));
    assertFalse(await(first.isCurrent()));
    append(second, BYTES, (int) second.stored(), LENGTH);
    await(second.finish());
    await(first.release());
    Upload third = await(blobs.open("u.23", NONE));
    await(third.finish());
    assertTrue(await(second.isCurrent()));
    assertTrue(await(third.isCurrent()));
    await(second.release());
    await(other.publish("u.23", "k.23"));
    assertFalse(await(third.isCurrent()));
    await(third.release());
    await(blobs.publish("u.23", "k.23"));
    assertArrayEquals(BYTES, content(blobs, "k.23"));
    holdsOnly("k.23");
  }

  private static io.vertx.core.Future<Void> appendAll(Upload upload, byte[] bytes, int length)
      throws Exception {
    for (int at = 0; at < length - BLOCK; at += BLOCK) {
      await(upload.append(bytes, at, at + BLOCK));
    }
    return upload.append(bytes, length - BLOCK, length);
  }

  @Test
  void aPartThatAThawedProcessReplacedMakesTheUploadBeginAnew() throws Exception {
    S3Rows rows = new S3Rows(database, config(SERVER.port()).name(), clock);
    Upload upload = await(blobs.open("u.10", NONE));
    append(upload, BYTES, 0, 2 * PART);
    S3Rows.UploadRow row = await(rows.find("u.10")).orElseThrow();
    byte[] others = random(99, PART);
    try (S3Calls calls = new S3Calls(config(SERVER.port()), (operation, outcome, nanos) -> {})) {
      calls.send(String.valueOf(row.object()), String.valueOf(row.multipart()), 1, payload(others));
    }
    failure(StorageFaultException.class, upload.finish());
    assertEquals(0, upload.stored());
    await(upload.release());
    assertEquals(0, await(blobs.stored("u.10")));
    holdsOnly();
  }

  @Test
  void anUploadThatIsCompletingIsCompletedBeforeItIsDeleted() throws Exception {
    S3Rows rows = new S3Rows(database, config(SERVER.port()).name(), clock);
    Upload upload = await(blobs.open("u.11", NONE));
    append(upload, BYTES, 0, 2 * PART);
    await(upload.release());
    await(rows.recordCompleting(await(rows.find("u.11")).orElseThrow(), 2 * PART));
    await(blobs.abandon("u.11"));
    holdsOnly();
  }

  private static Payload payload(byte[] bytes) {
    return new Payload(
        bytes.length,
        () -> new ByteArrayInputStream(bytes),
        () -> Base64.getDecoder().decode(PresignedPut.md5(bytes)),
        true);
  }

  @Test
  void aPartWhoseBytesDoNotComeIsGivenUpAndNoFailureOfTheStore() throws Exception {
    List<String> ended = new CopyOnWriteArrayList<>();
    Spool spool = new Spool(Files.createDirectory(folder.resolve("spool")), PART);
    Workers workers = new Workers(vertx.getOrCreateContext(), BOUNDS, 1);
    try (S3Calls calls =
        new S3Calls(
            config(SERVER.port()),
            (operation, outcome, nanos) -> ended.add(operation + ' ' + outcome.label()))) {
      String multipart = calls.begin("blobs/o");
      byte[] bytes = random(9, PART / 2);
      spool.write(bytes, 0, bytes.length);
      EarlyPart part =
          EarlyPart.begin(
              spool,
              new Semaphore(1),
              workers,
              payload -> calls.send("blobs/o", multipart, 1, payload));
      assertNotNull(part);
      part.cancel();
      ExecutionException failure = assertThrows(ExecutionException.class, () -> await(part.tag()));
      assertTrue(EarlyPart.isCancelled(failure), failure.toString());
      calls.abort("blobs/o", multipart);
      assertEquals(List.of("begin done", "abort done"), ended);
    } finally {
      spool.close();
      await(workers.close());
    }
  }

  /** One process searches for orphans while another one publishes again and stores a reference. */
  @Test
  void aBlobThatAnotherProcessPublishesBetweenTheLookAndTheDeletionStays() throws Exception {
    S3Rows rows = new S3Rows(database, config(SERVER.port()).name(), clock);
    publish(blobs, "k.30", new byte[9]);
    clock.advance(3_600_000);
    S3Rows.Blob seen = await(rows.blob("k.30")).orElseThrow();
    S3Blobs other = process();
    publish(other, "k.30", new byte[9]);
    assertTrue(await(rows.detachBlob("k.30", seen, clock.millis())).isEmpty());
    await(other.delete("k.30"));
    publish(other, "k.30", new byte[9]);
    clock.advance(1);
    assertTrue(await(rows.detachBlob("k.30", seen, clock.millis())).isEmpty());
    assertArrayEquals(new byte[9], content(blobs, "k.30"));
    holdsOnly("k.30");
  }

  @Test
  void anObjectThatIsLostIsAFaultOfTheStore() throws Exception {
    publish(blobs, "lost", random(5, 10_000));
    try (S3Client client = SERVER.client()) {
      String object =
          await(database.readOne("SELECT object FROM blob", List.of(), row -> row.text("object")));
      client.deleteObject(request -> request.bucket(bucket).key("bourse/" + object));
    }
    Reading reading = await(blobs.read("lost"));
    failure(StorageFaultException.class, reading.piece(0, 10));
    await(reading.close());
  }
}
