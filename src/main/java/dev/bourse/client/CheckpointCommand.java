package dev.bourse.client;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.core.Text;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.Refused;
import dev.bourse.remote.Service;
import io.vertx.core.json.JsonObject;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
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
      " 2:the command line is wrong",
      " 3:the service cannot be reached or cannot serve now; try again",
      " 4:the downloaded bytes are not those that were published"
    })
final class CheckpointCommand {
  /** How answers are printed. */
  enum Output {
    table,
    json
  }

  /** How many files are moved at once. */
  static final class Width {
    private static final int MOST = 16;

    @Option(
        names = "--parallel",
        paramLabel = "N",
        description = "How many files at a time, 1 to 16 (default: ${DEFAULT-VALUE}).",
        defaultValue = "4")
    private int parallel = 4;

    int get() throws Refused {
      if (parallel < 1 || parallel > MOST) {
        throw new Refused(
            ExitCode.USAGE, "--parallel: " + parallel + " is not between 1 and " + MOST);
      }
      return parallel;
    }
  }

  /** What its commands share. */
  abstract static class Subcommand extends MemberCommand {
    @Mixin private final ServiceOptions.WithToken token = new ServiceOptions.WithToken();

    Subcommand(CommandEnvironment environment) {
      super(environment);
    }

    /** The service with the member's token. */
    final Service signedIn() throws Refused {
      return token.service(url(), environment(), credentials());
    }

    /** Tells what was published. */
    final void told(JsonObject item) {
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
