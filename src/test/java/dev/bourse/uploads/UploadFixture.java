package dev.bourse.uploads;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.checkpoint.Checkpoint;
import dev.bourse.checkpoint.CheckpointFixture;
import dev.bourse.checkpoint.CheckpointService;
import dev.bourse.checkpoint.CheckpointStore;
import dev.bourse.checkpoint.CheckpointView;
import dev.bourse.checkpoint.Revision;
import dev.bourse.checkpoint.Visibility;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import io.vertx.core.Future;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Uploads of announced files, direct and by session. */
public abstract class UploadFixture extends CheckpointFixture {
  public static final byte[] BYTES = bytes(700_000, 1);
  public static final Optional<String> NO_SHA = Optional.empty();

  private @Nullable Services made;

  public Services process() {
    Services running = made;
    if (running == null) {
      running = new Services(database, blobs);
      made = running;
    }
    return running;
  }

  /** Reopens the folder of bytes and the rows, like another process. */
  public void restart() throws Exception {
    await(blobs.close());
    blobs = await(openLocal());
    made = null;
  }

  public static void gone(Future<?> future) {
    assertEquals(ErrorCode.GONE, fails(ApiException.class, future).code());
  }

  public CheckpointService.Announced announce(boolean resumable) throws Exception {
    return announce("a.bin", BYTES, resumable);
  }

  public CheckpointService.Announced announce(String name, byte[] bytes, boolean resumable)
      throws Exception {
    return await(
        process()
            .checkpoints
            .publish(member("alice"), publication(Visibility.ORG, name, bytes, resumable)));
  }

  public ResumableUploads.Progress put(CheckpointService.Announced to, int from, int until)
      throws Exception {
    return await(
        process()
            .sessions
            .put(
                to.session(),
                Optional.of("bytes " + from + "-" + (until - 1) + "/" + BYTES.length),
                source(BYTES, from, until, null)));
  }

  public ResumableUploads.Progress ask(CheckpointService.Announced of) throws Exception {
    return await(
        process().sessions.put(of.session(), Optional.of("bytes */*"), source(BYTES, 0, 0, null)));
  }

  public Future<CheckpointStore.Listed> commit(CheckpointService.Announced of) {
    return process().sessions.commit(member("alice"), of.item().id(), BYTES.length, NO_SHA);
  }

  public void isPublished(Checkpoint item, byte[] bytes) throws Exception {
    Revision live = CheckpointView.live(item);
    assertEquals(sha256(bytes), live.sha256());
    assertArrayEquals(bytes, content(item, live));
    assertEquals(countedBytes(), accountedBytes());
  }

  public static void conflict(String reason, Future<?> future) {
    ApiException error = fails(ApiException.class, future);
    assertEquals(ErrorCode.CONFLICT, error.code(), error.detail());
    assertEquals(reason, error.extras().get("reason"));
  }
}
