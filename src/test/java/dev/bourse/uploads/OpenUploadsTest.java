package dev.bourse.uploads;

import static dev.bourse.testing.Polls.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.bourse.checkpoint.CheckpointFixture;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Uploads between two requests of their sessions. */
class OpenUploadsTest extends CheckpointFixture {
  @Test
  void anUploadIsGivenBackByWhoeverHasItAlone() throws Exception {
    OpenUploads open = new OpenUploads(blobs, clock);
    OpenUploads.Opened first = await(open.take("u", "a.bin"));
    await(open.close(first));
    OpenUploads.Opened second = await(open.take("u", "a.bin"));
    open.giveBack(first);
    assertEquals(ErrorCode.OVERLOADED, fails(ApiException.class, open.take("u", "a.bin")).code());
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
    // The end of a release is recorded after it.
    Future<OpenUploads.Opened> again =
        until("it is free", () -> settled(open.take("u0", "a.bin")), Future::succeeded);
    assertNotSame(pausing.get(0), again.result());
    for (int i = 1; i <= OpenUploads.MOST_IDLE; i++) {
      assertSame(pausing.get(i), await(open.take("u" + i, "a.bin")));
    }
  }

  private static <T> Future<T> settled(Future<T> future) {
    return future.transform(end -> Future.succeededFuture(future)).await();
  }
}
