package dev.bourse.uploads;

import dev.bourse.blob.ByteSource;
import dev.bourse.blob.Upload;
import dev.bourse.checkpoint.Checkpoint;
import dev.bourse.checkpoint.ConflictReason;
import dev.bourse.checkpoint.Metadata;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import io.vertx.core.Future;

/**
 * Hands the blocks of one request to an upload, up to what was announced and for as long as whoever
 * announced it may publish it.
 */
final class UploadAppender {
  private final Upload upload;
  private final Checkpoint item;
  private final Metadata metadata;
  private final ContentRange range;
  private final PublishPermission permission;

  /** How many of the bytes to come are stored already and are skipped. */
  private long skipping;

  /** The offset of the next byte to come. */
  private long at;

  private boolean broken;

  /**
   * @param metadata of the revision whose bytes they are
   * @param range which bytes the request brings; it leaves no gap behind those that are stored
   */
  UploadAppender(
      Upload upload,
      Checkpoint item,
      Metadata metadata,
      ContentRange range,
      PublishPermission permission) {
    this.upload = upload;
    this.item = item;
    this.metadata = metadata;
    this.range = range;
    this.permission = permission;
    this.skipping = upload.stored() - range.first();
    this.at = range.first();
  }

  /** The offset after the last byte that may come. */
  private long end() {
    return range.last().isPresent() ? range.last().getAsLong() + 1 : metadata.bytes();
  }

  /** Reads all of a source; succeeds with the number of its bytes. */
  Future<Long> readFrom(ByteSource source, int blockBytes) {
    return source.read(blockBytes, end() - range.first(), this::take);
  }

  private Future<Void> take(byte[] bytes, int from, int to) {
    if (!permission.holds(item)) {
      return Future.failedFuture(withdrawn());
    }
    int first = from + (int) Math.min(skipping, to - from);
    skipping -= first - from;
    at += to - from;
    if (at > end()) {
      return Future.failedFuture(
          range.last().isPresent() ? range.otherThan("more bytes than that") : tooMany(metadata));
    }
    return first == to
        ? Future.succeededFuture()
        : upload.append(bytes, first, to).onFailure(e -> broken = true);
  }

  /** Whether the inspection has seen bytes that are not kept. */
  boolean isBroken() {
    return broken;
  }

  static ApiError tooMany(Metadata metadata) {
    return ConflictReason.SIZE_MISMATCH.of(
        "more bytes came than the %s that were announced", metadata.bytes());
  }

  /** The answer once whoever announced the file may not publish it any more. */
  private static ApiError withdrawn() {
    return ApiError.of(
        ErrorCode.GONE,
        "whoever announced this file may not publish it any more; nothing more of it is taken");
  }
}
