package dev.bourse.blob.s3;

import io.vertx.core.Future;
import org.jspecify.annotations.Nullable;

/** Sends the spool as a part, early if that pays off. Used by one step at a time. */
final class PartSender {
  private final S3Context context;
  private final Spool spool;
  private @Nullable EarlyPart early;

  PartSender(S3Context context, Spool spool) {
    this.context = context;
    this.spool = spool;
  }

  /**
   * Starts early from the second part on, because the first part may turn out to be the whole
   * upload.
   */
  void beginEarly(S3Rows.UploadRow row, int number) {
    if (early == null && row.multipart() != null && context.calls().tagsAreDigests()) {
      early =
          EarlyPart.begin(
              spool,
              context.earlyPlaces(),
              context.workers(),
              payload -> send(row, number, payload));
    }
  }

  /** Sends the spool as a part of a multipart upload and returns the store's tag of it. */
  Future<String> send(S3Rows.UploadRow row, int number) {
    EarlyPart begun = early;
    if (begun != null && spool.isFull()) {
      early = null;
      // If the store fails after all retries, the client has to send the bytes again.
      return begun
          .tag()
          .recover(
              e ->
                  EarlyPart.isCancelled(e) || e instanceof UploadReceipt.UnverifiedException
                      ? sendSpool(row, number)
                      : Future.failedFuture(e));
    }
    stop();
    return sendSpool(row, number);
  }

  private Future<String> sendSpool(S3Rows.UploadRow row, int number) {
    return context.workers().longCall(() -> send(row, number, spool.read(0, spool.length())));
  }

  private String send(S3Rows.UploadRow row, int number, Payload payload) {
    return context
        .calls()
        .send(String.valueOf(row.object()), String.valueOf(row.multipart()), number, payload);
  }

  /** Cancels the early part. */
  void stop() {
    EarlyPart begun = early;
    early = null;
    if (begun != null) {
      begun.cancel();
    }
  }
}
