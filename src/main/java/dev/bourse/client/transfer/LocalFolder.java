package dev.bourse.client.transfer;

import dev.bourse.remote.ExitCode;
import dev.bourse.remote.IoWords;
import dev.bourse.remote.RefusedException;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * A folder to publish, with its files when it was examined.
 *
 * @param path absolute, its links followed
 * @param name its own, without its parent folders
 * @param files sorted by path
 * @param leftOut hidden files and folders that are not included
 */
public record LocalFolder(Path path, String name, List<Member> files, List<String> leftOut) {
  /** The most files of a set, checked before digests are computed. */
  private static final int MAX_FILES = 4_096;

  /**
   * A file of the folder.
   *
   * @param path from the folder to the file, with {@code /} between
   */
  public record Member(String path, LocalFile file) {}

  public LocalFolder {
    files = List.copyOf(files);
    leftOut = List.copyOf(leftOut);
  }

  /**
   * Examines all files under a folder. A symbolic link to a file counts as that file; a link to a
   * folder or to nothing is refused, as are other special files.
   *
   * @param withHidden whether to include names that start with a dot
   */
  public static LocalFolder look(Path given, boolean withHidden) throws RefusedException {
    Path named = given.toAbsolutePath().normalize().getFileName();
    if (!Files.isDirectory(given) || named == null) {
      throw new RefusedException(ExitCode.USAGE, given + " is not a folder");
    }
    Walk walk = new Walk(withHidden);
    try {
      Path path = given.toRealPath();
      walk.into(path, "");
      if (walk.files.isEmpty()) {
        throw new RefusedException(ExitCode.USAGE, given + " has no file to publish");
      }
      walk.files.sort(Comparator.comparing(Member::path));
      return new LocalFolder(path, named.toString(), walk.files, walk.leftOut);
    } catch (IOException e) {
      throw new RefusedException(ExitCode.USAGE, "cannot read " + given + ": " + IoWords.of(e));
    }
  }

  /** The size of all files in bytes. */
  public long size() {
    return files.stream().mapToLong(member -> member.file().size()).sum();
  }

  private static final class Walk {
    private final boolean withHidden;
    private final List<Member> files = new ArrayList<>();
    private final List<String> leftOut = new ArrayList<>();

    Walk(boolean withHidden) {
      this.withHidden = withHidden;
    }

    void into(Path folder, String prefix) throws IOException, RefusedException {
      try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
        for (Path entry : entries) {
          String name = entry.getFileName().toString();
          if (name.startsWith(".") && !withHidden) {
            leftOut.add(prefix + name);
          } else if (Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS)) {
            into(entry, prefix + name + '/');
          } else {
            add(entry, prefix + name);
          }
        }
      }
    }

    private void add(Path entry, String path) throws RefusedException {
      if (Files.isSymbolicLink(entry) && !Files.isRegularFile(entry)) {
        throw new RefusedException(
            ExitCode.USAGE,
            entry
                + " is a symbolic link without a target file; replace it with the file, or remove"
                + " the link");
      }
      if (files.size() == MAX_FILES) {
        throw new RefusedException(
            ExitCode.USAGE,
            "there are more than %,d files, the most a set may have; pack some of them into one"
                .formatted(MAX_FILES));
      }
      files.add(new Member(path, LocalFile.look(entry)));
    }
  }
}
