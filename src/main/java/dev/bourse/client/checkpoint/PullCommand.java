package dev.bourse.client.checkpoint;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.client.transfer.FileDownload;
import dev.bourse.core.Sizes;
import dev.bourse.core.Text;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code bourse checkpoint pull}. */
@Command(
    name = "pull",
    description = {
      "Downloads a file of the organization or of the public feed.",
      "",
      """
      It is written to FILE.DIGITS.part, whose digits begin its SHA-256 and which is renamed when it \
      is complete and its digest is right. \
      When the command is interrupted, the same command resumes the download.\
      """
    },
    mixinStandardHelpOptions = true)
final class PullCommand extends CheckpointCommand.Subcommand {
  @Parameters(paramLabel = "ID", description = "The item.")
  private String id = "";

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE",
      description = "Where to write it. Default: the item's file name, in this folder.")
  private @Nullable Path output;

  @Option(names = "--force", description = "Replace a file that exists.")
  private boolean force;

  PullCommand(CommandEnvironment environment) {
    super(environment);
  }

  @Override
  protected void run() throws RefusedException {
    Service service = signedInOrAnybody();
    FoundItem found = FoundItem.of(service, id);
    JsonObject item = found.facts();
    if (found.isSet()) {
      throw new RefusedException(
          ExitCode.USAGE,
          "%s is a set of files; fetch it into a folder: bourse checkpoint fetch %s DIR"
              .formatted(id, id));
    }
    Path target = output == null ? named(item.getString("filename")) : output;
    if (!force && Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
      throw new RefusedException(ExitCode.REFUSED, target + " exists; --force replaces it");
    }
    if (Files.isDirectory(target) || target.getFileName() == null) {
      throw new RefusedException(ExitCode.USAGE, "-o: " + target + " is a folder; name a file");
    }
    new FileDownload(service, environment(), err()).fetch(found.path(), item, target);
    out().printf("%s  %s%n", target, Sizes.bytes(item.getLong("bytes")));
  }

  /**
   * A local file for an item's name, which a stranger chose: it must not lead to another folder or
   * hide the file.
   */
  private static Path named(String filename) throws RefusedException {
    boolean isPlain =
        !filename.isEmpty()
            && !filename.startsWith(".")
            && filename.chars().noneMatch(c -> c == '/' || c == '\\' || Character.isISOControl(c));
    if (!isPlain) {
      throw new RefusedException(
          ExitCode.USAGE,
          "the item's name, %s, cannot be used for a file; give -o"
              .formatted(Text.plain(filename)));
    }
    return Path.of(filename);
  }
}
