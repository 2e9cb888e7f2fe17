package dev.bourse.client.transfer;

import dev.bourse.core.Digests;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.IoWords;
import dev.bourse.remote.RefusedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.HexFormat;

/** The digest of a file's first bytes, which can be extended. */
final class PrefixDigest {
  private static final int PIECE = 1 << 20;

  /** The bytes between two reports of progress: several reports a second. */
  private static final long SHOWN = 64L << 20;

  private final MessageDigest digest;
  private long length;

  /** The digest of no bytes. */
  PrefixDigest() {
    this(Digests.newSha256(), 0);
  }

  private PrefixDigest(MessageDigest digest, long length) {
    this.digest = digest;
    this.length = length;
  }

  long length() {
    return length;
  }

  void add(byte[] bytes, int offset, int count) {
    digest.update(bytes, offset, count);
    length += count;
  }

  /** An independent copy. */
  PrefixDigest copy() {
    try {
      return new PrefixDigest((MessageDigest) digest.clone(), length);
    } catch (CloneNotSupportedException e) {
      throw new IllegalStateException("the platform's SHA-256 cannot be copied", e);
    }
  }

  /** SHA-256 of the bytes so far, as 64 hexadecimal digits. */
  String sha256() {
    return HexFormat.of().formatHex(copy().digest.digest());
  }

  /**
   * Extends the digest to an offset of the file, or to the file's end if that comes first.
   *
   * @return this
   */
  PrefixDigest read(Path file, long end) throws RefusedException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      return read(file, channel, end);
    } catch (IOException e) {
      throw new RefusedException(ExitCode.USAGE, "cannot read " + file + ": " + IoWords.of(e));
    }
  }

  /** Like {@link #read(Path, long)}, with reports of progress. */
  PrefixDigest read(Path file, long end, Transfer progress) throws RefusedException {
    while (length < end) {
      long before = length;
      read(file, Math.min(end, length + SHOWN));
      if (length == before) {
        break;
      }
      progress.at(length);
      progress.draw();
    }
    return this;
  }

  /**
   * Like {@link #read(Path, long)}, for an open file: opening and closing it again would release
   * its lock.
   */
  PrefixDigest read(Path file, FileChannel channel, long end) throws RefusedException {
    ByteBuffer piece = ByteBuffer.allocate(PIECE);
    try {
      while (length < end) {
        piece.clear().limit((int) Math.min(PIECE, end - length));
        int count = channel.read(piece, length);
        if (count < 0) {
          break;
        }
        add(piece.array(), 0, count);
      }
      return this;
    } catch (IOException e) {
      throw new RefusedException(ExitCode.USAGE, "cannot read " + file + ": " + IoWords.of(e));
    }
  }
}
