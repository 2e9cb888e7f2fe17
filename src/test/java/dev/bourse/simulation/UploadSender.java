package dev.bourse.simulation;

import dev.bourse.blob.ByteSource;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalLong;

/** A file's bytes in transit: in blocks, with pauses, and the sender may disconnect. */
final class UploadSender implements ByteSource {
  private static final int MOST_BLOCK = 1_500;

  private final Replica process;
  private final UploadAttempt attempt;
  private final int from;
  private final int to;
  private final int leavesAt;

  UploadSender(Replica process, UploadAttempt attempt, int from, int to) {
    this.process = process;
    this.attempt = attempt;
    this.from = from;
    this.to = to;
    leavesAt =
        to > from && attempt.random.nextInt(5) == 0
            ? attempt.random.nextInt(from, to)
            : Integer.MAX_VALUE;
  }

  @Override
  public OptionalLong length() {
    return OptionalLong.of(to - from);
  }

  @Override
  public Optional<String> contentType() {
    return Optional.of(UploadClients.TYPE);
  }

  @Override
  public Future<Long> read(int blockBytes, long expectedBytes, Sink sink) {
    Promise<Long> whole = Promise.promise();
    next(process.vertx().getOrCreateContext(), from, Math.min(blockBytes, MOST_BLOCK), sink, whole);
    return whole.future();
  }

  private void next(Context context, int at, int most, Sink sink, Promise<Long> whole) {
    if (at == to) {
      whole.complete((long) to - from);
      return;
    }
    if (at >= leavesAt) {
      whole.fail(new IOException("the sender left"));
      return;
    }
    int end = Math.min(Math.min(to, leavesAt), at + attempt.random.nextInt(1, most + 1));
    process.after(
        attempt.random.nextLong(100_000, 200_000_000),
        () ->
            context.runOnContext(
                v ->
                    sink.take(Arrays.copyOfRange(attempt.bytes, at, end), 0, end - at)
                        .onComplete(
                            done -> {
                              if (done.succeeded()) {
                                next(context, end, most, sink, whole);
                              } else {
                                whole.fail(done.cause());
                              }
                            })));
  }
}
