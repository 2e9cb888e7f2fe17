package dev.bourse.blob.s3;

import dev.bourse.blob.BlobStore;
import dev.bourse.blob.StorageFaultException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.concurrent.TimeUnit;

/**
 * The bytes of an upload after its last part, in a local file of at most one part. The file is
 * unlinked at once, so a crash leaves no files. One thread at a time writes it; streams read it
 * concurrently.
 */
final class Spool {
  private final FileChannel writing;

  /** Not a channel: the library ends an attempt with an interrupt, which would close a channel. */
  private final RandomAccessFile reading;

  private final int capacity;

  // The rest is guarded by this object.
  private long length;
  private long missing;
  private long begunNanos;

  /**
   * The digest of the bytes as they arrived, which detects a disk that alters them. It does not
   * cover bytes that were filled in, because those arrive out of order.
   */
  private final MessageDigest digest = md5();

  private boolean isDigested = true;

  /**
   * @param capacity the bytes of a part
   * @throws IOException if the folder does not accept a file
   */
  Spool(Path folder, int capacity) throws IOException {
    this.capacity = capacity;
    Path path = Files.createTempFile(folder, "part", null);
    try {
      writing = FileChannel.open(path, StandardOpenOption.WRITE);
      reading = open(path);
    } finally {
      Files.deleteIfExists(path);
    }
  }

  private RandomAccessFile open(Path path) throws IOException {
    try {
      return new RandomAccessFile(path.toFile(), "r");
    } catch (IOException e) {
      writing.close();
      throw e;
    }
  }

  synchronized long length() {
    return length;
  }

  boolean isFull() {
    return length() == capacity;
  }

  /** Returns whether it is complete from its first byte on and fills at this rate or faster. */
  synchronized boolean isFilling(long bytesPerSecond) {
    long micros = TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - begunNanos);
    return missing == 0 && length * 1_000_000 >= bytesPerSecond * micros;
  }

  /**
   * Starts after bytes that are stored elsewhere; those cannot be read before they are filled in.
   */
  synchronized void beginBehind(long bytes) {
    length = bytes;
    missing = bytes;
    isDigested = bytes == 0;
    begunNanos = System.nanoTime();
  }

  /** Returns how many of its first bytes are stored elsewhere. */
  synchronized long missing() {
    return missing;
  }

  /** Writes some of the missing bytes. */
  void fillIn(byte[] bytes, int count, long at) throws IOException {
    writeAt(ByteBuffer.wrap(bytes, 0, count), at);
  }

  /** Records that no bytes are missing any more. */
  synchronized void filledIn() {
    missing = 0;
  }

  private void writeAt(ByteBuffer buffer, long at) throws IOException {
    long end = at + buffer.remaining();
    while (buffer.hasRemaining()) {
      writing.write(buffer, end - buffer.remaining());
    }
  }

  /** Writes as many of the bytes as fit, and returns how many. */
  int write(byte[] bytes, int from, int to) throws IOException {
    long start = length();
    int taken = (int) Math.min(to - from, capacity - start);
    writeAt(ByteBuffer.wrap(bytes, from, taken), start);
    synchronized (this) {
      if (start == 0) {
        begunNanos = System.nanoTime();
      }
      length = start + taken;
      digest.update(bytes, from, taken);
      notifyAll();
    }
    return taken;
  }

  synchronized void clear() {
    length = 0;
    missing = 0;
    digest.reset();
    isDigested = true;
  }

  /** Returns a range of its bytes, none of which may be missing. */
  Payload read(long from, long bytes) {
    if (from < missing()) {
      throw new IllegalStateException("the first " + missing() + " bytes are missing");
    }
    return new Payload(bytes, () -> stream(from, bytes), () -> md5(from, bytes), true);
  }

  private InputStream stream(long from, long bytes) {
    return new Bytes(from, from + bytes, EarlyPart.UNLIMITED);
  }

  /** Returns all bytes of a part; its stream waits for bytes that have not arrived. */
  Payload follow(EarlyPart.ReadDeadline patience) {
    return new Payload(
        capacity, () -> new Bytes(0, capacity, patience), () -> md5(0, capacity), false);
  }

  private static MessageDigest md5() {
    try {
      return MessageDigest.getInstance("MD5");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has MD5", e);
    }
  }

  private byte[] md5(long from, long bytes) {
    synchronized (this) {
      if (isDigested && from == 0 && bytes == length) {
        try {
          return ((MessageDigest) digest.clone()).digest();
        } catch (CloneNotSupportedException e) {
          throw new IllegalStateException("the platform's MD5 can be cloned", e);
        }
      }
    }
    MessageDigest computed = md5();
    byte[] piece = new byte[BlobStore.BLOCK_BYTES];
    try (InputStream source = stream(from, bytes)) {
      for (int read = source.read(piece); read >= 0; read = source.read(piece)) {
        computed.update(piece, 0, read);
      }
    } catch (IOException e) {
      throw new StorageFaultException("cannot read the spool", e);
    }
    return computed.digest();
  }

  /** Wakes waiting streams after one of them was cancelled. */
  synchronized void wake() {
    notifyAll();
  }

  /** Waits for bytes after an offset, and returns how many there are. */
  private synchronized long awaitBehind(long at, EarlyPart.ReadDeadline patience)
      throws IOException {
    while (true) {
      long millis = patience.millisLeft();
      if (length > at && millis > 0) {
        return length - at;
      }
      if (millis <= 0) {
        throw new EarlyPart.PartCancelledException();
      }
      try {
        wait(millis);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("the attempt took too long");
      }
    }
  }

  private final class Bytes extends InputStream {
    private final long end;
    private final EarlyPart.ReadDeadline patience;
    private long at;

    private Bytes(long from, long end, EarlyPart.ReadDeadline patience) {
      this.at = from;
      this.end = end;
      this.patience = patience;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int most) throws IOException {
      if (at == end) {
        return -1;
      }
      long there = awaitBehind(at, patience);
      int count = (int) Math.min(most, Math.min(there, end - at));
      synchronized (reading) {
        reading.seek(at);
        reading.readFully(into, offset, count);
      }
      at += count;
      return count;
    }
  }

  void close() throws IOException {
    try (writing) {
      reading.close();
    }
  }
}
