package dev.bourse.app.commands;

import dev.bourse.admin.AdminCommand;
import dev.bourse.app.Config;
import dev.bourse.app.ProgramVersion;
import dev.bourse.blob.s3.S3Unusable;
import dev.bourse.client.MemberCommands;
import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.core.FailureText;
import dev.bourse.remote.Connections;
import dev.bourse.store.StoreRefused;
import dev.bourse.store.StoreUnavailable;
import dev.bourse.store.transfer.ExportFault;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The command line. Each command is a class of its own; what they share is here. */
@Command(
    name = "bourse",
    description = "A GPU-capacity exchange.",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class)
public final class Main {
  private static final Logger LOG = LoggerFactory.getLogger(Main.class);

  /** Exit code of a command that did not do its work; what it says on standard error tells why. */
  public static final int EXIT_REFUSED = 2;

  /** Exit code of a process one of whose event loops had stopped. */
  static final int EXIT_STUCK = 70;

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

  private Main() {}

  public static void main(String[] args) {
    if (args.length > 0 && args[0].equals(Completion.TYPED)) {
      // Without what makes a command: a person waits for it in the middle of a word.
      completion(CommandEnvironment.ofProcess())
          .candidates(List.of(args).subList(1, args.length))
          .forEach(System.out::println);
      return;
    }
    int code =
        plainServe(args)
            .map(Main::serve)
            .orElseGet(
                () -> {
                  CommandLine line =
                      commandsFor(args.length == 0 ? "" : args[0], CommandEnvironment.ofProcess());
                  return args.length == 0 ? usage(line) : line.execute(args);
                });
    Connections.close();
    if (code != 0) {
      System.exit(code);
    }
  }

  private static Optional<ServeArguments> plainServe(String[] args) {
    return args.length > 0 && args[0].equals("serve")
        ? ServeArguments.plain(List.of(args).subList(1, args.length))
        : Optional.empty();
  }

  private static int serve(ServeArguments given) {
    try {
      return new ServeCommand(given).call();
    } catch (Exception e) {
      return refuse("serve", e, new PrintWriter(System.err, true, Charset.defaultCharset()));
    }
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
    CommandLine line = new CommandLine(new Main());
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
    return addService(new CommandLine(new Main()));
  }

  /** Adds what runs a service. */
  private static CommandLine addService(CommandLine line) {
    SERVICE.forEach((name, made) -> line.addSubcommand(name, made.get()));
    return configured(line);
  }

  /** Whatever any command throws becomes a message and {@link #EXIT_REFUSED}. */
  private static CommandLine configured(CommandLine line) {
    return line
        // A word that begins with @ is meant as it is: in a command for a node, among others.
        .setExpandAtFiles(false)
        .setExecutionExceptionHandler(
            (failure, command, parsed) ->
                refuse(command.getCommandName(), failure, command.getErr()));
  }

  private static int refuse(String command, Exception failure, PrintWriter err) {
    if (!isExpected(failure)) {
      LOG.error("a fault of the program itself", failure);
    }
    err.println("bourse " + command + ": " + FailureText.of(failure));
    return EXIT_REFUSED;
  }

  private static int usage(CommandLine line) {
    line.usage(System.err);
    return EXIT_REFUSED;
  }

  /** Whether a failure is of the surroundings, so that its message says all there is to know. */
  static boolean isExpected(Throwable failure) {
    return failure instanceof Config.Faulty
        || failure instanceof ExportFault
        || failure instanceof IOException
        || failure instanceof UncheckedIOException
        || failure instanceof S3Unusable
        || failure instanceof StoreRefused
        || failure instanceof StoreUnavailable;
  }

  /** The version of the jar. */
  static final class Version implements CommandLine.IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {"bourse " + ProgramVersion.text()};
    }
  }
}
