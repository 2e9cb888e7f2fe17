package dev.bourse.client.checkpoint;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.client.transfer.SetDownload;
import dev.bourse.core.Sizes;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code bourse checkpoint fetch}. */
@Command(
    name = "fetch",
    description = {
      "Fetches a set of the organization or of the public feed into a folder.",
      "",
      """
      Only files that are not there yet are fetched; each appears under its name when it is complete \
      and its digest is right. When the command is interrupted, the same command resumes it. Other \
      files of the folder stay as they are.\
      """
    },
    mixinStandardHelpOptions = true)
final class FetchCommand extends CheckpointCommand.Subcommand {
  @Parameters(index = "0", paramLabel = "ID", description = "The item.")
  private String id = "";

  @Parameters(
      index = "1",
      paramLabel = "DIR",
      description = "The folder its files go to; it is made when it is not there.")
  private Path folder = Path.of("");

  @Option(names = "--force", description = "Replace files that are there with other bytes.")
  private boolean force;

  @Mixin private final CheckpointCommand.Width width = new CheckpointCommand.Width();

  FetchCommand(CommandEnvironment environment) {
    super(environment);
  }

  @Override
  protected void run() throws RefusedException {
    Service service = signedInOrAnybody();
    FoundItem found = FoundItem.of(service, id);
    if (!found.isSet()) {
      throw new RefusedException(
          ExitCode.USAGE,
          "%s is one file; download it: bourse checkpoint pull %s".formatted(id, id));
    }
    SetDownload.Outcome outcome =
        new SetDownload(service, environment(), folder(), err(), width.get())
            .fetch(found.path(), found.facts(), folder.toAbsolutePath().normalize(), force);
    out()
        .printf(
            "%s  %d files, %d of them fetched, %s%n",
            folder, outcome.files(), outcome.fetched(), Sizes.bytes(outcome.bytes()));
  }
}
