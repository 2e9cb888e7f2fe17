package dev.bourse.client.ssh;

import dev.bourse.client.account.KnownNames;
import dev.bourse.client.capacity.NamedNode;
import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code bourse cp}. */
@Command(
    name = "cp",
    description = {
      "Copies files to a node or from one: bourse cp train.py 0:/root/.",
      "",
      "A place on a node is NODE:PATH, with the node's name, slot or address. Ends as scp does."
    },
    mixinStandardHelpOptions = true)
final class CopyCommand extends NodeCommand {
  @Parameters(arity = "2..*", paramLabel = "FROM... TO", description = "Files or NODE:PATH.")
  private List<String> places = List.of();

  @Option(names = "-r", description = "Folders with all that is in them.")
  private boolean isRecursive;

  CopyCommand(CommandEnvironment environment) {
    super(environment);
  }

  @Override
  protected List<String> offeredArguments(List<KnownNames.Node> nodes) {
    return nodes.stream().map(node -> node.name() + ':').toList();
  }

  @Override
  protected void run() throws RefusedException {
    Reach reach = reach();
    Set<String> named = new LinkedHashSet<>();
    List<String> copied = new ArrayList<>();
    for (String place : places) {
      int colon = place.indexOf(':');
      boolean isRemote = colon > 0 && place.lastIndexOf('/', colon) < 0;
      if (isRemote) {
        NamedNode node = NamedNode.find(reach.capacity(), place.substring(0, colon));
        named.add(node.name());
        copied.add(node.name() + place.substring(colon));
      } else {
        // A name that starts with a dash is still a file.
        copied.add(place.startsWith("-") ? "./" + place : place);
      }
    }
    if (named.size() != 1) {
      throw new RefusedException(
          ExitCode.USAGE,
          named.isEmpty()
              ? "neither side is on a node; write NODE:PATH for one"
              : "one node at a time; these are " + String.join(", ", named));
    }
    List<String> scp = open("scp", reach.host(named.iterator().next()));
    if (isRecursive) {
      scp.add("-r");
    }
    scp.add("--");
    scp.addAll(copied);
    endWith(run(scp));
  }
}
