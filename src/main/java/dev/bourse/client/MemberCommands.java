package dev.bourse.client;

import picocli.CommandLine;

/** The members' commands. */
public final class MemberCommands {
  private MemberCommands() {}

  /**
   * Adds {@code login}, {@code logout} and {@code checkpoint}.
   *
   * @return the same command line
   */
  public static CommandLine addTo(CommandLine line, CommandEnvironment surroundings) {
    CommandLine checkpoint =
        new CommandLine(new CheckpointCommand())
            .addSubcommand(new PushCommand(surroundings))
            .addSubcommand(new PullCommand(surroundings))
            .addSubcommand(new ListCommand(surroundings));
    return line.addSubcommand(new LoginCommand(surroundings))
        .addSubcommand(new LogoutCommand(surroundings))
        .addSubcommand(checkpoint);
  }
}
