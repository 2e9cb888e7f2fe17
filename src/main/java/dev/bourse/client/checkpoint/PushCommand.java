package dev.bourse.client.checkpoint;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.client.transfer.FileUpload;
import dev.bourse.client.transfer.LocalFile;
import dev.bourse.client.transfer.LocalFolder;
import dev.bourse.client.transfer.SetUpload;
import dev.bourse.client.transfer.UploadStates;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code bourse checkpoint push}. */
@Command(
    name = "push",
    description = {
      "Publishes files and folders. Each file is one item, and so is each folder with all its files.",
      "",
      """
      When the command is interrupted, the same command resumes the upload, for as long as the \
      service keeps the received bytes (7 days). Files of a folder whose bytes the organization \
      already has are not sent again. The folder appears, or replaces the earlier one of its name, \
      when all its files are there.\
      """
    },
    mixinStandardHelpOptions = true)
final class PushCommand extends CheckpointCommand.Subcommand {
  /** The number of skipped names that are printed. */
  private static final int SHOWN = 5;

  @Parameters(arity = "1..*", paramLabel = "PATH", description = "The files and folders.")
  private List<Path> paths = List.of();

  @Mixin private final PublicationOptions publication = new PublicationOptions();

  @Option(
      names = "--content-type",
      paramLabel = "TYPE",
      description = "The media type a file is served with. Default: by its name.")
  private @Nullable String contentType;

  @Option(
      names = "--hidden",
      description = "Include files and folders inside a folder whose names begin with a dot.")
  private boolean withHidden;

  @Mixin private final CheckpointCommand.Width width = new CheckpointCommand.Width();

  PushCommand(CommandEnvironment environment) {
    super(environment);
  }

  @Override
  protected void run() throws RefusedException {
    int parallel = width.get();
    if (paths.size() > 1 && publication.isOneItem()) {
      throw new RefusedException(
          ExitCode.USAGE,
          "--title and --replace ID take one file or folder; %d are given".formatted(paths.size()));
    }
    if (contentType != null && paths.stream().anyMatch(Files::isDirectory)) {
      throw new RefusedException(ExitCode.USAGE, "--content-type takes files, not folders");
    }
    Service service = signedIn();
    UploadStates states = new UploadStates(folder());
    states.sweep(environment().clock().instant());
    FileUpload files = new FileUpload(service, environment(), states, err());
    SetUpload sets = new SetUpload(service, environment(), folder(), err(), parallel);
    for (Path path : paths) {
      if (Files.isDirectory(path)) {
        pushFolder(service, sets, path);
      } else {
        pushFile(service, files, path);
      }
    }
  }

  private void pushFile(Service service, FileUpload files, Path path) throws RefusedException {
    LocalFile file = LocalFile.look(path);
    Optional<JsonObject> replaced = publication.replaced(service, file.name());
    if (replaced.isPresent() && isThere(file, replaced.get())) {
      printItem(replaced.get());
      err().println(file.name() + ": the organization has these bytes already; nothing is sent");
      return;
    }
    printItem(files.publish(file, announced(file, replaced)));
    printReviewNote(publication);
  }

  private void pushFolder(Service service, SetUpload sets, Path path) throws RefusedException {
    LocalFolder found = LocalFolder.look(path, withHidden);
    printLeftOut(found.leftOut());
    Optional<JsonObject> replaced = publication.replaced(service, found.name());
    printItem(sets.publish(found, publication.of(found.name(), replaced)));
    printReviewNote(publication);
  }

  private void printLeftOut(List<String> names) {
    if (names.isEmpty()) {
      return;
    }
    int more = names.size() - SHOWN;
    err()
        .printf(
            "left out because their names begin with a dot (--hidden includes them): %s%s%n",
            String.join(", ", names.subList(0, Math.min(SHOWN, names.size()))),
            more > 0 ? " and " + more + " more" : "");
  }

  /** Computes the digest only if the lengths are equal. */
  private boolean isThere(LocalFile file, JsonObject item) throws RefusedException {
    return contentType == null
        && Long.valueOf(file.size()).equals(item.getLong("bytes"))
        && publication.changesNothing(item, file.size(), file.sha256());
  }

  private JsonObject announced(LocalFile file, Optional<JsonObject> replaced) {
    return publication
        .of(file.name(), replaced)
        .put("content_type", contentType == null ? file.contentType() : contentType);
  }
}
