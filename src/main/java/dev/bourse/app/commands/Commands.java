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

/** The command line. Each command is a class of its own; they come together here. */
@Command(
    name = "bourse",
    description = "A GPU-capacity exchange.",
    mixinStandardHelpOptions = true,
    versionProvider = Commands.Version.class)
public final class Commands {
  private static final List<String> OPERATORS = List.of("admin", "checkpoints");

  /** What needs no service, or is one; in the order in which help lists them. */
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

  /** Does what is typed; the exit code. */
  static int execute(String[] args) {
    CommandLine line = commandsFor(args.length == 0 ? "" : args[0], CommandEnvironment.ofProcess());
    return args.length == 0 ? usage(line) : line.execute(args);
  }

  /** What a shell is offered; see {@link Completion}. */
  static Completion completion(CommandEnvironment environment) {
    List<String> names = new ArrayList<>(MemberCommands.names(environment));
    names.addAll(OPERATORS);
    names.addAll(SERVICE.keySet());
    return new Completion(names, typed -> commandsFor(typed, environment));
  }

  /**
   * The command line for what is typed: the first word tells whose commands are needed, and nobody
   * waits until all are built.
   */
  static CommandLine commandsFor(String typed, CommandEnvironment environment) {
    CommandLine line = new CommandLine(new Commands());
    MemberCommands.addTo(line, environment, Optional.of(typed));
    if (line.getSubcommands().containsKey(typed)) {
      // A member's command; nobody waits until those of the service are made.
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

  /** The commands that need no contract. */
  public static CommandLine commandLine() {
    return addService(new CommandLine(new Commands()));
  }

  /** Adds what runs a service. */
  private static CommandLine addService(CommandLine line) {
    SERVICE.forEach((name, made) -> line.addSubcommand(name, made.get()));
    return configured(line);
  }

  /** Whatever any command throws becomes a message and {@link Main#EXIT_REFUSED}. */
  private static CommandLine configured(CommandLine line) {
    return line
        // A word that begins with @ is meant as it is: in a command for a node, among others.
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
