package dev.bourse.uploads;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.checkpoint.CheckpointSamples;
import dev.bourse.checkpoint.CheckpointService;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import java.io.IOException;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Uploads by session into real blobs and rows. */
class UploadSessionTest extends UploadFixture {
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
    restart();
    assertEquals(500_000, ask(announced).stored());
    put(announced, 500_000, BYTES.length);
    restart();
    isPublished(await(commit(announced)).item(), BYTES);
  }

  @Test
  void anUploadWithoutRequestsIsClosedAndOpenedAgain() throws Exception {
    CheckpointService.Announced announced = announce(true);
    put(announced, 0, 500_000);
    clock.advance(OpenUploads.IDLE_MILLIS);
    await(process().uploads.closeIdle());
    put(announced, 500_000, BYTES.length);
    isPublished(await(commit(announced)).item(), BYTES);
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
    assertEquals(ErrorCode.UPLOAD_TIMEOUT, fails(ApiException.class, commit(announced)).code());
    gone(
        process()
            .sessions
            .put(announced.session(), Optional.of("bytes */*"), source(BYTES, 0, 0, null)));
  }

  @Test
  void aSessionEndsWithItsItem() throws Exception {
    CheckpointService.Announced announced = announce(true);
    put(announced, 0, 100);
    await(process().checkpoints.delete(member("alice"), announced.item().id()));
    gone(process().sessions.put(announced.session(), Optional.empty(), source(BYTES)));
  }
}
