package dev.bourse.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import java.util.stream.Stream;

/** The clock of one process, which is set while that runs, by libfaketime. */
final class LibfaketimeClock {
  private final Path offset;

  /** Gives a process such a clock from its next start on; it is right at first. */
  LibfaketimeClock(Path folder, ServiceProcess process) throws IOException {
    offset = folder.resolve("offset-" + process.name());
    set(0);
    process.environment("LD_PRELOAD", library().orElseThrow().toString());
    process.environment("FAKETIME_TIMESTAMP_FILE", offset.toString());
    process.environment("FAKETIME_CACHE_DURATION", "1");
    process.environment("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    // Where the library finds out by itself what waits on the monotonic clock need, a JVM hangs.
    process.environment("FAKETIME_FORCE_MONOTONIC_FIX", "0");
  }

  /** Why no clock can be set; empty when one can. */
  static String missing() throws IOException {
    return library().isPresent() ? "" : "there is no libfaketime; install Debian's faketime";
  }

  private static Optional<Path> library() throws IOException {
    try (Stream<Path> folders = Files.list(Path.of("/usr/lib"))) {
      return folders
          .map(folder -> folder.resolve("faketime/libfaketimeMT.so.1"))
          .filter(Files::exists)
          .findFirst();
    }
  }

  /** Sets it to so many seconds from now, from the library's next look on: within a second. */
  void set(long seconds) throws IOException {
    Path next = offset.resolveSibling(offset.getFileName() + ".next");
    Files.writeString(next, String.format("%+d", seconds));
    Files.move(next, offset, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }
}
