package dev.bourse.client.transfer;

import dev.bourse.remote.ExitCode;
import dev.bourse.remote.IoWords;
import dev.bourse.remote.Refused;
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
 * A file to be sent, as it was when it was looked at.
 *
 * @param path absolute, its links followed
 * @param name without folders
 * @param size in bytes
 * @param modifiedMillis when it was last written, as whoever wrote it says
 * @param stamp null where the file system keeps none
 */
public record LocalFile(
    Path path, String name, long size, long modifiedMillis, @Nullable Stamp stamp) {
  private static final String BYTES = "application/octet-stream";

  /** Those that the platform does not know and members publish. */
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
   * What nobody who writes a file can set as it was before: an archive can give each file it
   * unpacks the same time.
   *
   * @param changedAt when the file system last changed anything of it
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
  public String sha256() throws Refused {
    String digest = new PrefixDigest().read(path, size).sha256();
    requireUnchanged();
    return digest;
  }

  public static LocalFile look(Path given) throws Refused {
    try {
      Path path = given.toRealPath();
      BasicFileAttributes facts = Files.readAttributes(path, BasicFileAttributes.class);
      if (!facts.isRegularFile()) {
        throw new Refused(ExitCode.USAGE, given + " is not a file");
      }
      return new LocalFile(
          path,
          given.toAbsolutePath().normalize().getFileName().toString(),
          facts.size(),
          facts.lastModifiedTime().toMillis(),
          Stamp.of(path));
    } catch (IOException e) {
      throw new Refused(ExitCode.USAGE, "cannot read " + given + ": " + IoWords.of(e));
    }
  }

  /** Fails when the file is no longer the one that was looked at. */
  void requireUnchanged() throws Refused {
    LocalFile now = look(path);
    if (now.size != size || now.modifiedMillis != modifiedMillis) {
      throw new Refused(
          ExitCode.REFUSED,
          path + " changed while it was sent; run the same command again to send it anew");
    }
  }

  /** The media type of its name. */
  public String contentType() {
    int dot = name.lastIndexOf('.');
    String ending = dot < 0 ? "" : name.substring(dot).toLowerCase(Locale.ROOT);
    String guessed = TYPES.getOrDefault(ending, "");
    if (guessed.isEmpty()) {
      String known = URLConnection.guessContentTypeFromName(name);
      guessed = known == null ? BYTES : known;
    }
    // Services take neither: browsers look for further files in them.
    return guessed.startsWith("multipart/") || guessed.startsWith("message/") ? BYTES : guessed;
  }
}
