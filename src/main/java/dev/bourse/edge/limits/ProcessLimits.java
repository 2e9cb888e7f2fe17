package dev.bourse.edge.limits;

import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The limits of all connections of the process together, over all event loops.
 *
 * @param connections open connections; beyond that, the one whose client has been awaited longest
 *     is closed
 * @param connectionsPerAddress open connections of one client address; further ones are closed.
 *     Trusted proxies have no limit, because all clients are behind them.
 * @param unreadBytes memory for incomplete heads, requests behind an unanswered one, and JSON
 *     bodies; see {@link OpenConnection#weight}
 * @param unreadBytesPerAddress the same for one client address
 * @param blockBytes memory for bodies of bytes
 * @param eventBytes memory for events that wait for slow clients, beyond which each stream is
 *     limited to an even share
 */
public record ProcessLimits(
    int connections,
    int connectionsPerAddress,
    long unreadBytes,
    long unreadBytesPerAddress,
    long blockBytes,
    long eventBytes) {

  /**
   * The heap of an open connection: its pipeline, decoder and Vert.x's part of it were measured at
   * 8 KB, and at 11 KB after its first request.
   */
  private static final int CONNECTION_BYTES = 12_288;

  /**
   * The additional memory of TLS: its state was measured at 7 KB of heap, and an incomplete record
   * waits in up to 32 KiB of direct memory, which is not counted elsewhere.
   */
  private static final int TLS_BYTES = 36_864;

  /** Beyond this number, a process has other limits than memory. */
  private static final int MAX_CONNECTIONS = 100_000;

  /** One address may use this fraction of the total. */
  public static final int SHARES = 4;

  /** Other open files: the store's, published files being read and sent, the jar. */
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

  /** Returns the limits for this process's heap, direct memory and open files. */
  public static ProcessLimits ofProcess() {
    return ofProcess(false);
  }

  /** Returns the same for connections with or without TLS. */
  public static ProcessLimits ofProcess(boolean isSecure) {
    return of(
        Runtime.getRuntime().maxMemory(),
        PlatformDependent.maxDirectMemory(),
        maxFiles(),
        CONNECTION_BYTES + (isSecure ? TLS_BYTES : 0));
  }

  /**
   * Divides the memory: a quarter of the heap for connections, a quarter for bytes on their way to
   * the disk, a sixteenth for events, and an eighth, or a quarter of the direct memory if that is
   * less, for unread bytes: an incomplete line waits in direct memory, a complete one in the heap.
   * The rest is for the state and for garbage. One address may use a quarter of the first and the
   * last; the others require a token.
   */
  public static ProcessLimits of(long heapBytes, long directBytes, long files) {
    return of(heapBytes, directBytes, files, CONNECTION_BYTES);
  }

  private static ProcessLimits of(
      long heapBytes, long directBytes, long files, int connectionBytes) {
    long byHeap = heapBytes / 4 / connectionBytes;
    // If the process may open few files, connections get half of them.
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

  /** Returns the same with other limits of connections. */
  public ProcessLimits withConnections(int all, int ofAddress) {
    return new ProcessLimits(
        all, ofAddress, unreadBytes, unreadBytesPerAddress, blockBytes, eventBytes);
  }

  /** Returns the same with another limit of events. */
  public ProcessLimits withEventBytes(long bytes) {
    return new ProcessLimits(
        connections, connectionsPerAddress, unreadBytes, unreadBytesPerAddress, blockBytes, bytes);
  }

  /** Returns the limit of open files on Linux; elsewhere a large number. */
  public static long maxFiles() {
    try {
      for (String line : Files.readAllLines(Path.of("/proc/self/limits"))) {
        if (line.startsWith("Max open files")) {
          String soft = line.substring("Max open files".length()).trim().split(" +", 2)[0];
          return soft.equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(soft);
        }
      }
    } catch (IOException | NumberFormatException ignored) {
      // This file exists only on Linux.
    }
    return Long.MAX_VALUE;
  }
}
