package dev.bourse.blob;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A file that is open for reading. Its bytes stay readable after its name is deleted. */
final class LocalReading implements Reading {
  private final String key;
  private final FileChannel channel;
  private final long length;
  private final BlobFiles files;
  private final Workers workers;
  private final Function<LocalReading, Future<Void>> onClosed;
  private @Nullable Future<Void> closed;

  /**
   * Creates a reading.
   *
   * @param channel the file, which other readings may share
   * @param onClosed closes the file when its last reader leaves
   */
  LocalReading(
      String key,
      FileChannel channel,
      long length,
      BlobFiles files,
      Workers workers,
      Function<LocalReading, Future<Void>> onClosed) {
    this.key = key;
    this.channel = channel;
    this.length = length;
    this.files = files;
    this.workers = workers;
    this.onClosed = onClosed;
  }

  @Override
  public long length() {
    return length;
  }

  @Override
  public Optional<FileChannel> file() {
    return Optional.of(channel);
  }

  @Override
  public Future<Buffer> piece(long offset, int count) {
    if (count < 1 || count > BlobStore.MAX_BLOCK_BYTES || offset < 0 || offset > length - count) {
      return Future.failedFuture(
          new IllegalArgumentException(
              "%s bytes at %s are not a valid piece of a blob of %s; expected 1 to %s bytes within it"
                  .formatted(count, offset, length, BlobStore.MAX_BLOCK_BYTES)));
    }
    return isClosed()
        ? Future.failedFuture(
            new IllegalStateException("the reading of blob " + key + " is closed"))
        : workers.call(() -> read(offset, count));
  }

  private synchronized boolean isClosed() {
    return closed != null;
  }

  private Buffer read(long offset, int count) {
    ByteBuffer bytes = ByteBuffer.allocate(count);
    try {
      while (bytes.hasRemaining()) {
        if (channel.read(bytes, offset + bytes.position()) < 0) {
          throw new IOException("the file became shorter than " + length + " bytes");
        }
      }
    } catch (ClosedChannelException e) {
      throw new IllegalStateException("the reading of blob " + key + " is closed", e);
    } catch (IOException e) {
      throw files.failure("cannot read blob " + key, e);
    }
    return Buffer.buffer(bytes.array());
  }

  @Override
  public synchronized Future<Void> close() {
    if (closed == null) {
      closed = onClosed.apply(this);
    }
    return closed;
  }
}
