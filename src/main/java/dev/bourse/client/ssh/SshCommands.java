package dev.bourse.client.ssh;

import dev.bourse.client.transfer.CommandEnvironment;
import picocli.CommandLine;

/** The commands that reach nodes. */
public final class SshCommands {
  private SshCommands() {}

  /**
   * Adds {@code add}, for a public key that is in a file.
   *
   * @return the same command line
   */
  public static CommandLine addKeyTo(CommandLine keys, CommandEnvironment environment) {
    return keys.addSubcommand(new AddKeyCommand(environment));
  }

  /** Adds {@code ssh}, {@code ssh-config}, {@code run} and {@code cp}. */
  public static void addTo(CommandLine line, CommandEnvironment environment) {
    // What follows the first word is of the command that runs on the node, dashes and all.
    line.addSubcommand(new CommandLine(new SshCommand(environment)).setStopAtPositional(true))
        .addSubcommand(new SshConfigCommand(environment))
        .addSubcommand(new CommandLine(new RunCommand(environment)).setStopAtPositional(true))
        .addSubcommand(new CopyCommand(environment));
  }
}
