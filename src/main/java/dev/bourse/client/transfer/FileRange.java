package dev.bourse.client.transfer;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A range of a file that is sent as a body, and optionally digested as it is read. */
final class FileRange {
  private final Path file;
  private final long start;
  private final @Nullable PrefixDigest before;
  private final long end;
  private final Transfer progress;
  private volatile @Nullable PrefixDigest sent;

  private FileRange(
      Path file, long start, @Nullable PrefixDigest before, long end, Transfer progress) {
    this.file = file;
    this.start = start;
    this.before = before;
    this.end = end;
    this.progress = progress;
    this.sent = before;
  }

  /**
   * A range that starts at the end of a digest and extends it.
   *
   * @param before the digest of the bytes before the range; not modified
   * @param end where the range ends
   */
  static FileRange digested(Path file, PrefixDigest before, long end, Transfer progress) {
    return new FileRange(file, before.length(), before, end, progress);
  }

  /** A range of a file with a known digest. */
  static FileRange plain(Path file, long start, long end, Transfer progress) {
    return new FileRange(file, start, null, end, progress);
  }

  /** The range as a body of known length; it can be sent repeatedly. */
  BodyPublisher body() {
    return end == start
        ? BodyPublishers.noBody()
        : BodyPublishers.fromPublisher(BodyPublishers.ofInputStream(this::open), end - start);
  }

  /** The digest up to the point that the last body was read to. */
  PrefixDigest sent() {
    PrefixDigest known = sent;
    if (known == null) {
      throw new IllegalStateException("the range is not digested");
    }
    return known;
  }

  private InputStream open() {
    try {
      InputStream in = Files.newInputStream(file);
      in.skipNBytes(start);
      PrefixDigest digested = before == null ? null : before.copy();
      sent = digested;
      return new Stretch(in, digested);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private final class Stretch extends InputStream {
    private final InputStream in;
    private final @Nullable PrefixDigest digested;
    private long at = start;

    Stretch(InputStream in, @Nullable PrefixDigest digested) {
      this.in = in;
      this.digested = digested;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int count) throws IOException {
      if (at == end) {
        return -1;
      }
      int read = in.read(into, offset, (int) Math.min(count, end - at));
      if (read < 0) {
        throw new IOException(file + " became shorter");
      }
      if (digested != null) {
        digested.add(into, offset, read);
      }
      at += read;
      progress.at(at);
      return read;
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }
}
