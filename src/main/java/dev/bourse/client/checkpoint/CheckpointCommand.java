package dev.bourse.client.checkpoint;

import dev.bourse.client.account.SignedInCommand;
import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.core.Text;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import io.vertx.core.json.JsonObject;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code bourse checkpoint}: an organization's published files. */
@Command(
    name = "checkpoint",
    description =
        "Publishes files and folders for the organization or for everybody, and downloads them.",
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      " 0:done",
      " 1:refused; the same command will be refused again",
      " 2:the command line is wrong, or no terminal to confirm on; add --yes",
      " 3:the service cannot be reached or cannot serve now; try again",
      " 4:the downloaded bytes are not those that were published"
    })
public final class CheckpointCommand {
  private CheckpointCommand() {}

  /** The command and its subcommands. */
  public static CommandLine create(CommandEnvironment environment) {
    return new CommandLine(new CheckpointCommand())
        .addSubcommand(new PushCommand(environment))
        .addSubcommand(new PullCommand(environment))
        .addSubcommand(new ListCommand(environment))
        .addSubcommand(new ShowCommand(environment));
  }

  /** Output formats. */
  enum Output {
    table,
    json
  }

  /** The option for the number of parallel transfers. */
  static final class Width {
    private static final int MOST = 16;

    @Option(
        names = "--parallel",
        paramLabel = "N",
        description = "How many files at a time, 1 to 16 (default: ${DEFAULT-VALUE}).",
        defaultValue = "4")
    private int parallel = 4;

    int get() throws RefusedException {
      if (parallel < 1 || parallel > MOST) {
        throw new RefusedException(
            ExitCode.USAGE, "--parallel: " + parallel + " is not between 1 and " + MOST);
      }
      return parallel;
    }
  }

  /** The common part of its subcommands. */
  abstract static class Subcommand extends SignedInCommand {
    Subcommand(CommandEnvironment environment) {
      super(environment);
    }

    /** Prints that a publication for everybody awaits a review. */
    final void printReviewNote(PublicationOptions publication) {
      if (publication.isPublic()) {
        err()
            .println(
                "It is on the feed when an operator has approved it; bourse checkpoint show shows"
                    + " the state of the review, and the reason if it was rejected.");
      }
    }

    /** Prints the published item. */
    final void printItem(JsonObject item) {
      Integer files = item.getInteger("files");
      out()
          .printf(
              "%s  %s  revision %d, %s%s  sha256 %s%n",
              Text.plain(item.getString("id")),
              Text.plain(item.getString("filename")),
              item.getLong("revision"),
              Text.plain(item.getString("status")),
              files == null ? "" : ", " + files + " files",
              Text.plain(item.getString("sha256")));
      out().flush();
    }
  }
}
