package dev.bourse.client.transfer;

import dev.bourse.core.Digests;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.IoWords;
import dev.bourse.remote.RefusedException;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * The stored states of unfinished uploads, a file each in {@code uploads/} beside the credentials.
 */
public final class UploadStates {
  private static final String FOLDER = "uploads/";

  /** Longer than any session; older files are useless. */
  private static final Duration KEPT = Duration.ofDays(8);

  private final ConfigFolder folder;

  public UploadStates(ConfigFolder folder) {
    this.folder = folder;
  }

  /** The stored state of one upload, locked by one command at a time. */
  final class Place implements AutoCloseable {
    private final String name;
    private final FileChannel lock;

    private Place(String name, FileChannel lock) {
      this.name = name;
      this.lock = lock;
    }

    /** The stored state; empty when there is none. */
    JsonObject read() throws RefusedException {
      return folder.read(name);
    }

    void write(JsonObject state) throws RefusedException {
      folder.write(name, state);
    }

    void forget() throws RefusedException {
      folder.delete(name);
    }

    @Override
    public void close() throws RefusedException {
      try {
        lock.close();
      } catch (IOException e) {
        throw new RefusedException(
            ExitCode.USAGE, "cannot unlock " + folder.file(name) + ": " + IoWords.of(e));
      }
    }
  }

  /**
   * Locks the state of the upload of a file or a folder to a service.
   *
   * @throws RefusedException when another command is sending it
   */
  Place take(String url, Path path) throws RefusedException {
    byte[] key = (url + '\n' + path).getBytes(StandardCharsets.UTF_8);
    String name = FOLDER + HexFormat.of().formatHex(Digests.sha256(key), 0, 16) + ".json";
    @Nullable FileChannel lock = folder.tryLock(name);
    if (lock == null) {
      throw new RefusedException(ExitCode.REFUSED, "another command is sending " + path);
    }
    return new Place(name, lock);
  }

  /** Deletes abandoned states. */
  public void sweep(Instant now) throws RefusedException {
    Path uploads = folder.file(FOLDER);
    if (!Files.isDirectory(uploads)) {
      return;
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(uploads)) {
      for (Path file : files) {
        if (Files.getLastModifiedTime(file).toInstant().isBefore(now.minus(KEPT))) {
          Files.deleteIfExists(file);
        }
      }
    } catch (IOException e) {
      throw new RefusedException(ExitCode.USAGE, "cannot clear " + uploads + ": " + IoWords.of(e));
    }
  }
}
