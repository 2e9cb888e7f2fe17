package dev.bourse.client.transfer;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;

/** A range of a file that is sent as a body, and digested as it is read. */
final class FileRange {
  private final Path file;
  private final PrefixDigest start;
  private final long end;
  private final Progress progress;
  private volatile PrefixDigest sent;

  /**
   * @param start the digest of what goes before the stretch; it stays as it is
   * @param end where the stretch ends
   */
  FileRange(Path file, PrefixDigest start, long end, Progress progress) {
    this.file = file;
    this.start = start;
    this.end = end;
    this.progress = progress;
    this.sent = start;
  }

  /** The stretch as a body of known length; it can be sent more than once. */
  BodyPublisher body() {
    return BodyPublishers.fromPublisher(
        BodyPublishers.ofInputStream(this::open), end - start.length());
  }

  /** The digest up to where the last body has been read. */
  PrefixDigest sent() {
    return sent;
  }

  private InputStream open() {
    try {
      InputStream in = Files.newInputStream(file);
      in.skipNBytes(start.length());
      PrefixDigest digested = start.copy();
      sent = digested;
      return new Stretch(in, digested);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private final class Stretch extends InputStream {
    private final InputStream in;
    private final PrefixDigest digested;

    Stretch(InputStream in, PrefixDigest digested) {
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
      long left = end - digested.length();
      if (left == 0) {
        return -1;
      }
      int read = in.read(into, offset, (int) Math.min(count, left));
      if (read < 0) {
        throw new IOException(file + " became shorter");
      }
      digested.add(into, offset, read);
      progress.at(digested.length());
      return read;
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }
}
