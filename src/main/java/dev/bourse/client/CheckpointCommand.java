package dev.bourse.client;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.remote.Refused;
import dev.bourse.remote.Service;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code bourse checkpoint}: an organization's published files. */
@Command(
    name = "checkpoint",
    description = "Publishes files for the organization or for everybody, and downloads them.",
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
  }
}
