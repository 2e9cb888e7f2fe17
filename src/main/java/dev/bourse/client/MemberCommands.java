package dev.bourse.client;

import dev.bourse.client.transfer.CommandEnvironment;
import picocli.CommandLine;

/** The members' commands. */
public final class MemberCommands {
  private MemberCommands() {}

  /**
   * Adds {@code login}, {@code logout} and {@code checkpoint}.
   *
   * @return the same command line
   */
  public static CommandLine addTo(CommandLine line, CommandEnvironment environment) {
    CommandLine checkpoint =
        new CommandLine(new CheckpointCommand())
            .addSubcommand(new PushCommand(environment))
            .addSubcommand(new PullCommand(environment))
            .addSubcommand(new PublishCommand(environment))
            .addSubcommand(new FetchCommand(environment))
            .addSubcommand(new ListCommand(environment))
            .addSubcommand(new ShowCommand(environment));
    return line.addSubcommand(new LoginCommand(environment))
        .addSubcommand(new LogoutCommand(environment))
        .addSubcommand(checkpoint);
  }
}
