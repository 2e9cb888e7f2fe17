package dev.bourse.client.transfer;

import dev.bourse.core.Digests;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.IoWords;
import dev.bourse.remote.Refused;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.HexFormat;

/** The digest of a file's first bytes, to which further bytes can be added. */
final class PrefixDigest {
  private static final int PIECE = 1 << 20;

  /** How often whoever reads long files is told: several times a second. */
  private static final long SHOWN = 64L << 20;

  private final MessageDigest digest;
  private long length;

  /** Of nothing yet. */
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

  /** A copy, to which other bytes can be added than to this one. */
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
   * Goes on with a file's bytes up to an offset, or to its end where that comes first.
   *
   * @return this
   */
  PrefixDigest read(Path file, long end) throws Refused {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      return read(file, channel, end);
    } catch (IOException e) {
      throw new Refused(ExitCode.USAGE, "cannot read " + file + ": " + IoWords.of(e));
    }
  }

  /** The same, told how far it is. */
  PrefixDigest read(Path file, long end, Transfer progress) throws Refused {
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

  /** The same for an open file: opening it again and closing that would release its lock. */
  PrefixDigest read(Path file, FileChannel channel, long end) throws Refused {
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
      throw new Refused(ExitCode.USAGE, "cannot read " + file + ": " + IoWords.of(e));
    }
  }
}
