package dev.bourse.faults;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A small file system of the run's own. */
final class Mount {
  private static final int MIB = 1 << 20;
  private static final int EXT4_MIB = 96;

  private final Path folder;
  private final List<String> options;

  /** The file of a disk, or what a file system in memory is called. */
  private Path source;

  private int mounts;

  private Mount(Path folder, List<String> options, Path source) throws IOException {
    this.folder = Files.createDirectories(folder);
    this.options = options;
    this.source = source;
    Processes.atEnd(
        () -> {
          try {
            unmount();
          } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(folder + " stays mounted", e);
          }
        });
  }

  /** Why nothing can be mounted on this machine; empty when it can. */
  static String impossible(Path folder) throws IOException, InterruptedException {
    if (!"root".equals(System.getProperty("user.name"))) {
      return "only root can mount a file system";
    }
    Mount trial = inMemory(folder.resolve("trial"), 1);
    boolean isMounted = trial.mount();
    trial.unmount();
    return isMounted ? "" : "this machine lets nobody mount a file system";
  }

  static Mount inMemory(Path folder, int mib) throws IOException {
    return new Mount(folder, List.of("-t", "tmpfs", "-o", "size=" + mib + "m"), Path.of("tmpfs"));
  }

  /** On a file that a loop device shows as a disk. */
  static Mount ofDisk(Path folder) throws IOException, InterruptedException {
    Path image = folder.resolveSibling(folder.getFileName() + ".img");
    try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
      file.setLength((long) EXT4_MIB * MIB);
    }
    if (Processes.run("mkfs.ext4", "-q", "-F", image.toString()) != 0) {
      throw new ViolatedException("mkfs.ext4 made no file system in " + image);
    }
    return new Mount(folder, List.of("-t", "ext4", "-o", "loop,errors=remount-ro"), image);
  }

  Path folder() {
    return folder;
  }

  boolean mount() throws IOException, InterruptedException {
    if (mounts++ > 0 && Files.exists(source)) {
      // A container that started meanwhile has the file system mounted in its own namespace. There
      // it stays aborted, and another mount of the same file would be the same file system.
      Path copy = folder.resolveSibling(folder.getFileName() + "-" + mounts + ".img");
      source = Files.copy(source, copy);
    }
    List<String> command = new ArrayList<>(List.of("mount"));
    command.addAll(options);
    command.add(source.toString());
    command.add(folder.toString());
    return Processes.run(command.toArray(String[]::new)) == 0;
  }

  /** Makes it read-only under whoever writes, as the kernel does when a disk fails. */
  void abort() throws IOException, InterruptedException {
    if (Processes.run("mount", "-o", "remount,abort", folder.toString()) != 0) {
      throw new ViolatedException(folder + " does not become read-only");
    }
  }

  void unmount() throws IOException, InterruptedException {
    if (Processes.run("mountpoint", "-q", folder.toString()) == 0
        && Processes.run("umount", folder.toString()) != 0) {
      throw new IOException(folder + " cannot be unmounted");
    }
  }
}
