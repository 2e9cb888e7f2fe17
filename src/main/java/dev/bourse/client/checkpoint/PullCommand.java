package dev.bourse.client.checkpoint;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.client.transfer.FileDownload;
import dev.bourse.client.transfer.SetDownload;
import dev.bourse.core.Sizes;
import dev.bourse.core.Text;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code bourse checkpoint pull}. */
@Command(
    name = "pull",
    description = {
      "Downloads a file or a folder of the organization or of the public feed.",
      "",
      """
      Each file is written to FILE.DIGITS.part, whose digits begin its SHA-256, and renamed when it \
      is complete and its digest is right. When the command is interrupted, the same command \
      resumes the download. In a folder, only missing files are downloaded. Without -o, the folder \
      must not have other files.\
      """
    },
    mixinStandardHelpOptions = true)
final class PullCommand extends CheckpointCommand.Subcommand {
  @Parameters(paramLabel = "ID", description = "The item.")
  private String id = "";

  @Option(
      names = {"-o", "--output"},
      paramLabel = "PATH",
      description = "The file or folder to write. Default: the item's name, in this folder.")
  private @Nullable Path output;

  @Option(
      names = "--force",
      description = "Replace the file, or the folder's files that have other bytes.")
  private boolean force;

  @Mixin private final CheckpointCommand.Width width = new CheckpointCommand.Width();

  PullCommand(CommandEnvironment environment) {
    super(environment);
  }

  @Override
  protected void run() throws RefusedException {
    int parallel = width.get();
    Service service = signedInOrAnybody();
    FoundItem found = FoundItem.of(service, id);
    Path target = output == null ? named(found.facts().getString("filename")) : output;
    if (found.isSet()) {
      pullFolder(service, found, target, parallel);
    } else {
      pullFile(service, found, target);
    }
  }

  private void pullFile(Service service, FoundItem found, Path target) throws RefusedException {
    JsonObject item = found.facts();
    if (Files.isDirectory(target) || target.getFileName() == null) {
      throw new RefusedException(ExitCode.USAGE, target + " is a folder; name a file with -o");
    }
    if (!force && Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
      throw new RefusedException(ExitCode.REFUSED, target + " exists; --force replaces it");
    }
    new FileDownload(service, environment(), err()).fetch(found.path(), item, target);
    out().printf("%s  %s%n", target, Sizes.bytes(item.getLong("bytes")));
  }

  private void pullFolder(Service service, FoundItem found, Path target, int parallel)
      throws RefusedException {
    Path absolute = target.toAbsolutePath().normalize();
    if (absolute.getFileName() == null) {
      throw new RefusedException(ExitCode.USAGE, target + " has no name; name a folder with -o");
    }
    if (Files.exists(absolute) && !Files.isDirectory(absolute)) {
      throw new RefusedException(
          ExitCode.USAGE, target + " is a file, but the item is a folder; name another with -o");
    }
    SetDownload.Outcome outcome =
        new SetDownload(service, environment(), folder(), err(), parallel)
            .fetch(found.path(), found.facts(), absolute, output == null, force);
    out()
        .printf(
            "%s  %d files, %d of them downloaded, %s%n",
            target, outcome.files(), outcome.fetched(), Sizes.bytes(outcome.bytes()));
  }

  /**
   * The local path for an item's name, which a stranger chose: it must not lead to another folder
   * or be hidden.
   */
  private static Path named(String filename) throws RefusedException {
    boolean isPlain =
        !filename.isEmpty()
            && !filename.startsWith(".")
            && filename
                .chars()
                .noneMatch(c -> c == '/' || c == '\\' || c == ':' || Character.isISOControl(c));
    try {
      if (isPlain) {
        return Path.of(filename);
      }
    } catch (InvalidPathException e) {
      // This machine's file names cannot have such a character: refused like the others.
    }
    throw new RefusedException(
        ExitCode.USAGE,
        "the item's name, %s, cannot be used here; choose one with -o"
            .formatted(Text.plain(filename)));
  }
}
