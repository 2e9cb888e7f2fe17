package dev.bourse.checkpoint;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.Operator;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Bytes on their way into real blobs and rows. */
class UploadTest extends CheckpointFixture {
  private static final byte[] BYTES = bytes(700_000, 1);
  private static final byte[] FEW = bytes(1_000, 2);
  private static final Optional<String> NO_SHA = Optional.empty();

  private @Nullable Services made;

  private Services process() {
    Services running = made;
    if (running == null) {
      running = new Services(database, blobs);
      made = running;
    }
    return running;
  }

  private static byte[] privateKey() {
    return SecretSamples.all(1).stream()
        .filter(sample -> sample.rule().equals("private-key"))
        .findFirst()
        .orElseThrow()
        .text()
        .getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);
  }

  private CheckpointService.Announced announce(boolean resumable) throws Exception {
    return announce("a.bin", BYTES, resumable);
  }

  private CheckpointService.Announced announce(String name, byte[] bytes, boolean resumable)
      throws Exception {
    return await(
        process()
            .checkpoints
            .publish(member("alice"), publication(Visibility.ORG, name, bytes, resumable)));
  }

  private UploadSessionService.Progress put(CheckpointService.Announced to, int from, int until)
      throws Exception {
    return await(
        process()
            .sessions
            .put(
                to.session(),
                Optional.of("bytes " + from + "-" + (until - 1) + "/" + BYTES.length),
                source(BYTES, from, until, null)));
  }

  private UploadSessionService.Progress ask(CheckpointService.Announced of) throws Exception {
    return await(
        process().sessions.put(of.session(), Optional.of("bytes */*"), source(BYTES, 0, 0, null)));
  }

  private Future<CheckpointStore.Listed> commit(CheckpointService.Announced of) {
    return process().sessions.commit(member("alice"), of.item().id(), BYTES.length, NO_SHA);
  }

  private void isPublished(Checkpoint item, byte[] bytes) throws Exception {
    Revision live = CheckpointView.live(item);
    assertEquals(sha256(bytes), live.sha256());
    assertArrayEquals(bytes, content(item, live));
    assertEquals(countedBytes(), accountedBytes());
  }

  private static void conflict(String reason, Future<?> future) {
    ApiError error = fails(ApiError.class, future);
    assertEquals(ErrorCode.CONFLICT, error.code(), error.detail());
    assertEquals(reason, error.extras().get("reason"));
  }

  @Test
  void directBytesArePublishedWhole() throws Exception {
    String id = announce(false).item().id();
    Checkpoint item = await(process().direct.put(member("alice"), id, source(BYTES))).item();
    isPublished(item, BYTES);
    assertEquals(List.of(), names(false), "no upload is left behind");
  }

  @Test
  void sessionBytesArePublishedByTheCommit() throws Exception {
    CheckpointService.Announced announced = announce(true);
    assertEquals(300_000, put(announced, 0, 300_000).stored());
    assertEquals(300_000, ask(announced).stored());
    assertTrue(put(announced, 300_000, BYTES.length).isComplete());
    isPublished(await(commit(announced)).item(), BYTES);
    assertEquals(List.of(), names(false), "no upload is left behind");
  }

  @Test
  void whatIsSentTwiceCountsOnceAndAGapIsNotTaken() throws Exception {
    CheckpointService.Announced announced = announce(true);
    assertEquals(0, put(announced, 10, 20).stored());
    assertEquals(300_000, put(announced, 0, 300_000).stored());
    assertEquals(300_000, put(announced, 300_001, 400_000).stored());
    assertEquals(400_000, put(announced, 100_000, 400_000).stored());
    assertEquals(400_000, put(announced, 0, 200_000).stored());
    put(announced, 0, BYTES.length);
    isPublished(await(commit(announced)).item(), BYTES);
  }

  @Test
  void anInterruptedRequestKeepsWhatArrived() throws Exception {
    CheckpointService.Announced announced = announce(true);
    fails(
        IOException.class,
        process()
            .sessions
            .put(
                announced.session(),
                Optional.of("bytes 0-*/*"),
                source(BYTES, 0, 300_000, new IOException("gone"))));
    assertEquals(300_000, ask(announced).stored());
    put(announced, 300_000, BYTES.length);
    isPublished(await(commit(announced)).item(), BYTES);
  }

  @Test
  void anUploadGoesOnInAnotherProcess() throws Exception {
    CheckpointService.Announced announced = announce(true);
    put(announced, 0, 500_000);
    await(blobs.close());
    blobs = await(openLocal());
    made = null;
    assertEquals(500_000, ask(announced).stored());
    put(announced, 500_000, BYTES.length);
    await(blobs.close());
    blobs = await(openLocal());
    made = null;
    isPublished(await(commit(announced)).item(), BYTES);
  }

  @Test
  void anUploadWithoutRequestsIsClosedAndOpenedAgain() throws Exception {
    CheckpointService.Announced announced = announce(true);
    put(announced, 0, 500_000);
    clock.advance(OpenUploads.IDLE_MILLIS);
    await(process().sessions.closeIdle());
    put(announced, 500_000, BYTES.length);
    isPublished(await(commit(announced)).item(), BYTES);
  }

  @Test
  void aDirectUploadFindsRoomWhileSessionsPause() throws Exception {
    for (int i = 0; i < 16; i++) {
      put(announce("s" + i, BYTES, true), 0, 1);
    }
    String id = announce(false).item().id();
    isPublished(await(process().direct.put(member("alice"), id, source(BYTES))).item(), BYTES);
  }

  @Test
  void oneOrganizationsRequestsLeaveRoomForOthers() throws Exception {
    await(blobs.close());
    blobs = await(openLocal(2 * UploadShares.MAX_REQUESTS));
    List<Promise<Long>> reading = Collections.synchronizedList(new ArrayList<>());
    List<Future<?>> slow = new ArrayList<>();
    for (int i = 0; i < UploadShares.MAX_REQUESTS; i++) {
      String id = announce("slow" + i, FEW, false).item().id();
      slow.add(process().direct.put(member("alice"), id, never(reading)));
    }
    eventually("all send", () -> reading.size() == UploadShares.MAX_REQUESTS);

    String id = announce(false).item().id();
    assertEquals(
        ErrorCode.OVERLOADED,
        fails(ApiError.class, process().direct.put(member("alice"), id, source(BYTES))).code());
    CheckpointService.Announced session = announce("b.bin", BYTES, true);
    assertEquals(
        ErrorCode.OVERLOADED,
        fails(
                ApiError.class,
                process().sessions.put(session.session(), Optional.empty(), source(BYTES)))
            .code());
    assertEquals(0, ask(session).stored(), "asking takes no place");
    Publisher other = Publisher.platform(new Operator("op_1", "ops"), "Bourse");
    String document =
        await(
                process()
                    .checkpoints
                    .publish(other, publication(Visibility.PUBLIC, "c.bin", BYTES, false)))
            .item()
            .id();
    await(process().direct.put(other, document, source(BYTES)));

    reading.forEach(one -> one.fail(new IOException("gone")));
    for (Future<?> one : slow) {
      fails(IOException.class, one);
    }
    isPublished(await(process().direct.put(member("alice"), id, source(BYTES))).item(), BYTES);
  }

  /** A request that sends nothing; its future goes to the list. */
  private static ByteSource never(List<Promise<Long>> reading) {
    ByteSource like = source(FEW);
    return new ByteSource() {
      @Override
      public OptionalLong length() {
        return like.length();
      }

      @Override
      public Optional<String> contentType() {
        return like.contentType();
      }

      @Override
      public Future<Long> read(int blockBytes, long expectedBytes, Sink sink) {
        Promise<Long> end = Promise.promise();
        reading.add(end);
        return end.future();
      }
    };
  }

  @Test
  void anUploadIsGivenBackByWhoeverHasItAlone() throws Exception {
    OpenUploads open = new OpenUploads(blobs, clock);
    OpenUploads.Opened first = await(open.take("u", "a.bin"));
    await(open.close(first));
    OpenUploads.Opened second = await(open.take("u", "a.bin"));
    open.giveBack(first);
    assertEquals(ErrorCode.OVERLOADED, fails(ApiError.class, open.take("u", "a.bin")).code());
    open.giveBack(second);
    assertEquals(second, await(open.take("u", "a.bin")));
  }

  @Test
  void anUploadThatPausesForLessThanAnHourIsNotInspectedAgain() throws Exception {
    OpenUploads open = new OpenUploads(blobs, clock);
    OpenUploads.Opened first = await(open.take("u", "a.bin"));
    open.giveBack(first);
    clock.advance(OpenUploads.IDLE_MILLIS - 1);
    await(open.closeIdle());
    assertSame(first, await(open.take("u", "a.bin")));
    open.giveBack(first);
    clock.advance(OpenUploads.IDLE_MILLIS);
    await(open.closeIdle());
    assertNotSame(first, await(open.take("u", "a.bin")));
  }

  @Test
  void uploadsThatPauseAreBoundedAndTheOneThatPausesLongestIsClosed() throws Exception {
    await(blobs.close());
    blobs = await(openLocal(2 * OpenUploads.MOST_IDLE));
    OpenUploads open = new OpenUploads(blobs, clock);
    List<OpenUploads.Opened> pausing = new ArrayList<>();
    for (int i = 0; i <= OpenUploads.MOST_IDLE; i++) {
      pausing.add(await(open.take("u" + i, "a.bin")));
      open.giveBack(pausing.get(i));
      clock.advance(1);
    }
    await(pausing.get(0).upload().release());
    assertNotSame(pausing.get(0), await(open.take("u0", "a.bin")));
    for (int i = 1; i <= OpenUploads.MOST_IDLE; i++) {
      assertSame(pausing.get(i), await(open.take("u" + i, "a.bin")));
    }
  }

  @Test
  void aPlaceThatIsTakenMeanwhileRefusesWhatMovesThere() throws Exception {
    String id = announce(false).item().id();
    await(process().direct.put(member("alice"), id, source(BYTES)));
    CheckpointService.Publication moved = publication(Visibility.ORG, "b.bin", BYTES, false);
    await(
        process()
            .checkpoints
            .publish(
                member("alice"),
                new CheckpointService.Publication(
                    moved.facts(), moved.visibility(), moved.resumable(), Replace.one(id))));
    String other = announce("b.bin", BYTES, false).item().id();
    conflict("exists", process().direct.put(member("alice"), id, source(BYTES)));
    await(process().checkpoints.delete(member("alice"), other));
    isPublished(await(process().direct.put(member("alice"), id, source(BYTES))).item(), BYTES);
  }

  @Test
  void aCommitWithBytesMissingChangesNothing() throws Exception {
    CheckpointService.Announced announced = announce(true);
    conflict("object-missing", commit(announced));
    put(announced, 0, 500_000);
    conflict("object-missing", commit(announced));
    conflict(
        "size-mismatch",
        process().sessions.commit(member("alice"), announced.item().id(), 5, NO_SHA));
    put(announced, 500_000, BYTES.length);
    isPublished(await(commit(announced)).item(), BYTES);
    conflict("not-pending", commit(announced));
  }

  @Test
  void anotherDigestBeginsTheSessionAnew() throws Exception {
    CheckpointService.Announced announced = announce(true);
    put(announced, 0, BYTES.length);
    conflict(
        "sha-mismatch",
        process()
            .sessions
            .commit(
                member("alice"),
                announced.item().id(),
                BYTES.length,
                Optional.of(CheckpointSamples.SHA)));
    assertEquals(0, ask(announced).stored());
    put(announced, 0, BYTES.length);
    isPublished(await(commit(announced)).item(), BYTES);
  }

  @Test
  void aSessionEndsInTime() throws Exception {
    CheckpointService.Announced announced = announce(true);
    put(announced, 0, BYTES.length);
    clock.advance(CONFIG.sessionMillis());
    assertEquals(ErrorCode.UPLOAD_TIMEOUT, fails(ApiError.class, commit(announced)).code());
    assertEquals(
        ErrorCode.GONE,
        fails(
                ApiError.class,
                process()
                    .sessions
                    .put(announced.session(), Optional.of("bytes */*"), source(BYTES, 0, 0, null)))
            .code());
  }

  @Test
  void aSessionEndsWithItsItem() throws Exception {
    CheckpointService.Announced announced = announce(true);
    put(announced, 0, 100);
    await(process().checkpoints.delete(member("alice"), announced.item().id()));
    assertEquals(
        ErrorCode.GONE,
        fails(
                ApiError.class,
                process().sessions.put(announced.session(), Optional.empty(), source(BYTES)))
            .code());
  }

  @Test
  void aCredentialTakesTheAnnouncementWithIt() throws Exception {
    byte[] text = BYTES.clone();
    byte[] secret = privateKey();
    System.arraycopy(secret, 0, text, 600_000, secret.length);
    for (boolean resumable : new boolean[] {false, true}) {
      CheckpointService.Announced announced = announce("s" + resumable, text, resumable);
      Future<?> sent =
          resumable
              ? process().sessions.put(announced.session(), Optional.empty(), source(text))
              : process().direct.put(member("alice"), announced.item().id(), source(text));
      ApiError error = fails(ApiError.class, sent);
      assertEquals(ErrorCode.SECRET_DETECTED, error.code(), error.detail());
      assertEquals("private-key", error.extras().get("rule"));
      assertEquals(600_000L, error.extras().get("offset"));
      assertEquals(
          ErrorCode.GONE,
          fails(ApiError.class, process().checkpoints.get(LAB.orgId(), announced.item().id()))
              .code());
      assertEquals(List.of(), names(false));
      assertEquals(List.of(), names(true));
      assertEquals(0, accountedBytes());
    }
  }

  @Test
  void aRefusedDirectRequestMayBeRepeated() throws Exception {
    String id = announce(false).item().id();
    conflict("size-mismatch", process().direct.put(member("alice"), id, source(BYTES, 0, 5, null)));
    fails(
        IOException.class,
        process()
            .direct
            .put(member("alice"), id, source(BYTES, 0, BYTES.length, new IOException("gone"))));
    assertEquals(List.of(), names(false));
    isPublished(await(process().direct.put(member("alice"), id, source(BYTES))).item(), BYTES);
    conflict("not-pending", process().direct.put(member("alice"), id, source(BYTES)));
  }

  @Test
  void eachKindOfUploadHasItsOwnWay() throws Exception {
    conflict(
        "resumable-upload",
        process().direct.put(member("alice"), announce(true).item().id(), source(BYTES)));
    conflict("wrong-status", commit(announce("b.bin", BYTES, false)));
  }
}
