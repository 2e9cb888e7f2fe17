package dev.bourse.blob.s3;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The bytes of an upload behind its last part, in a file of this machine that is no longer than a
 * part. Its name is gone at once, so that nothing is left of it when the process dies. Used by one
 * thread at a time; streams read it meanwhile.
 */
final class Spool {
  private final FileChannel file;
  private final int capacity;
  private long length;

  /**
   * @param capacity the bytes of a part
   * @throws IOException when the folder takes no file
   */
  Spool(Path folder, int capacity) throws IOException {
    this.capacity = capacity;
    Path path = Files.createTempFile(folder, "part", null);
    try {
      file =
          FileChannel.open(
              path,
              StandardOpenOption.READ,
              StandardOpenOption.WRITE,
              StandardOpenOption.DELETE_ON_CLOSE);
    } finally {
      Files.deleteIfExists(path);
    }
  }

  long length() {
    return length;
  }

  boolean isFull() {
    return length == capacity;
  }

  /** Takes as many of these bytes as it has room for, and tells how many. */
  int write(byte[] bytes, int from, int to) throws IOException {
    int taken = (int) Math.min(to - from, capacity - length);
    ByteBuffer buffer = ByteBuffer.wrap(bytes, from, taken);
    while (buffer.hasRemaining()) {
      file.write(buffer, length + taken - buffer.remaining());
    }
    length += taken;
    return taken;
  }

  /** Begins anew. */
  void clear() {
    length = 0;
  }

  /** A stream over some of it, which may be opened again for another try. */
  InputStream read(long from, long bytes) {
    return new InputStream() {
      private long at = from;

      @Override
      public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
      }

      @Override
      public int read(byte[] into, int offset, int most) throws IOException {
        long left = from + bytes - at;
        if (left == 0) {
          return -1;
        }
        int read = file.read(ByteBuffer.wrap(into, offset, (int) Math.min(most, left)), at);
        if (read > 0) {
          at += read;
        }
        return read;
      }
    };
  }

  void close() throws IOException {
    file.close();
  }
}
