package dev.bourse.edge;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.WritableByteChannel;
import java.util.function.LongConsumer;

/**
 * A file that reports the bytes that a client takes. Without that, a client that stopped reading a
 * large file looks like one that reads slowly. Over plain connections the operating system sends
 * the file; over TLS the bytes are read here, piece by piece, while the connection is writable.
 */
final class ProgressChannel extends FileChannel {
  private final FileChannel file;
  private final LongConsumer moved;

  /**
   * @param moved called on the event loop with the number of bytes that a client took
   */
  ProgressChannel(FileChannel file, LongConsumer moved) {
    this.file = file;
    this.moved = moved;
  }

  @Override
  public long transferTo(long position, long count, WritableByteChannel target) throws IOException {
    return reported(file.transferTo(position, count, target));
  }

  private long reported(long taken) {
    if (taken > 0) {
      moved.accept(taken);
    }
    return taken;
  }

  @Override
  public long size() throws IOException {
    return file.size();
  }

  @Override
  public int read(ByteBuffer destination) throws IOException {
    return (int) reported(file.read(destination));
  }

  @Override
  public int read(ByteBuffer destination, long position) throws IOException {
    return (int) reported(file.read(destination, position));
  }

  @Override
  public long read(ByteBuffer[] destinations, int offset, int length) throws IOException {
    return reported(file.read(destinations, offset, length));
  }

  @Override
  public long position() throws IOException {
    return file.position();
  }

  @Override
  public FileChannel position(long newPosition) throws IOException {
    file.position(newPosition);
    return this;
  }

  @Override
  public int write(ByteBuffer source) {
    throw readOnly();
  }

  @Override
  public int write(ByteBuffer source, long position) {
    throw readOnly();
  }

  @Override
  public long write(ByteBuffer[] sources, int offset, int length) {
    throw readOnly();
  }

  @Override
  public FileChannel truncate(long size) {
    throw readOnly();
  }

  @Override
  public void force(boolean metaData) {
    throw readOnly();
  }

  @Override
  public long transferFrom(
      java.nio.channels.ReadableByteChannel source, long position, long count) {
    throw readOnly();
  }

  @Override
  public MappedByteBuffer map(MapMode mode, long position, long size) throws IOException {
    return file.map(mode, position, size);
  }

  @Override
  public FileLock lock(long position, long size, boolean shared) {
    throw readOnly();
  }

  @Override
  public FileLock tryLock(long position, long size, boolean shared) {
    throw readOnly();
  }

  /** Does nothing: the code that opened the file closes it. */
  @Override
  protected void implCloseChannel() {}

  private static UnsupportedOperationException readOnly() {
    return new UnsupportedOperationException("this channel is read-only");
  }
}
