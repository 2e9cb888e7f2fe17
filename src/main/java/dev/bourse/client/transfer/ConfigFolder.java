package dev.bourse.client.transfer;

import dev.bourse.remote.ExitCode;
import dev.bourse.remote.IoWords;
import dev.bourse.remote.RefusedException;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The user's folder, {@code $XDG_CONFIG_HOME/bourse} or {@code ~/.config/bourse}, readable by its
 * owner alone. Its files are replaced atomically, so a crash leaves the old one or the new one.
 */
public final class ConfigFolder {
  /** Longer than the holder of a lock may wait for an answer. */
  private static final Duration LOCK_TIMEOUT = Duration.ofSeconds(90);

  private static final Duration LOCK_POLL = Duration.ofMillis(50);

  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private static final FileAttribute<?> OWNER_ONLY_FOLDER =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private final Path folder;
  private final CommandEnvironment environment;

  /** Work done while a lock is held. */
  @FunctionalInterface
  public interface Work<T> {
    T run() throws RefusedException;
  }

  public ConfigFolder(CommandEnvironment environment) {
    this.folder = folder(environment);
    this.environment = environment;
  }

  private static Path folder(CommandEnvironment environment) {
    String xdg = environment.variables().getOrDefault("XDG_CONFIG_HOME", "");
    // The specification ignores relative paths.
    Path base = xdg.startsWith("/") ? Path.of(xdg) : environment.home().resolve(".config");
    return base.resolve("bourse");
  }

  public Path file(String name) {
    return folder.resolve(name);
  }

  /** The content of a file; empty if it does not exist. */
  public JsonObject read(String name) throws RefusedException {
    Path file = file(name);
    try {
      return Files.exists(file) ? new JsonObject(Files.readString(file)) : new JsonObject();
    } catch (DecodeException e) {
      throw new RefusedException(ExitCode.USAGE, file + " is damaged: delete it and sign in again");
    } catch (IOException e) {
      throw new RefusedException(ExitCode.USAGE, "cannot read " + file + ": " + IoWords.of(e));
    }
  }

  /** Replaces a file durably. */
  public void write(String name, JsonObject content) throws RefusedException {
    write(name, content.encodePrettily() + "\n");
  }

  /** Replaces a file with a text, durably. */
  public void write(String name, String content) throws RefusedException {
    Path file = file(name);
    // Private to this process, because another may be writing the same file.
    Path next = file.resolveSibling(file.getFileName() + "." + ProcessHandle.current().pid());
    try {
      createFolder(file);
      Files.deleteIfExists(next);
      try (FileChannel channel =
          FileChannel.open(
              next, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), OWNER_ONLY)) {
        ByteBuffer bytes = ByteBuffer.wrap(content.getBytes(StandardCharsets.UTF_8));
        while (bytes.hasRemaining()) {
          channel.write(bytes);
        }
        channel.force(true);
      }
      Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new RefusedException(ExitCode.USAGE, "cannot write " + file + ": " + IoWords.of(e));
    }
  }

  public void delete(String name) throws RefusedException {
    try {
      Files.deleteIfExists(file(name));
    } catch (IOException e) {
      throw new RefusedException(
          ExitCode.USAGE, "cannot delete " + file(name) + ": " + IoWords.of(e));
    }
  }

  private static void createFolder(Path file) throws IOException {
    Files.createDirectories(file.toAbsolutePath().resolveSibling("."), OWNER_ONLY_FOLDER);
  }

  /** Does work under a lock of this name; waits while another command holds it. */
  public <T> T locked(String name, Work<T> work) throws RefusedException {
    long deadline = environment.clock().millis() + LOCK_TIMEOUT.toMillis();
    try (FileChannel channel = lockFile(name)) {
      while (true) {
        if (lock(channel) != null) {
          return work.run();
        }
        if (environment.clock().millis() > deadline) {
          throw new RefusedException(
              ExitCode.UNAVAILABLE, "another command is using %s; try again".formatted(file(name)));
        }
        environment.await(LOCK_POLL);
      }
    } catch (IOException e) {
      throw new RefusedException(
          ExitCode.USAGE, "cannot lock " + file(name) + ".lock: " + IoWords.of(e));
    }
  }

  /**
   * Takes a lock until it is closed, or until the process ends.
   *
   * @return null when another command holds it
   */
  public @Nullable FileChannel tryLock(String name) throws RefusedException {
    try {
      FileChannel channel = lockFile(name);
      if (lock(channel) != null) {
        return channel;
      }
      channel.close();
      return null;
    } catch (IOException e) {
      throw new RefusedException(
          ExitCode.USAGE, "cannot lock " + file(name) + ".lock: " + IoWords.of(e));
    }
  }

  /** The lock is a separate file, because the file itself is replaced. */
  private FileChannel lockFile(String name) throws IOException {
    Path lock = file(name + ".lock");
    createFolder(lock);
    return FileChannel.open(
        lock, Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE), OWNER_ONLY);
  }

  private static @Nullable FileLock lock(FileChannel channel) throws IOException {
    try {
      return channel.tryLock();
    } catch (OverlappingFileLockException e) {
      // Another command in this process holds it.
      return null;
    }
  }
}
