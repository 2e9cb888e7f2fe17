package dev.bourse.client.checkpoint;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.client.transfer.FileUpload;
import dev.bourse.client.transfer.LocalFile;
import dev.bourse.client.transfer.UploadStates;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import io.vertx.core.json.JsonObject;
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
      "Publishes files.",
      "",
      """
      A file of more than 32 MiB is sent in pieces. When the command is interrupted, the same \
      command resumes the upload, for as long as the service keeps what it has (7 days).\
      """
    },
    mixinStandardHelpOptions = true)
final class PushCommand extends CheckpointCommand.Subcommand {
  @Parameters(arity = "1..*", paramLabel = "FILE", description = "What to publish.")
  private List<Path> files = List.of();

  @Mixin private final PublicationOptions publication = new PublicationOptions();

  @Option(
      names = "--content-type",
      paramLabel = "TYPE",
      description = "The media type it is served with. Default: by the file's name.")
  private @Nullable String contentType;

  PushCommand(CommandEnvironment environment) {
    super(environment);
  }

  @Override
  protected void run() throws RefusedException {
    if (files.size() > 1 && publication.isOneItem()) {
      throw new RefusedException(
          ExitCode.USAGE,
          "--title and --replace ID take one file; %d are given".formatted(files.size()));
    }
    Service service = signedIn();
    UploadStates states = new UploadStates(folder());
    states.sweep(environment().clock().instant());
    FileUpload sending = new FileUpload(service, environment(), states, err());
    for (Path given : files) {
      LocalFile file = LocalFile.look(given);
      Optional<JsonObject> replaced = publication.replaced(service, file.name());
      if (replaced.isPresent() && isThere(file, replaced.get())) {
        printItem(replaced.get());
        err().println(file.name() + ": the organization has these bytes already; nothing is sent");
        continue;
      }
      printItem(sending.publish(file, announced(file, replaced)));
      printReviewNote(publication);
    }
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
