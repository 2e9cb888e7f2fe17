package dev.bourse.client.ssh;

import dev.bourse.client.account.KnownNames;
import dev.bourse.client.capacity.NamedNode;
import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.remote.RefusedException;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code bourse ssh}. */
@Command(
    name = "ssh",
    description = {
      "Logs in to a node, or runs a command there: bourse ssh 0 -- nvidia-smi.",
      "",
      "Ends with the exit code of ssh, which is the command's."
    },
    mixinStandardHelpOptions = true)
final class SshCommand extends NodeCommand {
  private static final String DASHES = "--";

  @Parameters(
      arity = "0..*",
      paramLabel = "[NODE] [-- COMMAND]",
      hideParamSyntax = true,
      description =
          """
          The node's name, slot or address, which is not needed where there is one; and what to run \
          there.\
          """)
  private List<String> words = List.of();

  SshCommand(CommandEnvironment environment) {
    super(environment);
  }

  /** Completes a node for the first word; the rest is the remote command. */
  @Override
  protected List<String> offeredArguments(List<KnownNames.Node> nodes) {
    return words.size() > 1 ? List.of() : nodes.stream().map(KnownNames.Node::name).toList();
  }

  @Override
  protected void run() throws RefusedException {
    boolean isOnlyCommand =
        !words.contains(DASHES)
            && spec().commandLine().getParseResult().originalArgs().contains(DASHES);
    String node = isOnlyCommand || words.isEmpty() ? null : words.get(0);
    List<String> command =
        isOnlyCommand
            ? words
            : words.stream().skip(1).dropWhile(word -> word.equals(DASHES)).toList();
    Reach reach = reach();
    NamedNode meant = NamedNode.find(reach.capacity(), node);
    List<String> ssh = open("ssh", reach.host(meant.name()));
    ssh.add(meant.name());
    ssh.addAll(command);
    endWith(run(ssh));
  }
}
