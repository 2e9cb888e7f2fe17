package dev.bourse.client.transfer;

import dev.bourse.remote.ExitCode;
import dev.bourse.remote.IoWords;
import dev.bourse.remote.Refused;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * A folder to be published, as it was when it was looked at.
 *
 * @param path absolute, its links followed
 * @param name its own, without what it lies in
 * @param files sorted by path
 * @param leftOut hidden files and folders that are not among them
 */
public record LocalFolder(Path path, String name, List<Member> files, List<String> leftOut) {
  /** What a set may have at most: told before the digests of more are computed. */
  private static final int MAX_FILES = 4_096;

  /**
   * A file of it.
   *
   * @param path from the folder to the file, with {@code /} between
   */
  public record Member(String path, LocalFile file) {}

  public LocalFolder {
    files = List.copyOf(files);
    leftOut = List.copyOf(leftOut);
  }

  /**
   * Looks at all files under a folder. A symbolic link to a file counts as that file; one that
   * leads to a folder or nowhere is refused, as is what is neither file nor folder.
   *
   * @param withHidden whether names that begin with a dot are taken in
   */
  public static LocalFolder look(Path given, boolean withHidden) throws Refused {
    Path named = given.toAbsolutePath().normalize().getFileName();
    if (!Files.isDirectory(given) || named == null) {
      throw new Refused(
          ExitCode.USAGE, given + " is not a folder; bourse checkpoint push publishes a file");
    }
    Walk walk = new Walk(withHidden);
    try {
      Path path = given.toRealPath();
      walk.into(path, "");
      if (walk.files.isEmpty()) {
        throw new Refused(ExitCode.USAGE, given + " has no file to publish");
      }
      walk.files.sort(Comparator.comparing(Member::path));
      return new LocalFolder(path, named.toString(), walk.files, walk.leftOut);
    } catch (IOException e) {
      throw new Refused(ExitCode.USAGE, "cannot read " + given + ": " + IoWords.of(e));
    }
  }

  /** Bytes of all its files. */
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

    void into(Path folder, String prefix) throws IOException, Refused {
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

    private void add(Path entry, String path) throws Refused {
      if (Files.isSymbolicLink(entry) && !Files.isRegularFile(entry)) {
        throw new Refused(
            ExitCode.USAGE,
            entry
                + " is a symbolic link that leads to no file; replace it by what it stands for, or"
                + " take it away");
      }
      if (files.size() == MAX_FILES) {
        throw new Refused(
            ExitCode.USAGE,
            "there are more than %,d files, the most a set may have; pack some of them into one"
                .formatted(MAX_FILES));
      }
      files.add(new Member(path, LocalFile.look(entry)));
    }
  }
}
