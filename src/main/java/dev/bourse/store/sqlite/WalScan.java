package dev.bourse.store.sqlite;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * Reads SQLite's write-ahead log as SQLite does in recovery, and further: past the first unsound
 * frame, where SQLite stops silently and drops all later commits.
 *
 * <p>The format is that of "Database File Format", section 4, "The Write-Ahead Log": a header of 32
 * bytes, which contains the page size, two salts and its own checksum, and frames of 24 bytes and a
 * page each. A frame contains its page's number; the file's size in pages if it commits a
 * transaction, else 0; the header's salts; and a checksum that continues the previous frame's. The
 * log gets other salts each time it restarts, so frames of an earlier round are recognizable.
 *
 * <p>The frames after an unsound one distinguish damage from a crash or power failure. With {@code
 * synchronous=FULL}, a transaction's frames are written only after those of the previous one are
 * flushed. So a crash leaves at most one incomplete transaction, the last one. A later transaction
 * that was rolled back or cut off may have left frames after it, with or without a commit. But a
 * commit <em>followed by</em> a frame whose checksum continues from it was flushed: if frames
 * before it are unsound, no crash can have caused that. If only the last or the only transaction is
 * damaged, the cause cannot be determined; that is {@link #isTailTorn}.
 *
 * @param frames frames of these salts that SQLite recovers, up to the last commit
 * @param commits the number of their transactions
 * @param badFrame the first unsound frame, from 1; 0 if the header itself is unsound
 * @param framesLost frames of these salts after the last commit, including the unsound one
 * @param commitsLost the number of transactions that end in them
 * @param isDamaged whether a transaction was committed after the unsound frame, so that SQLite
 *     would lose it
 * @param goodBytes how many bytes of the file SQLite recovers
 * @param name a unique name of this damage
 */
record WalScan(
    long frames,
    long commits,
    long badFrame,
    long framesLost,
    long commitsLost,
    boolean isDamaged,
    long goodBytes,
    String name) {
  private static final int HEADER_BYTES = 32;
  private static final int FRAME_HEADER_BYTES = 24;
  private static final int MAGIC = 0x377f0682;
  private static final int VERSION = 3_007_000;
  private static final int LEAST_PAGE = 512;
  private static final int MOST_PAGE = 65_536;

  private static final VarHandle LITTLE =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle BIG =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

  /** Returns whether the last transaction is incomplete, as after a power failure. */
  boolean isTailTorn() {
    return !isDamaged && commitsLost > 0;
  }

  /** Reads a log in constant memory; returns null if it has no frame. */
  static @Nullable WalScan read(Path wal) throws IOException {
    try (FileChannel channel = FileChannel.open(wal, StandardOpenOption.READ)) {
      byte[] header = new byte[HEADER_BYTES];
      if (channel.size() <= HEADER_BYTES || !fill(channel, header, 0)) {
        return null;
      }
      return new FrameReader(channel, header).scan();
    }
  }

  private static boolean fill(FileChannel channel, byte[] bytes, long position) throws IOException {
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    while (buffer.hasRemaining()) {
      if (channel.read(buffer, position + buffer.position()) < 0) {
        return false;
      }
    }
    return true;
  }

  private static int field(byte[] bytes, int at) {
    return (int) BIG.get(bytes, at);
  }

  /** One pass over the frames. */
  private static final class FrameReader {
    private final FileChannel channel;
    private final byte[] header;
    private final byte[] frame;

    /** The byte order of the checksum's numbers, which is that of the writer's machine. */
    private final VarHandle order;

    private final boolean isHeaderSound;

    // The running checksum, and its value after the sound frames.
    private int sum0;
    private int sum1;

    private int salt0;
    private int salt1;

    private long frames;
    private long framesAtCommit;
    private long commits;
    private long badFrame;
    private long lost;
    private long lostAtLink;
    private long commitsLost;
    private long commitsBehind;
    private boolean isDamaged;

    FrameReader(FileChannel channel, byte[] header) {
      this.channel = channel;
      this.header = header;
      int magic = field(header, 0);
      int pageBytes = field(header, 8);
      order = magic == (MAGIC | 1) ? BIG : LITTLE;
      boolean isShaped =
          (magic | 1) == (MAGIC | 1)
              && field(header, 4) == VERSION
              && Integer.bitCount(pageBytes) == 1
              && pageBytes >= LEAST_PAGE
              && pageBytes <= MOST_PAGE;
      frame = new byte[FRAME_HEADER_BYTES + (isShaped ? pageBytes : SqliteConfig.PAGE_BYTES)];
      add(header, 0, 24);
      isHeaderSound = isShaped && sum0 == field(header, 24) && sum1 == field(header, 28);
    }

    private void add(byte[] bytes, int from, int to) {
      int s0 = sum0;
      int s1 = sum1;
      for (int i = from; i < to; i += 8) {
        s0 += (int) order.get(bytes, i) + s1;
        s1 += (int) order.get(bytes, i + 4) + s0;
      }
      sum0 = s0;
      sum1 = s1;
    }

    /**
     * Returns whether the frame's checksum continues the sums, and continues the sums from its
     * value.
     */
    private boolean runsOn() {
      add(frame, 0, 8);
      add(frame, FRAME_HEADER_BYTES, frame.length);
      boolean isSound = sum0 == field(frame, 16) && sum1 == field(frame, 20);
      sum0 = field(frame, 16);
      sum1 = field(frame, 20);
      return isSound && field(frame, 0) != 0;
    }

    private boolean isOfThisRound() {
      return field(frame, 8) == salt0 && field(frame, 12) == salt1;
    }

    private boolean isCommit() {
      return field(frame, 4) != 0;
    }

    WalScan scan() throws IOException {
      sum0 = field(header, 24);
      sum1 = field(header, 28);
      salt0 = field(header, 16);
      salt1 = field(header, 20);
      long position = HEADER_BYTES;
      long number = 1;
      boolean isBehindCommit = false;
      for (; fill(channel, frame, position); position += frame.length, number++) {
        if (number == 1 && !isHeaderSound) {
          salt0 = field(frame, 8);
          salt1 = field(frame, 12);
        }
        boolean isOfThisRound = isOfThisRound();
        boolean isSound = runsOn() && isOfThisRound;
        if (isSound && isHeaderSound && badFrame == 0) {
          sound();
        } else {
          if (badFrame == 0) {
            badFrame = isHeaderSound ? number : -1;
          }
          isBehindCommit = unsound(isSound, isOfThisRound, isBehindCommit);
        }
      }
      return found();
    }

    private void sound() {
      frames++;
      if (isCommit()) {
        commits++;
        framesAtCommit = frames;
      }
    }

    /**
     * Counts a frame that SQLite does not reach.
     *
     * @param isBehindCommit whether the previous frame was of this round and ended a transaction
     * @return the same for this frame
     */
    private boolean unsound(boolean isSound, boolean isOfThisRound, boolean isBehindCommit) {
      if (!isOfThisRound) {
        return false;
      }
      lost++;
      commitsBehind += isCommit() ? 1 : 0;
      if (isSound) {
        lostAtLink = lost;
        commitsLost = commitsBehind;
        // The header is flushed before the first frame is written.
        isDamaged |= isBehindCommit || (!isHeaderSound && isCommit());
      }
      return isCommit();
    }

    private WalScan found() {
      long torn = badFrame == 0 ? 0 : frames - framesAtCommit;
      long behind = lostAtLink == 0 ? 0 : lostAtLink + torn;
      String name = "%08x%08x-%d".formatted(salt0, salt1, Math.max(0, badFrame));
      return new WalScan(
          framesAtCommit,
          commits,
          Math.max(0, badFrame),
          behind,
          commitsLost,
          isDamaged,
          framesAtCommit == 0 ? 0 : HEADER_BYTES + framesAtCommit * frame.length,
          name);
    }
  }
}
