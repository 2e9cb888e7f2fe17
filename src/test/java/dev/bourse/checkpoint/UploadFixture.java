package dev.bourse.checkpoint;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import io.vertx.core.Future;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Uploads of files that a member announces, direct ones and by session. */
abstract class UploadFixture extends CheckpointFixture {
  static final byte[] BYTES = bytes(700_000, 1);
  static final Optional<String> NO_SHA = Optional.empty();

  private @Nullable Services made;

  Services process() {
    Services running = made;
    if (running == null) {
      running = new Services(database, blobs);
      made = running;
    }
    return running;
  }

  /** The folder of bytes and the rows as another process finds them. */
  void restart() throws Exception {
    await(blobs.close());
    blobs = await(openLocal());
    made = null;
  }

  static void gone(Future<?> future) {
    assertEquals(ErrorCode.GONE, fails(ApiError.class, future).code());
  }

  CheckpointService.Announced announce(boolean resumable) throws Exception {
    return announce("a.bin", BYTES, resumable);
  }

  CheckpointService.Announced announce(String name, byte[] bytes, boolean resumable)
      throws Exception {
    return await(
        process()
            .checkpoints
            .publish(member("alice"), publication(Visibility.ORG, name, bytes, resumable)));
  }

  UploadSessionService.Progress put(CheckpointService.Announced to, int from, int until)
      throws Exception {
    return await(
        process()
            .sessions
            .put(
                to.session(),
                Optional.of("bytes " + from + "-" + (until - 1) + "/" + BYTES.length),
                source(BYTES, from, until, null)));
  }

  UploadSessionService.Progress ask(CheckpointService.Announced of) throws Exception {
    return await(
        process().sessions.put(of.session(), Optional.of("bytes */*"), source(BYTES, 0, 0, null)));
  }

  Future<CheckpointStore.Listed> commit(CheckpointService.Announced of) {
    return process().sessions.commit(member("alice"), of.item().id(), BYTES.length, NO_SHA);
  }

  void isPublished(Checkpoint item, byte[] bytes) throws Exception {
    Revision live = CheckpointView.live(item);
    assertEquals(sha256(bytes), live.sha256());
    assertArrayEquals(bytes, content(item, live));
    assertEquals(countedBytes(), accountedBytes());
  }

  static void conflict(String reason, Future<?> future) {
    ApiError error = fails(ApiError.class, future);
    assertEquals(ErrorCode.CONFLICT, error.code(), error.detail());
    assertEquals(reason, error.extras().get("reason"));
  }
}
