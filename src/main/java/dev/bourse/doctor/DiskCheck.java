package dev.bourse.doctor;

import dev.bourse.core.PrivateFile;
import dev.bourse.core.Sizes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Checks the data folder's disk: its free space, and the latency of a durable write.
 *
 * @param data the data folder
 * @param leastBytes free space below which uploads are rejected
 */
public record DiskCheck(Path data, long leastBytes) implements Check.Look {
  /**
   * Warns at this multiple of {@code leastBytes}; a folder of a few hundred tenants grows by less
   * in a week.
   */
  private static final int SOON = 5;

  private static final int WRITES = 9;
  private static final int WRITE_BYTES = 4_096;

  /** Each group of commits waits for one durable write; a spinning disk takes 10 ms. */
  private static final long SLOW_MICROS = 50_000;

  private static final String MAKE_ROOM =
      "free space on the disk, or move the data folder to a larger one";

  @Override
  public void at(Notes notes) throws IOException {
    if (!Files.isDirectory(data)) {
      notes.warn(
          "there is no data folder " + data + " yet", "check --data; serve creates the folder");
      return;
    }
    lookAtRoom(notes);
    lookAtWrites(notes);
  }

  private void lookAtRoom(Notes notes) throws IOException {
    FileStore disk = Files.getFileStore(data);
    long free = disk.getUsableSpace();
    String seen =
        "%s of %s are free".formatted(Sizes.bytes(free), Sizes.bytes(disk.getTotalSpace()));
    if (free < leastBytes) {
      notes.fault(
          "%s, less than the %s kept free, so uploads are rejected"
              .formatted(seen, Sizes.bytes(leastBytes)),
          MAKE_ROOM);
    } else if (free < SOON * leastBytes) {
      notes.warn(
          "%s; uploads are rejected below %s".formatted(seen, Sizes.bytes(leastBytes)), MAKE_ROOM);
    } else {
      notes.see(seen);
    }
  }

  /** Writes like the log of the embedded store: a page, then a flush. */
  private void lookAtWrites(Notes notes) {
    Path file = data.resolve("doctor-" + ProcessHandle.current().pid() + ".tmp");
    long[] micros = new long[WRITES];
    try (FileChannel channel =
        PrivateFile.open(
            file,
            Set.of(
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.WRITE,
                StandardOpenOption.DELETE_ON_CLOSE))) {
      for (int i = 0; i < WRITES; i++) {
        long begin = System.nanoTime();
        channel.write(ByteBuffer.allocate(WRITE_BYTES));
        channel.force(false);
        micros[i] = TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - begin);
      }
    } catch (IOException e) {
      notes.fault(
          "it is not writable: " + e,
          "let the service's user write in " + data + ", and run this command as that user");
      return;
    }
    Arrays.sort(micros);
    long usual = micros[WRITES / 2];
    String seen =
        String.format(
            Locale.ROOT,
            "a durable write takes %.1f ms, the slowest of %d took %.1f",
            usual / 1e3,
            WRITES,
            micros[WRITES - 1] / 1e3);
    if (usual > SLOW_MICROS) {
      notes.warn(
          seen,
          "move the data folder to a faster disk: with the embedded store each change waits for one"
              + " write");
    } else {
      notes.see(seen);
    }
  }
}
