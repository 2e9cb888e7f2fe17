package dev.bourse.client.capacity;

import dev.bourse.client.account.KnownNames;
import dev.bourse.client.account.SignedInCommand;
import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Option;

/** A command on one VM cluster. */
public abstract class ClusterCommand extends SignedInCommand {
  static final String CAPACITY = "/api/vm/capacity";
  static final String VM = "vm";

  @Option(
      names = {"-c", "--cluster"},
      paramLabel = "NAME",
      description =
          """
          The cluster meant (environment: BOURSE_CLUSTER); needed only where the organization has \
          several.\
          """)
  private @Nullable String cluster;

  protected ClusterCommand(CommandEnvironment environment) {
    super(environment);
  }

  /** The command line, with completion of known names. */
  public final CommandLine commandLine() {
    CommandLine line = new CommandLine(this);
    CommandSpec command = line.getCommandSpec();
    OptionSpec named = command.findOption("-c");
    command.remove(named);
    command.addOption(
        OptionSpec.builder(named)
            .completionCandidates(
                () -> offered(known -> known.clusters(Optional.of(VM))).iterator())
            .build());
    for (PositionalParamSpec argument : List.copyOf(command.positionalParameters())) {
      command.remove(argument);
      command.addPositional(
          PositionalParamSpec.builder(argument)
              .completionCandidates(
                  () -> offered(known -> offeredArguments(known.nodes(clusterNamed()))).iterator())
              .build());
    }
    return line;
  }

  /**
   * Returns the completions of a positional argument after the line parsed so far.
   *
   * @param nodes the known nodes of the selected cluster
   */
  protected List<String> offeredArguments(List<KnownNames.Node> nodes) {
    return List.of();
  }

  /** The named cluster; empty when none was named. */
  protected final Optional<String> clusterNamed() {
    String variable = environment().variables().getOrDefault("BOURSE_CLUSTER", "");
    return cluster != null
        ? Optional.of(cluster)
        : Optional.of(variable).filter(name -> !name.isBlank());
  }

  /** A path of the selected cluster, without the cluster's name if none was given. */
  protected final String about(String path) {
    return clusterNamed()
        .map(name -> path + (path.contains("?") ? '&' : '?') + "cluster=" + Service.encoded(name))
        .orElse(path);
  }

  /** The selected cluster's current capacity. */
  protected final JsonObject capacity(Service service) throws RefusedException {
    JsonObject capacity = service.call("GET", about(CAPACITY), null);
    learn(capacity);
    return capacity;
  }

  /** Stores the names of a cluster's nodes for shell completion. */
  final void learn(JsonObject capacity) throws RefusedException {
    String name = capacity.getString("cluster");
    known()
        .learnNodes(
            name,
            NamedNode.active(capacity).stream()
                .map(node -> new KnownNames.Node(name, node.name(), String.valueOf(node.address())))
                .toList());
  }

  /** The capacity of a named cluster. */
  protected static JsonObject capacity(Service service, String cluster) throws RefusedException {
    return service.call("GET", CAPACITY + "?cluster=" + Service.encoded(cluster), null);
  }

  /** The host keys of a cluster's nodes. */
  protected static JsonObject hostKeys(Service service, String cluster) throws RefusedException {
    String path = CAPACITY + "/host-keys?cluster=" + Service.encoded(cluster);
    return service.call("GET", path, null);
  }
}
