package dev.bourse.client.transfer;

import dev.bourse.core.Digests;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.IoWords;
import dev.bourse.remote.RefusedException;
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
 * A cache of the digests of a folder's files, in {@code digests/} beside the credentials. An entry
 * is valid while the file's size, times and inode are unchanged. On file systems that lack one of
 * these, every file is read each time, because a stale digest would announce wrong bytes.
 */
final class FolderDigests {
  private static final String PLACE = "digests/";

  /** A folder that was not used for this long is forgotten. */
  private static final Duration KEPT = Duration.ofDays(90);

  /** The interval of writes; a killed process loses the digests since the last one. */
  private static final long WRITE_MILLIS = 2_000;

  /** The coarsest resolution of change times (FAT's): within it, a change may be invisible. */
  private static final long COARSEST_MILLIS = 2_000;

  private final ConfigFolder folder;
  private final Clock clock;
  private final String name;
  private final Map<String, CachedDigest> known = new ConcurrentHashMap<>();
  private long writtenAt;

  /** A file's digest, and the file's attributes at the time. */
  private record CachedDigest(
      long size, long modifiedMillis, LocalFile.Stamp stamp, String sha256) {
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

    /** Null for an entry of an earlier release with fewer attributes. */
    static @Nullable CachedDigest of(JsonObject json) {
      String sha256 = json.getString("sha256");
      Long inode = json.getLong("inode");
      Instant changedAt = json.getInstant("changed_at");
      return sha256 == null || inode == null || changedAt == null
          ? null
          : new CachedDigest(
              json.getLong("bytes", -1L),
              json.getLong("modified_ms", -1L),
              new LocalFile.Stamp(inode, changedAt),
              sha256);
    }
  }

  /**
   * The cache of one folder.
   *
   * @param place the folder of the cache
   * @param path the digested folder
   */
  FolderDigests(ConfigFolder place, Clock clock, Path path) throws RefusedException {
    this.folder = place;
    this.clock = clock;
    byte[] key = path.toString().getBytes(StandardCharsets.UTF_8);
    this.name = PLACE + HexFormat.of().formatHex(Digests.sha256(key), 0, 16) + ".json";
    this.writtenAt = clock.millis();
    JsonObject files = place.read(name).getJsonObject("files", new JsonObject());
    for (String file : files.fieldNames()) {
      CachedDigest digest = CachedDigest.of(files.getJsonObject(file));
      if (digest != null) {
        known.put(file, digest);
      }
    }
  }

  /** Whether a file's digest is cached. */
  boolean knows(String path, LocalFile file) {
    CachedDigest digest = known.get(path);
    return digest != null && digest.isOf(file);
  }

  /**
   * A file's SHA-256, as 64 hexadecimal digits: cached, or computed now.
   *
   * @param path of the file in the folder
   */
  String sha256(String path, LocalFile file, Transfer progress) throws RefusedException {
    CachedDigest digest = known.get(path);
    if (digest != null && digest.isOf(file)) {
      return digest.sha256();
    }
    long began = clock.millis();
    PrefixDigest computed = new PrefixDigest().read(file.path(), file.size(), progress);
    file.requireUnchanged();
    String sha256 = computed.sha256();
    LocalFile.Stamp stamp = file.stamp();
    // A later change within the same tick of the file's clock would be invisible.
    if (stamp != null
        && began - file.modifiedMillis() > COARSEST_MILLIS
        && began - stamp.changedAt().toEpochMilli() > COARSEST_MILLIS) {
      remember(path, file, sha256);
      writeAtTimes();
    }
    return sha256;
  }

  /** Stores a file's digest. */
  void remember(String path, LocalFile file, String sha256) {
    LocalFile.Stamp stamp = file.stamp();
    if (stamp != null) {
      known.put(path, new CachedDigest(file.size(), file.modifiedMillis(), stamp, sha256));
    }
  }

  void forget(String path) throws RefusedException {
    known.remove(path);
    write();
  }

  /** Drops the entries of files that no longer exist. */
  void keepOnly(Set<String> paths) {
    known.keySet().retainAll(paths);
  }

  private synchronized void writeAtTimes() throws RefusedException {
    if (clock.millis() - writtenAt >= WRITE_MILLIS) {
      write();
    }
  }

  synchronized void write() throws RefusedException {
    JsonObject files = new JsonObject();
    known.forEach((path, digest) -> files.put(path, digest.toJson()));
    folder.write(name, new JsonObject().put("files", files));
    writtenAt = clock.millis();
  }

  /** Deletes the caches of unused folders. */
  void sweep() throws RefusedException {
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
      throw new RefusedException(ExitCode.USAGE, "cannot clear " + place + ": " + IoWords.of(e));
    }
  }
}
