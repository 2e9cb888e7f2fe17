package dev.bourse.checkpoint;

import dev.bourse.blob.Upload;
import dev.bourse.core.ApiError;
import io.vertx.core.Future;

/** Hands the blocks of one request to an upload, up to what was announced. */
final class Appending {
  private final Upload upload;
  private final Facts facts;
  private long skipped;
  private long taken;
  private boolean broken;

  /**
   * @param skipping bytes that are there already and are passed over
   */
  Appending(Upload upload, Facts facts, long skipping) {
    this.upload = upload;
    this.facts = facts;
    this.skipped = skipping;
    this.taken = upload.stored();
  }

  Future<Void> take(byte[] bytes, int from, int to) {
    int first = from + (int) Math.min(skipped, to - from);
    skipped -= first - from;
    taken += to - first;
    if (taken > facts.bytes()) {
      return Future.failedFuture(tooMany(facts));
    }
    return first == to
        ? Future.succeededFuture()
        : upload.append(bytes, first, to).onFailure(e -> broken = true);
  }

  /** Whether the inspection has seen bytes that are not kept. */
  boolean isBroken() {
    return broken;
  }

  static ApiError tooMany(Facts facts) {
    return Refusal.SIZE_MISMATCH.of(
        "more bytes came than the " + facts.bytes() + " that were announced");
  }
}
