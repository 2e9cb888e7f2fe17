package dev.bourse.client.transfer;

import dev.bourse.remote.ExitCode;
import dev.bourse.remote.IoWords;
import dev.bourse.remote.RefusedException;
import java.io.IOException;
import java.net.URLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A file to send, with its attributes when it was examined.
 *
 * @param path absolute, its links followed
 * @param name without folders
 * @param size in bytes
 * @param modifiedMillis its modification time, which its writer can set
 * @param stamp null if the file system has none
 */
public record LocalFile(
    Path path, String name, long size, long modifiedMillis, @Nullable Stamp stamp) {
  private static final String BYTES = "application/octet-stream";

  /** Types of published files that the platform does not know. */
  private static final Map<String, String> TYPES =
      Map.of(
          ".md", "text/markdown",
          ".json", "application/json",
          ".yaml", "application/yaml",
          ".yml", "application/yaml",
          ".csv", "text/csv",
          ".txt", "text/plain",
          ".log", "text/plain");

  /**
   * Attributes that a writer cannot restore; the modification time can be set, for example by
   * unpacking an archive.
   *
   * @param changedAt the last change of the file's metadata or content
   */
  record Stamp(long inode, Instant changedAt) {
    private static @Nullable Stamp of(Path path) throws IOException {
      if (!path.getFileSystem().supportedFileAttributeViews().contains("unix")) {
        return null;
      }
      Map<String, Object> facts = Files.readAttributes(path, "unix:ino,ctime");
      return facts.get("ino") instanceof Number inode
              && facts.get("ctime") instanceof FileTime changed
          ? new Stamp(inode.longValue(), changed.toInstant())
          : null;
    }
  }

  /** The digest of its bytes, in lower-case hex. Reads all of them. */
  public String sha256() throws RefusedException {
    String digest = new PrefixDigest().read(path, size).sha256();
    requireUnchanged();
    return digest;
  }

  public static LocalFile look(Path given) throws RefusedException {
    try {
      Path path = given.toRealPath();
      BasicFileAttributes facts = Files.readAttributes(path, BasicFileAttributes.class);
      if (!facts.isRegularFile()) {
        throw new RefusedException(ExitCode.USAGE, given + " is not a file");
      }
      return new LocalFile(
          path,
          given.toAbsolutePath().normalize().getFileName().toString(),
          facts.size(),
          facts.lastModifiedTime().toMillis(),
          Stamp.of(path));
    } catch (IOException e) {
      throw new RefusedException(ExitCode.USAGE, "cannot read " + given + ": " + IoWords.of(e));
    }
  }

  /** Fails if the file has changed since it was examined. */
  void requireUnchanged() throws RefusedException {
    LocalFile now = look(path);
    if (now.size != size || now.modifiedMillis != modifiedMillis) {
      throw new RefusedException(
          ExitCode.REFUSED,
          path + " changed while it was sent; run the same command again to send the new version");
    }
  }

  /** The media type for its name. */
  public String contentType() {
    int dot = name.lastIndexOf('.');
    String ending = dot < 0 ? "" : name.substring(dot).toLowerCase(Locale.ROOT);
    String guessed = TYPES.getOrDefault(ending, "");
    if (guessed.isEmpty()) {
      String known = URLConnection.guessContentTypeFromName(name);
      guessed = known == null ? BYTES : known;
    }
    // Services refuse these types, in which browsers look for embedded files.
    return guessed.startsWith("multipart/") || guessed.startsWith("message/") ? BYTES : guessed;
  }
}
