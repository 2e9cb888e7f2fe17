package dev.bourse.client;

import dev.bourse.client.account.AccountCommands;
import dev.bourse.client.account.MemberCommandContext;
import dev.bourse.client.capacity.CapacityCommands;
import dev.bourse.client.capacity.DeclarationLosses;
import dev.bourse.client.checkpoint.CheckpointCommand;
import dev.bourse.client.ssh.SshCommands;
import dev.bourse.client.trail.TrailCommands;
import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.command.OperationCommand;
import dev.bourse.command.RemoteOperation;
import dev.bourse.contract.Contract;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** The commands for organizations and their members. */
public final class MemberCommands {

  /**
   * The nouns that group operations, with their contracts. Only the contracts of the typed noun are
   * read, because reading all takes longer than a command should.
   */
  private enum Noun {
    CLUSTERS("Clusters of the organization.", "console"),
    CAPACITY("Declarations and allocations of clusters, operation by operation.", "vm"),
    NODES("Held nodes: their host keys, swaps, and drills of a notice.", "vm"),
    ALERTS("Alert thresholds of a cluster.", "vm"),
    KEYS("SSH public keys with access to nodes.", "vm"),
    MARKET("Prices, supply and pools.", "market", "console"),
    K8S("Clusters of Kubernetes nodes, and bids for them.", "k8s"),
    BILLING("Balance, usage, statements and the monthly spend limit.", "billing", "console"),
    MEMBERS("Members, invitations and join rules.", "org", "console"),
    TOKENS("API tokens of the organization.", "org", "console"),
    APPLICATIONS("Applications with access to your account.", "console"),
    CREDENTIALS("Publishing credentials, with which jobs publish checkpoints.", "console"),
    SETTINGS("Requirements for the organization's API tokens.", "console"),
    MAILS("Events that the service mails you.", "console"),
    SESSIONS("Browsers in which you are signed in.", "console"),
    WEBHOOKS("Webhook endpoints and their deliveries.", "console"),
    TRAIL("The organization's audit trail and its stream.", "org", "console"),
    CHECKPOINT("Files and folders for the organization or for everybody.", "checkpoints"),
    FEED("The public feed of checkpoints, without sign-in.", "checkpoints"),
    METRICS("The organization's metrics for Prometheus.", "org"),
    ROADMAP("The operator's roadmap.", "org"),
    WHOAMI("The identity and the permissions of the token.", "org");

    private final String about;

    // Error Prone assumes that lists are mutable; this one is not.
    @SuppressWarnings("ImmutableEnumChecker")
    private final List<String> contracts;

    Noun(String about, String... contracts) {
      this.about = about;
      this.contracts = List.of(contracts);
    }

    String typed() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private MemberCommands() {}

  /**
   * Adds the requested command or, for another word, all commands in the order of help. Creating
   * every command would take longer than most of them run.
   *
   * @param typed the first word of the command line; empty to add all, complete
   * @return the same command line
   */
  public static CommandLine addTo(
      CommandLine line, CommandEnvironment environment, Optional<String> typed) {
    Map<String, Supplier<CommandLine>> all = byHand(environment);
    boolean isOne = typed.filter(name -> all.containsKey(name) || isNoun(name)).isPresent();
    boolean areWhole = isOne || typed.isEmpty();
    for (Noun noun : Noun.values()) {
      all.put(noun.typed(), () -> areWhole ? built(noun, environment) : named(noun));
    }
    if (isOne) {
      all.keySet().retainAll(Set.of(typed.orElseThrow()));
    }
    all.forEach((name, made) -> line.addSubcommand(name, made.get()));
    return line.setCaseInsensitiveEnumValuesAllowed(true);
  }

  private static Map<String, Supplier<CommandLine>> byHand(CommandEnvironment environment) {
    Map<String, Supplier<CommandLine>> all = new LinkedHashMap<>();
    all.putAll(AccountCommands.all(environment));
    all.putAll(CapacityCommands.all(environment));
    all.putAll(SshCommands.all(environment));
    return all;
  }

  /** The names of all commands, without creating any. */
  public static List<String> names(CommandEnvironment environment) {
    return Stream.concat(
            byHand(environment).keySet().stream(), Stream.of(Noun.values()).map(Noun::typed))
        .toList();
  }

  private static boolean isNoun(String name) {
    return Stream.of(Noun.values()).anyMatch(noun -> noun.typed().equals(name));
  }

  /** A noun with only its help text. */
  private static CommandLine named(Noun noun) {
    CommandSpec spec = CommandSpec.create().name(noun.typed()).mixinStandardHelpOptions(true);
    spec.usageMessage().description(noun.about);
    return new CommandLine(spec);
  }

  private static CommandLine built(Noun noun, CommandEnvironment environment) {
    List<RemoteOperation> operations = new ArrayList<>();
    for (String contract : noun.contracts) {
      RemoteOperation.listOfCommands(Contract.resolvedDocument(contract)).stream()
          .filter(operation -> operation.noun().equals(noun.typed()))
          .forEach(operations::add);
    }
    if (operations.get(0).command().equals(noun.typed())) {
      return new CommandLine(command(operations.get(0), environment));
    }
    CommandLine line = byHand(noun, environment);
    for (RemoteOperation operation : operations) {
      // A handwritten command, such as one that sends a file in pieces, takes precedence.
      if (!line.getSubcommands().containsKey(operation.verb())) {
        line.addSubcommand(operation.verb(), command(operation, environment));
      }
    }
    return line;
  }

  /** A noun with its handwritten commands, which combine several operations. */
  private static CommandLine byHand(Noun noun, CommandEnvironment environment) {
    return switch (noun) {
      case CHECKPOINT -> CheckpointCommand.create(environment);
      case TRAIL -> TrailCommands.addTo(named(noun));
      case KEYS -> SshCommands.addKeyTo(named(noun), environment);
      default -> named(noun);
    };
  }

  /** Returns the command of an operation; a declaring command also shows the declaration's cost. */
  private static OperationCommand operationCommand(
      MemberCommandContext caller, RemoteOperation operation, CommandEnvironment environment) {
    return switch (operation.operationId()) {
      case "declareCapacity" ->
          new OperationCommand(
              caller, operation, DeclarationLosses.ofCapacity(environment.clock()));
      case "writeBid" ->
          new OperationCommand(caller, operation, DeclarationLosses.ofBid(environment.clock()));
      default -> new OperationCommand(caller, operation);
    };
  }

  private static CommandSpec command(RemoteOperation operation, CommandEnvironment environment) {
    MemberCommandContext caller = new MemberCommandContext(environment);
    CommandSpec spec = operationCommand(caller, operation, environment).spec();
    spec.addMixin("caller", CommandSpec.forAnnotatedObject(caller));
    return spec;
  }
}
