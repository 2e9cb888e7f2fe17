package dev.bourse.uploads;

import dev.bourse.blob.ByteSource;
import dev.bourse.blob.Upload;
import dev.bourse.checkpoint.Checkpoint;
import dev.bourse.checkpoint.ConflictReason;
import dev.bourse.checkpoint.Metadata;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import io.vertx.core.Future;

/**
 * Appends the blocks of one request to an upload, up to the announced length and while the member
 * who announced it may publish it.
 */
final class UploadAppender {
  private final Upload upload;
  private final Checkpoint item;
  private final Metadata metadata;
  private final ContentRange range;
  private final PublishPermission permission;

  /** Bytes still to skip because they are stored already. */
  private long skipping;

  /** The offset of the next byte to receive. */
  private long at;

  private boolean broken;

  /**
   * @param metadata of the revision whose bytes they are
   * @param range the range of the request, which leaves no gap after the stored bytes
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

  /** Returns the offset after the last expected byte. */
  private long end() {
    return range.last().isPresent() ? range.last().getAsLong() + 1 : metadata.bytes();
  }

  /** Reads a whole source; succeeds with the number of its bytes. */
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
          range.last().isPresent() ? range.lengthMismatch("more bytes") : tooMany(metadata));
    }
    return first == to
        ? Future.succeededFuture()
        : upload.append(bytes, first, to).onFailure(e -> broken = true);
  }

  /** Returns true if the inspection has seen bytes that were not stored. */
  boolean isBroken() {
    return broken;
  }

  static ApiException tooMany(Metadata metadata) {
    return ConflictReason.SIZE_MISMATCH.of(
        "the body exceeds the %s bytes that were announced", metadata.bytes());
  }

  /** The error after the announcer of the file has lost the permission. */
  private static ApiException withdrawn() {
    return ApiException.of(
        ErrorCode.GONE,
        "the member or the publishing credential that announced this file may no longer publish it;"
            + " no more bytes are accepted");
  }
}
