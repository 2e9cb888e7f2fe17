package dev.bourse.client.transfer;

import dev.bourse.remote.ExitCode;
import dev.bourse.remote.IoWords;
import dev.bourse.remote.Refused;
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
 * The person's folder, {@code $XDG_CONFIG_HOME/bourse} or {@code ~/.config/bourse}. Nobody else can
 * read it. Its files are replaced whole, so a crash leaves the old one or the new one.
 */
public final class ConfigFolder {
  /** Longer than whoever has the lock may wait for an answer. */
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
    T run() throws Refused;
  }

  public ConfigFolder(CommandEnvironment environment) {
    this.folder = folder(environment);
    this.environment = environment;
  }

  private static Path folder(CommandEnvironment environment) {
    String xdg = environment.variables().getOrDefault("XDG_CONFIG_HOME", "");
    // The specification says that a relative path is ignored.
    Path base = xdg.startsWith("/") ? Path.of(xdg) : environment.home().resolve(".config");
    return base.resolve("bourse");
  }

  public Path file(String name) {
    return folder.resolve(name);
  }

  /** What a file holds; empty when it is not there. */
  public JsonObject read(String name) throws Refused {
    Path file = file(name);
    try {
      return Files.exists(file) ? new JsonObject(Files.readString(file)) : new JsonObject();
    } catch (DecodeException e) {
      throw new Refused(ExitCode.USAGE, file + " is damaged: delete it and sign in again");
    } catch (IOException e) {
      throw new Refused(ExitCode.USAGE, "cannot read " + file + ": " + IoWords.of(e));
    }
  }

  /** Replaces a file; when this returns it is on disk. */
  public void write(String name, JsonObject content) throws Refused {
    write(name, content.encodePrettily() + "\n");
  }

  /** Replaces a file by a text; when this returns it is on disk. */
  public void write(String name, String content) throws Refused {
    Path file = file(name);
    // Of this process alone: another may be writing the same.
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
      throw new Refused(ExitCode.USAGE, "cannot write " + file + ": " + IoWords.of(e));
    }
  }

  public void delete(String name) throws Refused {
    try {
      Files.deleteIfExists(file(name));
    } catch (IOException e) {
      throw new Refused(ExitCode.USAGE, "cannot delete " + file(name) + ": " + IoWords.of(e));
    }
  }

  private static void createFolder(Path file) throws IOException {
    Files.createDirectories(file.toAbsolutePath().resolveSibling("."), OWNER_ONLY_FOLDER);
  }

  /** Does work while no other command does work under this name; waits for one that does. */
  public <T> T locked(String name, Work<T> work) throws Refused {
    long deadline = environment.clock().millis() + LOCK_TIMEOUT.toMillis();
    try (FileChannel channel = lockFile(name)) {
      while (true) {
        if (lock(channel) != null) {
          return work.run();
        }
        if (environment.clock().millis() > deadline) {
          throw new Refused(
              ExitCode.UNAVAILABLE, "another command is using %s; try again".formatted(file(name)));
        }
        environment.await(LOCK_POLL);
      }
    } catch (IOException e) {
      throw new Refused(ExitCode.USAGE, "cannot lock " + file(name) + ".lock: " + IoWords.of(e));
    }
  }

  /**
   * Takes a lock until it is closed, or until the process ends.
   *
   * @return null when another command has it
   */
  public @Nullable FileChannel tryLock(String name) throws Refused {
    try {
      FileChannel channel = lockFile(name);
      if (lock(channel) != null) {
        return channel;
      }
      channel.close();
      return null;
    } catch (IOException e) {
      throw new Refused(ExitCode.USAGE, "cannot lock " + file(name) + ".lock: " + IoWords.of(e));
    }
  }

  /** Beside the file, which is replaced and so cannot carry a lock itself. */
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
      // Another command of this very process has it.
      return null;
    }
  }
}
