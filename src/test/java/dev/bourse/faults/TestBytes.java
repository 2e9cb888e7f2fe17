package dev.bourse.faults;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Random;

/**
 * A file's bytes, known by a seed: one block over and over, each numbered, so that none is lost,
 * doubled or out of place without another digest.
 */
final class TestBytes {
  static final int MIB = 1 << 20;

  private final byte[] block = new byte[MIB];
  private final long length;

  TestBytes(long length, long seed) {
    this.length = length;
    new Random(seed).nextBytes(block);
  }

  long length() {
    return length;
  }

  String sha256() throws IOException {
    return sha256(stream(0, length));
  }

  static String sha256(InputStream bytes) throws IOException {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      byte[] buffer = new byte[1 << 16];
      for (int read = bytes.read(buffer); read >= 0; read = bytes.read(buffer)) {
        digest.update(buffer, 0, read);
      }
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Writes them to a file. */
  Path write(Path file) throws IOException {
    try (OutputStream out = Files.newOutputStream(file)) {
      stream(0, length).transferTo(out);
    }
    return file;
  }

  /** From one offset to another. */
  Piece stream(long from, long end) {
    return new Piece(from, end);
  }

  /** Some of them, read in order. */
  final class Piece extends InputStream {
    private final long end;
    private volatile long at;

    private Piece(long from, long end) {
      this.at = from;
      this.end = end;
    }

    /** Where the next byte is. */
    long at() {
      return at;
    }

    @Override
    public int read() {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int most) {
      long from = at;
      if (from >= end) {
        return -1;
      }
      int place = (int) (from % MIB);
      int count = (int) Math.min(Math.min(most, end - from), MIB - place);
      System.arraycopy(block, place, into, offset, count);
      for (int i = 0; place + i < Long.BYTES && i < count; i++) {
        into[offset + i] = (byte) ((from / MIB) >>> (8 * (place + i)));
      }
      at = from + count;
      return count;
    }
  }
}
