package dev.bourse.blob.s3;

import io.vertx.core.Future;
import org.jspecify.annotations.Nullable;

/** Sends what is spooled as a part, early where that is worth it. Used by one step at a time. */
final class PartSender {
  private final Tools tools;
  private final Spool spool;
  private @Nullable EarlyPart early;

  PartSender(Tools tools, Spool spool) {
    this.tools = tools;
    this.spool = spool;
  }

  /** From the second part on, for of the first nobody knows whether there will be one. */
  void beginEarly(S3Rows.Upload row, int number) {
    if (early == null && row.multipart() != null && tools.calls().tagsAreDigests()) {
      early =
          EarlyPart.begin(
              spool, tools.earlyPlaces(), tools.workers(), payload -> send(row, number, payload));
    }
  }

  /** Sends the spool as a part of an upload that has begun, and gives the store's tag of it. */
  Future<String> send(S3Rows.Upload row, int number) {
    EarlyPart begun = early;
    if (begun != null && spool.isFull()) {
      early = null;
      // What the store did not take after all its tries is the client's to send again.
      return begun
          .tag()
          .recover(
              e ->
                  EarlyPart.isGivenUp(e) || e instanceof UploadReceipt.UnverifiedException
                      ? sendSpool(row, number)
                      : Future.failedFuture(e));
    }
    stop();
    return sendSpool(row, number);
  }

  private Future<String> sendSpool(S3Rows.Upload row, int number) {
    return tools.workers().longCall(() -> send(row, number, spool.read(0, spool.length())));
  }

  private String send(S3Rows.Upload row, int number, Payload payload) {
    return tools
        .calls()
        .send(String.valueOf(row.object()), String.valueOf(row.multipart()), number, payload);
  }

  /** Breaks off what was begun early. */
  void stop() {
    EarlyPart begun = early;
    early = null;
    if (begun != null) {
      begun.giveUp();
    }
  }
}
