package dev.bourse.client.ssh;

import dev.bourse.client.transfer.CommandEnvironment;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine;

/** The commands that connect to nodes. */
public final class SshCommands {
  private SshCommands() {}

  /**
   * Adds {@code add}, which registers a public key from a file.
   *
   * @return the same command line
   */
  public static CommandLine addKeyTo(CommandLine keys, CommandEnvironment environment) {
    return keys.addSubcommand(new AddKeyCommand(environment));
  }

  /**
   * {@code ssh}, {@code ssh-config}, {@code run} and {@code cp}, each created on demand. The words
   * after the first one of {@code ssh} and {@code run} belong to the remote command, dashes
   * included.
   */
  public static Map<String, Supplier<CommandLine>> all(CommandEnvironment environment) {
    Map<String, Supplier<CommandLine>> all = new LinkedHashMap<>();
    all.put("ssh", () -> new SshCommand(environment).commandLine().setStopAtPositional(true));
    all.put("ssh-config", () -> new SshConfigCommand(environment).commandLine());
    all.put("run", () -> new RunCommand(environment).commandLine().setStopAtPositional(true));
    all.put("cp", () -> new CopyCommand(environment).commandLine());
    return all;
  }
}
