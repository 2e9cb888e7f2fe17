package dev.bourse.secrets;

import dev.bourse.secrets.SecretScan.Finding;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorInputStream;
import org.jspecify.annotations.Nullable;
import org.tukaani.xz.XZInputStream;

/**
 * Unpacks a bzip2 or xz file. The libraries read from a stream and cannot wait for the next piece
 * of a file, so they are called only while the window holds all bytes that one call may need, or
 * the file has ended.
 *
 * <p>When too many such files are being unpacked at once, a further one is not unpacked; its own
 * bytes are scanned as usual.
 */
final class SlowLayer implements SecretLayer {
  /** The size of a bzip2 block, with some room for growth. */
  private static final int BZIP2_BLOCK = (1 << 20) + (1 << 16);

  /** Two chunks of LZMA2 with their headers. */
  private static final int XZ_CHUNKS = 1 << 17;

  /** KiB of memory for the default dictionary of {@code xz} and its tables. */
  private static final int XZ_MEMORY = 9 << 10;

  private static final int PIECE = 32 * 1024;

  /** Opens a library's stream. */
  private interface Opening {
    InputStream open(InputStream packed) throws IOException;
  }

  private final SecretScan scan;
  private final Unpacking unpacking;
  private final Opening opening;
  private final int lookahead;
  private final AtomicBoolean hasPlace = new AtomicBoolean(true);

  /** Null when no more is unpacked. */
  private @Nullable Window window;

  private byte @Nullable [] unpacked = new byte[PIECE];
  private @Nullable InputStream stream;

  private SlowLayer(String name, int depth, Unpacking unpacking, Opening opening, int lookahead) {
    this.scan = SecretScan.ofLayer(SecretFileNames.unpacked(name), depth + 1, unpacking);
    this.unpacking = unpacking;
    this.opening = opening;
    this.lookahead = lookahead;
    this.window = new Window(lookahead + PIECE);
  }

  static @Nullable SecretLayer ofBzip2(String name, int depth, Unpacking unpacking) {
    return placed(
        name,
        depth,
        unpacking,
        packed -> new BZip2CompressorInputStream(packed, true),
        BZIP2_BLOCK);
  }

  static @Nullable SecretLayer ofXz(String name, int depth, Unpacking unpacking) {
    return placed(
        name, depth, unpacking, packed -> new XZInputStream(packed, XZ_MEMORY), XZ_CHUNKS);
  }

  private static @Nullable SecretLayer placed(
      String name, int depth, Unpacking unpacking, Opening opening, int lookahead) {
    if (!Unpacking.slowPlaces().tryAcquire()) {
      return null;
    }
    SlowLayer layer = new SlowLayer(name, depth, unpacking, opening, lookahead);
    // An abandoned upload is never ended; its place becomes free when its memory is freed.
    Unpacking.CLEANER.register(layer, new Place(layer.hasPlace));
    return layer;
  }

  /** A place among the concurrent unpackers, released once. */
  private record Place(AtomicBoolean isTaken) implements Runnable {
    @Override
    public void run() {
      if (isTaken.getAndSet(false)) {
        Unpacking.slowPlaces().release();
      }
    }
  }

  /** The bytes that arrived and were not read yet. */
  private static final class Window extends InputStream {
    private final byte[] bytes;
    private int start;
    private int end;

    Window(int capacity) {
      bytes = new byte[capacity];
    }

    /** Stores as many bytes as fit, and returns their number. */
    int take(byte[] from, int start, int end) {
      System.arraycopy(bytes, this.start, bytes, 0, available());
      this.end = available();
      this.start = 0;
      int length = Math.min(end - start, bytes.length - this.end);
      System.arraycopy(from, start, bytes, this.end, length);
      this.end += length;
      return length;
    }

    @Override
    public int available() {
      return end - start;
    }

    @Override
    public int read() {
      return start < end ? bytes[start++] & 0xff : -1;
    }

    @Override
    public int read(byte[] to, int offset, int length) {
      if (length == 0) {
        return 0;
      }
      int taken = Math.min(length, available());
      System.arraycopy(bytes, start, to, offset, taken);
      start += taken;
      return taken == 0 ? -1 : taken;
    }
  }

  @Override
  public Optional<Finding> inspect(byte[] bytes, int from, int to) {
    Optional<Finding> found = Optional.empty();
    int i = from;
    while (i < to && window != null && found.isEmpty()) {
      i += window.take(bytes, i, to);
      found = unpack(lookahead);
    }
    return found;
  }

  /** Unpacks while at least {@code least} bytes are in the window. */
  private Optional<Finding> unpack(int least) {
    try {
      while (window != null && unpacked != null && window.available() >= least) {
        if (!unpacking.isAllowed()) {
          leave();
          return Optional.empty();
        }
        if (stream == null) {
          stream = opening.open(window);
        }
        int length = stream.read(unpacked, 0, PIECE);
        if (length < 0) {
          leave();
          return Optional.empty();
        }
        unpacking.addUnpacked(length, Unpacking.SLOW);
        Optional<Finding> found = scan.inspect(unpacked, 0, length);
        if (found.isPresent()) {
          return found;
        }
      }
    } catch (IOException | RuntimeException damaged) {
      // Any exception of the libraries means that the file is not a compressed one.
      leave();
    }
    return Optional.empty();
  }

  private void leave() {
    window = null;
    unpacked = null;
    stream = null;
    new Place(hasPlace).run();
  }

  @Override
  public Optional<Finding> end() {
    Optional<Finding> found = unpack(0);
    leave();
    return found.isPresent() ? found : scan.end();
  }
}
