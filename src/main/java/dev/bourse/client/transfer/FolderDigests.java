package dev.bourse.client.transfer;

import dev.bourse.core.Digests;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.IoWords;
import dev.bourse.remote.Refused;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The digests of a folder's files, remembered in {@code digests/} beside the credentials for as
 * long as neither size, times nor inode of a file change. Where a file system does not keep all of
 * them, every file is read each time: a digest that no longer holds would announce bytes that were.
 */
final class FolderDigests {
  private static final String PLACE = "digests/";

  /** A folder that was not looked at for so long is not coming back. */
  private static final Duration KEPT = Duration.ofDays(90);

  /** A kill between two writes costs the digests of as long. */
  private static final long WRITE_MILLIS = 2_000;

  /**
   * The coarsest time of last change that file systems keep (FAT's): within it, it tells nothing.
   */
  private static final long COARSEST_MILLIS = 2_000;

  private final ConfigFolder folder;
  private final Clock clock;
  private final String name;
  private final Map<String, Known> known = new ConcurrentHashMap<>();
  private long writtenAt;

  /** A file's digest, and what the file was like then. */
  private record Known(long size, long modifiedMillis, LocalFile.Stamp stamp, String sha256) {
    boolean isOf(LocalFile file) {
      return size == file.size()
          && modifiedMillis == file.modifiedMillis()
          && stamp.equals(file.stamp());
    }

    JsonObject toJson() {
      return new JsonObject()
          .put("bytes", size)
          .put("modified_ms", modifiedMillis)
          .put("inode", stamp.inode())
          .put("changed_at", stamp.changedAt())
          .put("sha256", sha256);
    }

    /** Null for one that was written down by a release that kept less. */
    static @Nullable Known of(JsonObject json) {
      String sha256 = json.getString("sha256");
      Long inode = json.getLong("inode");
      Instant changedAt = json.getInstant("changed_at");
      return sha256 == null || inode == null || changedAt == null
          ? null
          : new Known(
              json.getLong("bytes", -1L),
              json.getLong("modified_ms", -1L),
              new LocalFile.Stamp(inode, changedAt),
              sha256);
    }
  }

  /**
   * Of one folder.
   *
   * @param place where what is remembered lies
   * @param path the folder's
   */
  FolderDigests(ConfigFolder place, Clock clock, Path path) throws Refused {
    this.folder = place;
    this.clock = clock;
    byte[] key = path.toString().getBytes(StandardCharsets.UTF_8);
    this.name = PLACE + HexFormat.of().formatHex(Digests.sha256(key), 0, 16) + ".json";
    this.writtenAt = clock.millis();
    JsonObject files = place.read(name).getJsonObject("files", new JsonObject());
    for (String file : files.fieldNames()) {
      Known digest = Known.of(files.getJsonObject(file));
      if (digest != null) {
        known.put(file, digest);
      }
    }
  }

  /** Whether a file's digest is remembered. */
  boolean knows(String path, LocalFile file) {
    Known digest = known.get(path);
    return digest != null && digest.isOf(file);
  }

  /**
   * A file's SHA-256, as 64 hexadecimal digits: as it is remembered, else as it is now.
   *
   * @param path of the file in the folder
   */
  String sha256(String path, LocalFile file, Transfer progress) throws Refused {
    Known digest = known.get(path);
    if (digest != null && digest.isOf(file)) {
      return digest.sha256();
    }
    long began = clock.millis();
    PrefixDigest computed = new PrefixDigest().read(file.path(), file.size(), progress);
    file.requireUnchanged();
    String sha256 = computed.sha256();
    LocalFile.Stamp stamp = file.stamp();
    // A change at the same tick of the file's clock would not show.
    if (stamp != null
        && began - file.modifiedMillis() > COARSEST_MILLIS
        && began - stamp.changedAt().toEpochMilli() > COARSEST_MILLIS) {
      remember(path, file, sha256);
      writeAtTimes();
    }
    return sha256;
  }

  /** A file is known to have this digest. */
  void remember(String path, LocalFile file, String sha256) {
    LocalFile.Stamp stamp = file.stamp();
    if (stamp != null) {
      known.put(path, new Known(file.size(), file.modifiedMillis(), stamp, sha256));
    }
  }

  void forget(String path) throws Refused {
    known.remove(path);
    write();
  }

  /** Forgets the files that are no more. */
  void keepOnly(Set<String> paths) {
    known.keySet().retainAll(paths);
  }

  private synchronized void writeAtTimes() throws Refused {
    if (clock.millis() - writtenAt >= WRITE_MILLIS) {
      write();
    }
  }

  synchronized void write() throws Refused {
    JsonObject files = new JsonObject();
    known.forEach((path, digest) -> files.put(path, digest.toJson()));
    folder.write(name, new JsonObject().put("files", files));
    writtenAt = clock.millis();
  }

  /** Deletes what is remembered of folders that nobody came back to. */
  void sweep() throws Refused {
    Path place = folder.file(PLACE);
    if (!Files.isDirectory(place)) {
      return;
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(place)) {
      for (Path file : files) {
        if (Files.getLastModifiedTime(file).toInstant().isBefore(clock.instant().minus(KEPT))) {
          Files.deleteIfExists(file);
        }
      }
    } catch (IOException e) {
      throw new Refused(ExitCode.USAGE, "cannot clear " + place + ": " + IoWords.of(e));
    }
  }
}
