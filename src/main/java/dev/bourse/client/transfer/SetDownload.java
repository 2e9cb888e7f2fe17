package dev.bourse.client.transfer;

import dev.bourse.core.Digests;
import dev.bourse.core.Sizes;
import dev.bourse.core.Text;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.IoWords;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import dev.bourse.remote.Service.Request;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;

/**
 * Downloads a set into a folder according to one manifest. If the set is replaced meanwhile, the
 * download fails rather than mix two versions.
 */
public final class SetDownload {
  /** A manifest with the most files and longest paths has half of this. */
  private static final int MAX_MANIFEST_BYTES = 16 << 20;

  private static final Duration HEAD = Duration.ofSeconds(60);

  private final Service service;
  private final CommandEnvironment environment;
  private final ConfigFolder place;
  private final PrintWriter err;
  private final int width;

  /**
   * @param width the number of concurrent downloads
   */
  public SetDownload(
      Service service,
      CommandEnvironment environment,
      ConfigFolder place,
      PrintWriter err,
      int width) {
    this.service = service;
    this.environment = environment;
    this.place = place;
    this.err = err;
    this.width = width;
  }

  /**
   * The result of a download.
   *
   * @param files the number of files in the set
   * @param fetched the number of downloaded files
   * @param bytes the size of the downloaded files
   */
  public record Outcome(int files, int fetched, long bytes) {}

  /** A file of the set with its target. */
  private record MissingFile(SetManifest.Entry entry, Path target) {}

  /** The manifest of a set. */
  public SetManifest manifest(String path, JsonObject facts) throws RefusedException {
    FileDownload.requireBytes(facts);
    HttpResponse<InputStream> answer =
        service.let(
            Request.of("GET", service.baseUrl() + path + "/content", Map.of()),
            BodyHandlers.ofInputStream(),
            HEAD);
    try (InputStream body = answer.body()) {
      byte[] document = body.readNBytes(MAX_MANIFEST_BYTES + 1);
      String text = new String(document, StandardCharsets.UTF_8);
      if (answer.statusCode() >= 300) {
        throw service.refusal(answer.statusCode(), answer.headers(), text);
      }
      String sha256 = HexFormat.of().formatHex(Digests.sha256(document));
      if (!sha256.equals(facts.getString("sha256"))) {
        throw new RefusedException(
            ExitCode.REFUSED,
            "the set was replaced meanwhile, or its manifest is damaged; try again");
      }
      return SetManifest.of(text);
    } catch (IOException e) {
      throw service.lost(e);
    }
  }

  /**
   * Downloads the missing files.
   *
   * @param path of the item, on the organization's list or on the public feed
   * @param isItemName whether the folder has the item's name, which its publisher chose, and not
   *     one that the caller chose. It must not be a link then, or hold other files.
   * @param force whether existing files with other bytes are replaced
   */
  public Outcome fetch(
      String path, JsonObject facts, Path folder, boolean isItemName, boolean force)
      throws RefusedException {
    SetManifest manifest = manifest(path, facts);
    try {
      if (isItemName && Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
        requireNothingElse(manifest, folder);
      }
      Files.createDirectories(folder);
      Path root = folder.toRealPath();
      FolderDigests digests = new FolderDigests(place, environment.clock(), root);
      requirePartsApart(manifest, root);
      List<MissingFile> missing = missing(manifest, root, digests, force);
      long bytes = missing.stream().mapToLong(one -> one.entry().bytes()).sum();
      try (Progress progress =
          new Progress(err, environment, folder.getFileName().toString(), 0, bytes)) {
        Parallel.each(
            width,
            List.copyOf(alike(missing)),
            these -> fetch(path, these, root, digests, progress));
      } finally {
        digests.write();
      }
      return new Outcome(manifest.files().size(), missing.size(), bytes);
    } catch (IOException e) {
      throw new RefusedException(ExitCode.USAGE, "cannot write " + folder + ": " + IoWords.of(e));
    }
  }

  /** Fails for a link, and for a folder with files that are not those of the set or their parts. */
  static void requireNothingElse(SetManifest manifest, Path folder)
      throws RefusedException, IOException {
    Path name = folder.getFileName();
    if (Files.isSymbolicLink(folder)) {
      throw new RefusedException(
          ExitCode.REFUSED, "%s is a symbolic link; -o %s follows it".formatted(name, name));
    }
    Set<Path> own = new HashSet<>();
    for (SetManifest.Entry entry : manifest.files()) {
      Path target = target(folder, entry.path());
      own.add(target);
      own.add(FileDownload.part(target, entry.sha256()));
    }
    try (Stream<Path> found = Files.walk(folder)) {
      Optional<Path> other =
          found
              .filter(one -> !Files.isDirectory(one, LinkOption.NOFOLLOW_LINKS))
              .filter(one -> !own.contains(one))
              .findFirst();
      if (other.isPresent()) {
        throw new RefusedException(
            ExitCode.REFUSED,
            "%s has other files, such as %s; -o %s writes into it"
                .formatted(name, Text.plain(folder.relativize(other.get()).toString()), name));
      }
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /**
   * Fails for a set with a file that has the temporary name of another: each would overwrite the
   * other. Some file systems ignore case.
   */
  private static void requirePartsApart(SetManifest manifest, Path root) throws RefusedException {
    Set<String> targets = new HashSet<>();
    for (SetManifest.Entry entry : manifest.files()) {
      targets.add(folded(target(root, entry.path())));
    }
    for (SetManifest.Entry entry : manifest.files()) {
      Path part = FileDownload.part(target(root, entry.path()), entry.sha256());
      if (targets.contains(folded(part))) {
        throw new RefusedException(
            ExitCode.REFUSED,
            "the set has a file %s, which is also the temporary name of its %s during the download"
                    .formatted(
                        Text.plain(root.relativize(part).toString()), Text.plain(entry.path()))
                + "; nothing was downloaded");
      }
    }
  }

  private static String folded(Path path) {
    return path.toString().toLowerCase(Locale.ROOT);
  }

  /** The files that are missing or have other bytes. */
  private List<MissingFile> missing(
      SetManifest manifest, Path root, FolderDigests digests, boolean force)
      throws RefusedException, IOException {
    List<MissingFile> missing = new ArrayList<>();
    List<MissingFile> present = new ArrayList<>();
    for (SetManifest.Entry entry : manifest.files()) {
      MissingFile wanted = new MissingFile(entry, target(root, entry.path()));
      (Files.exists(wanted.target(), LinkOption.NOFOLLOW_LINKS) ? present : missing).add(wanted);
    }
    ConcurrentLinkedQueue<MissingFile> others = new ConcurrentLinkedQueue<>();
    long size = present.stream().mapToLong(one -> one.entry().bytes()).sum();
    try (Progress progress = new Progress(err, environment, "what is there", 0, size)) {
      Parallel.each(
          width,
          present,
          one -> {
            if (!isWhole(one, digests, progress.part())) {
              others.add(one);
            }
          });
    } finally {
      digests.write();
    }
    if (!others.isEmpty() && !force) {
      throw new RefusedException(
          ExitCode.REFUSED,
          "%s differs from the set's file%s; --force replaces files that differ"
              .formatted(
                  others.peek().target(),
                  others.size() == 1 ? "" : ", and so do " + (others.size() - 1) + " more files"));
    }
    missing.addAll(others);
    return missing;
  }

  private static boolean isWhole(MissingFile one, FolderDigests digests, Transfer progress)
      throws RefusedException {
    if (!Files.isRegularFile(one.target(), LinkOption.NOFOLLOW_LINKS)) {
      throw new RefusedException(
          ExitCode.REFUSED, one.target() + " is not a file, but the set has a file of that name");
    }
    LocalFile file = LocalFile.look(one.target());
    return file.size() == one.entry().bytes()
        && digests.sha256(one.entry().path(), file, progress).equals(one.entry().sha256());
  }

  /** Groups files with the same bytes, which are downloaded once. */
  private static List<List<MissingFile>> alike(List<MissingFile> missing) {
    Map<String, List<MissingFile>> byDigest = new LinkedHashMap<>();
    for (MissingFile one : missing) {
      byDigest.computeIfAbsent(one.entry().sha256(), digest -> new ArrayList<>()).add(one);
    }
    return new ArrayList<>(byDigest.values());
  }

  private void fetch(
      String path, List<MissingFile> alike, Path root, FolderDigests digests, Progress progress)
      throws RefusedException {
    MissingFile first = alike.get(0);
    SetManifest.Entry entry = first.entry();
    createFolder(root, first.target());
    FileDownload.DownloadSource wanted =
        new FileDownload.DownloadSource(
            path + "/files/" + entry.sha256(), entry.sha256(), entry.bytes());
    try {
      new FileDownload(service, environment, err).fetch(wanted, first.target(), progress.part());
    } catch (RefusedException e) {
      throw e.is("not-found") || e.is("gone") ? replaced(e) : e;
    }
    remember(first, digests);
    for (MissingFile other : alike.subList(1, alike.size())) {
      createFolder(root, other.target());
      copy(first.target(), other.target(), entry.sha256());
      progress.part().begin(entry.bytes());
      remember(other, digests);
    }
  }

  private static RefusedException replaced(RefusedException refused) {
    RefusedException explained =
        new RefusedException(
            ExitCode.REFUSED,
            "the set was replaced or removed meanwhile; run the same command to download the new one");
    explained.initCause(refused);
    return explained;
  }

  private static void remember(MissingFile one, FolderDigests digests) throws RefusedException {
    digests.remember(one.entry().path(), LocalFile.look(one.target()), one.entry().sha256());
  }

  private static void copy(Path from, Path to, String sha256) throws RefusedException {
    Path part = FileDownload.part(to, sha256);
    try {
      Files.copy(from, part, StandardCopyOption.REPLACE_EXISTING, LinkOption.NOFOLLOW_LINKS);
      Files.move(part, to, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new RefusedException(ExitCode.USAGE, "cannot write " + to + ": " + IoWords.of(e));
    }
  }

  /** A file's target, which is always inside the folder. */
  private static Path target(Path root, String path) throws RefusedException {
    try {
      Path target = root.resolve(path).normalize();
      if (target.startsWith(root) && !target.equals(root)) {
        return target;
      }
    } catch (InvalidPathException e) {
      throw new RefusedException(
          ExitCode.USAGE, "this name is not possible for a file here: " + e.getReason());
    }
    throw new RefusedException(
        ExitCode.REFUSED, "the set's manifest names a file outside the folder");
  }

  /** Creates the folders of a file; a symbolic link among them must not lead outside. */
  private static void createFolder(Path root, Path target) throws RefusedException {
    Path folder = root;
    try {
      for (Path part : root.relativize(target.getParent())) {
        folder = folder.resolve(part);
        if (part.toString().isEmpty() || Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
          continue;
        }
        create(folder);
      }
    } catch (IOException e) {
      throw new RefusedException(
          ExitCode.USAGE, "cannot make the folder " + folder + ": " + IoWords.of(e));
    }
  }

  private static void create(Path folder) throws IOException {
    try {
      Files.createDirectory(folder);
    } catch (FileAlreadyExistsException e) {
      // Another file's transfer created it just now, or another kind of file is there.
      if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
        throw e;
      }
    }
  }

  /** The total size of a set's files; services before this release call it bytes. */
  private static long total(JsonObject facts) {
    return facts.getLong("total_bytes", facts.getLong("bytes"));
  }

  /** A description of a set in one line. */
  public static String words(JsonObject facts) {
    return "%d files, %s".formatted(facts.getInteger("files"), Sizes.bytes(total(facts)));
  }
}
