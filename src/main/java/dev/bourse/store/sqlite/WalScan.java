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
 * Reads SQLite's write-ahead log as SQLite does when it recovers it, and further: past the first
 * frame that is not sound, where SQLite stops without a word and forgets all that was committed
 * after it.
 *
 * <p>The form is that of "Database File Format", section 4, "The Write-Ahead Log": a header of 32
 * bytes, which names the page's size, two salts and a checksum of itself, and frames of 24 bytes
 * and a page each. A frame tells its page's number; the file's size in pages if a transaction is
 * committed with it, else 0; the header's salts; and a checksum that runs on from the one of the
 * frame before. Each time the log begins anew it gets other salts, so what an earlier round left in
 * the file is told apart.
 *
 * <p>What follows an unsound frame tells damage from the end of a process or of power. With {@code
 * synchronous=FULL} a transaction's frames are written only after those of the one before are
 * flushed. So a crash leaves one transaction in pieces, the last one; and a later one rolled back
 * or cut short may have left frames behind it that end with a commit, or with none. But a commit,
 * and <em>then</em> a frame whose checksum runs on from it, was written after the commit was
 * flushed: that the frames before it are no longer sound is no crash's doing. When it is the last
 * or the only transaction that is hurt, nobody can tell; that is {@link #isTailTorn}.
 *
 * @param frames all of these salts that SQLite recovers, up to the last commit
 * @param commits how many transactions those are
 * @param badFrame the first that is not sound, from 1; 0 when the header itself is not
 * @param framesLost frames of these salts behind the last commit, the unsound one included
 * @param commitsLost how many of them end a transaction
 * @param isDamaged whether something was committed behind the unsound one, so that SQLite would
 *     lose it
 * @param goodBytes how much of the file SQLite recovers
 * @param name this damage's and no other's
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

  /** Whether a transaction is there that is not whole, as the end of power leaves one. */
  boolean isTailTorn() {
    return !isDamaged && commitsLost > 0;
  }

  /** Reads a log; null when it has no frame. Memory is constant. */
  static @Nullable WalScan read(Path wal) throws IOException {
    try (FileChannel channel = FileChannel.open(wal, StandardOpenOption.READ)) {
      byte[] header = new byte[HEADER_BYTES];
      if (channel.size() <= HEADER_BYTES || !fill(channel, header, 0)) {
        return null;
      }
      return new Reading(channel, header).scan();
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
  private static final class Reading {
    private final FileChannel channel;
    private final byte[] header;
    private final byte[] frame;

    /** In which order the checksum takes the bytes of a number: that of the writer's machine. */
    private final VarHandle order;

    private final boolean isHeaderSound;

    // The checksum that runs on, and where it stands after the sound frames.
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

    Reading(FileChannel channel, byte[] header) {
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
     * Whether the frame's checksum runs on from where the sums stand; they go on from what it says.
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
     * A frame that SQLite does not reach.
     *
     * @param isBehindCommit whether the one before was of this round and ended a transaction
     * @return the same of this one
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
