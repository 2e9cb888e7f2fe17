package dev.bourse.edge.limits;

import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What all connections of the process may hold together, whatever their number of event loops.
 *
 * @param connections open ones; for one more, the one that has waited longest for its client goes
 * @param connectionsPerAddress open ones of one client address; more are closed. Not for proxies
 *     whose {@code X-Forwarded-For} is believed, behind which everybody is
 * @param unreadBytes what heads that are not complete, requests behind one that is not answered,
 *     and JSON bodies take in memory; see {@link OpenConnection#weight}
 * @param unreadBytesPerAddress the same of one client address
 * @param blockBytes what bodies that are bytes take in memory
 * @param eventBytes what events that wait for slow clients take in memory, before more than an even
 *     share is too much for one stream
 */
public record ProcessLimits(
    int connections,
    int connectionsPerAddress,
    long unreadBytes,
    long unreadBytesPerAddress,
    long blockBytes,
    long eventBytes) {

  /**
   * What an open connection takes of the heap: its pipeline, its decoder and Vert.x's part of it
   * were measured at 8 KB, and at 11 KB once it has been asked something.
   */
  private static final int CONNECTION_BYTES = 12_288;

  /**
   * What TLS adds to it: its state was measured at 7 KB of the heap, and a record that is not whole
   * waits in up to 32 KiB of direct memory, which is counted here because nobody else counts it.
   */
  private static final int TLS_BYTES = 36_864;

  /** Past this many, a process has other bounds than memory. */
  private static final int MAX_CONNECTIONS = 100_000;

  /** One address has one such part of what all have. */
  public static final int SHARES = 4;

  /** Files beside connections: the store's, published files being read and sent, the jar. */
  public static final int OTHER_FILES = 1_024;

  public ProcessLimits {
    if (connections < 1
        || connectionsPerAddress < 1
        || unreadBytes < 1
        || unreadBytesPerAddress < 1
        || blockBytes < 1
        || eventBytes < 1) {
      throw new IllegalArgumentException("a bound of the room for connections is below 1");
    }
  }

  /** What this process can carry, with its heap, its direct memory and its limit of open files. */
  public static ProcessLimits ofProcess() {
    return ofProcess(false);
  }

  /** The same where connections speak TLS, or not. */
  public static ProcessLimits ofProcess(boolean isSecure) {
    return of(
        Runtime.getRuntime().maxMemory(),
        PlatformDependent.maxDirectMemory(),
        maxFiles(),
        CONNECTION_BYTES + (isSecure ? TLS_BYTES : 0));
  }

  /**
   * A quarter of the heap for connections, a quarter for bytes on their way to the disk, a
   * sixteenth for events, and an eighth, or a quarter of the direct memory where that is less, for
   * what is not read to its end: an incomplete line waits in direct memory, a complete one in the
   * heap. The rest is the state's and its garbage's. One address has a quarter of the first and the
   * last; the others cost a token.
   */
  public static ProcessLimits of(long heapBytes, long directBytes, long files) {
    return of(heapBytes, directBytes, files, CONNECTION_BYTES);
  }

  private static ProcessLimits of(
      long heapBytes, long directBytes, long files, int connectionBytes) {
    long byHeap = heapBytes / 4 / connectionBytes;
    // A half of the files where those are few.
    long byFiles = Math.max(files / 2, files - OTHER_FILES);
    int connections = (int) Math.max(64, Math.min(MAX_CONNECTIONS, Math.min(byHeap, byFiles)));
    long unread = Math.max(1 << 20, Math.min(heapBytes / 8, directBytes / 4));
    return new ProcessLimits(
        connections,
        connections / SHARES,
        unread,
        unread / SHARES,
        Math.max(4 << 20, heapBytes / 4),
        Math.max(1 << 20, heapBytes / 16));
  }

  /** The same for so many connections, and so many of one address. */
  public ProcessLimits withConnections(int all, int ofAddress) {
    return new ProcessLimits(
        all, ofAddress, unreadBytes, unreadBytesPerAddress, blockBytes, eventBytes);
  }

  /** The same for so many bytes of events. */
  public ProcessLimits withEventBytes(long bytes) {
    return new ProcessLimits(
        connections, connectionsPerAddress, unreadBytes, unreadBytesPerAddress, blockBytes, bytes);
  }

  /** How many files the process may have open, as Linux tells; elsewhere as many as one likes. */
  public static long maxFiles() {
    try {
      for (String line : Files.readAllLines(Path.of("/proc/self/limits"))) {
        if (line.startsWith("Max open files")) {
          String soft = line.substring("Max open files".length()).trim().split(" +", 2)[0];
          return soft.equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(soft);
        }
      }
    } catch (IOException | NumberFormatException untold) {
      // There is no such file outside Linux.
    }
    return Long.MAX_VALUE;
  }
}
