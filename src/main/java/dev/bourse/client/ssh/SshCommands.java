package dev.bourse.client.ssh;

import dev.bourse.client.transfer.CommandEnvironment;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
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

  /**
   * {@code ssh}, {@code ssh-config}, {@code run} and {@code cp}, each made when it is needed. What
   * follows the first word of {@code ssh} and {@code run} is of the command that runs on the node,
   * dashes and all.
   */
  public static Map<String, Supplier<CommandLine>> all(CommandEnvironment environment) {
    Map<String, Supplier<CommandLine>> all = new LinkedHashMap<>();
    all.put("ssh", () -> new CommandLine(new SshCommand(environment)).setStopAtPositional(true));
    all.put("ssh-config", () -> new CommandLine(new SshConfigCommand(environment)));
    all.put("run", () -> new CommandLine(new RunCommand(environment)).setStopAtPositional(true));
    all.put("cp", () -> new CommandLine(new CopyCommand(environment)));
    return all;
  }
}
