package dev.bourse.app.commands;

import dev.bourse.admin.AdminCommand;
import dev.bourse.app.ProgramVersion;
import dev.bourse.client.MemberCommands;
import dev.bourse.client.transfer.CommandEnvironment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The command line, composed of one class for each command. */
@Command(
    name = "bourse",
    description = "A GPU-capacity exchange.",
    mixinStandardHelpOptions = true,
    versionProvider = Commands.Version.class)
public final class Commands {
  private static final List<String> OPERATORS = List.of("admin", "checkpoints");

  /** Commands that run a service or need none, in the order of help. */
  private static final Map<String, Supplier<Object>> SERVICE = new LinkedHashMap<>();

  static {
    SERVICE.put("serve", ServeCommand::new);
    SERVICE.put("migrate", MigrateCommand::new);
    SERVICE.put("doctor", DoctorCommand::new);
    SERVICE.put("backup", BackupCommand::new);
    SERVICE.put("restore", RestoreCommand::new);
    SERVICE.put("export", ExportCommand::new);
    SERVICE.put("import", ImportCommand::new);
    SERVICE.put("completion", CompletionCommand::new);
  }

  private Commands() {}

  /** Executes a command line and returns the exit code. */
  static int execute(String[] args) {
    CommandLine line = commandsFor(args.length == 0 ? "" : args[0], CommandEnvironment.ofProcess());
    return args.length == 0 ? usage(line) : line.execute(args);
  }

  /** The shell completions; see {@link ShellCompletion}. */
  static ShellCompletion completion(CommandEnvironment environment) {
    List<String> names = new ArrayList<>(MemberCommands.names(environment));
    names.addAll(OPERATORS);
    names.addAll(SERVICE.keySet());
    return new ShellCompletion(names, typed -> commandsFor(typed, environment));
  }

  /**
   * The command line for a typed text. The first word decides which commands are needed, because
   * building all of them takes time.
   */
  static CommandLine commandsFor(String typed, CommandEnvironment environment) {
    CommandLine line = new CommandLine(new Commands());
    MemberCommands.addTo(line, environment, Optional.of(typed));
    if (line.getSubcommands().containsKey(typed)) {
      // A member's command does not need the service's commands.
      return configured(line);
    }
    for (String name : OPERATORS) {
      line.addSubcommand(
          name,
          !typed.equals(name)
              ? AdminCommand.named(name)
              : name.equals("admin")
                  ? AdminCommand.create(environment.variables())
                  : AdminCommand.createNoun(name, environment.variables()));
    }
    return addService(line);
  }

  /** The commands that are not built from contracts. */
  public static CommandLine commandLine() {
    return addService(new CommandLine(new Commands()));
  }

  /** Adds the commands that run a service. */
  private static CommandLine addService(CommandLine line) {
    SERVICE.forEach((name, made) -> line.addSubcommand(name, made.get()));
    return configured(line);
  }

  /** Turns every exception of a command into a message and {@link Main#EXIT_REFUSED}. */
  private static CommandLine configured(CommandLine line) {
    return line
        // A word that starts with @ is literal, for example in a command for a node.
        .setExpandAtFiles(false)
        .setExecutionExceptionHandler(
            (failure, command, parsed) ->
                Main.refuse(command.getCommandName(), failure, command.getErr()));
  }

  private static int usage(CommandLine line) {
    line.usage(System.err);
    return Main.EXIT_REFUSED;
  }

  /** The version of the jar. */
  static final class Version implements CommandLine.IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {"bourse " + ProgramVersion.text()};
    }
  }
}
