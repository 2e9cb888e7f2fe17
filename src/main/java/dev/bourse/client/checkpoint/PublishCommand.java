package dev.bourse.client.checkpoint;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.client.transfer.LocalFolder;
import dev.bourse.client.transfer.SetUpload;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code bourse checkpoint publish}. */
@Command(
    name = "publish",
    description = {
      "Publishes a folder as a set: one item with all its files.",
      "",
      """
      Files whose bytes the organization has already are not sent again. When the command is \
      interrupted, the same command resumes it. Nobody sees a part of the set: it is there once all \
      its files are, and replaces the earlier set of this name at once.\
      """
    },
    mixinStandardHelpOptions = true)
final class PublishCommand extends CheckpointCommand.Subcommand {
  /** The number of skipped names that are printed. */
  private static final int SHOWN = 5;

  @Parameters(paramLabel = "DIR", description = "The folder.")
  private Path folder = Path.of("");

  @Mixin private final PublicationOptions publication = new PublicationOptions();

  @Option(
      names = "--hidden",
      description = "Take in files and folders whose names begin with a dot.")
  private boolean withHidden;

  @Mixin private final CheckpointCommand.Width width = new CheckpointCommand.Width();

  PublishCommand(CommandEnvironment environment) {
    super(environment);
  }

  @Override
  protected void run() throws RefusedException {
    Service service = signedIn();
    LocalFolder found = LocalFolder.look(folder, withHidden);
    printLeftOut(found.leftOut());
    printItem(
        new SetUpload(service, environment(), folder(), err(), width.get())
            .publish(
                found, publication.of(found.name(), publication.replaced(service, found.name()))));
    printReviewNote(publication);
  }

  private void printLeftOut(List<String> names) {
    if (names.isEmpty()) {
      return;
    }
    int more = names.size() - SHOWN;
    err()
        .printf(
            "left out, for their names begin with a dot (--hidden takes them in): %s%s%n",
            String.join(", ", names.subList(0, Math.min(SHOWN, names.size()))),
            more > 0 ? " and " + more + " more" : "");
  }
}
