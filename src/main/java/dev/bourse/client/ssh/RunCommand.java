package dev.bourse.client.ssh;

import dev.bourse.client.capacity.NamedNode;
import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.core.Text;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code bourse run}. */
@Command(
    name = "run",
    description = {
      "Runs a command on every active node of a cluster: bourse run -- hostname.",
      "",
      """
      Each line of output begins with the node's name. Ends with 0 when it ended with 0 everywhere, \
      else with the highest exit code.\
      """
    },
    mixinStandardHelpOptions = true)
final class RunCommand extends NodeCommand {
  private static final int MOST_PARALLEL = 256;

  @Parameters(arity = "1..*", paramLabel = "-- COMMAND", description = "What to run there.")
  private List<String> command = List.of();

  @Option(
      names = "--parallel",
      paramLabel = "N",
      description = "On how many nodes at a time, 1 to 256 (default: ${DEFAULT-VALUE}).",
      defaultValue = "32")
  private int parallel = 32;

  RunCommand(CommandEnvironment environment) {
    super(environment);
  }

  @Override
  protected void run() throws RefusedException {
    if (parallel < 1 || parallel > MOST_PARALLEL) {
      throw new RefusedException(
          ExitCode.USAGE, "--parallel: " + parallel + " is not between 1 and " + MOST_PARALLEL);
    }
    Reach reach = reach();
    List<NamedNode> nodes = NamedNode.active(reach.capacity());
    if (nodes.isEmpty()) {
      throw new RefusedException(
          ExitCode.REFUSED,
          "cluster %s has no active node; bourse status shows what it waits for"
              .formatted(reach.capacity().getString("cluster")));
    }
    // Looks up all hosts before connecting to any, so that a failed look-up has no side effects.
    List<SshHost> hosts = new ArrayList<>();
    for (NamedNode node : nodes) {
      hosts.add(reach.host(node.name()));
    }
    int width = nodes.stream().mapToInt(node -> node.name().length()).max().orElse(0);
    ExecutorService threads = Executors.newFixedThreadPool(Math.min(parallel, nodes.size()));
    try {
      List<Future<Integer>> ends = new ArrayList<>();
      for (SshHost host : hosts) {
        String prefix = host.name() + " ".repeat(width - host.name().length()) + " | ";
        ends.add(threads.submit(() -> runOn(host, prefix)));
      }
      endWith(highest(nodes, ends));
    } finally {
      threads.shutdownNow();
    }
  }

  private int highest(List<NamedNode> nodes, List<Future<Integer>> ends) throws RefusedException {
    int highest = 0;
    for (int i = 0; i < ends.size(); i++) {
      int code = end(ends.get(i));
      if (code != 0) {
        err().println(nodes.get(i).name() + ": exit code " + code);
      }
      highest = Math.max(highest, code);
    }
    return highest;
  }

  private static int end(Future<Integer> running) throws RefusedException {
    try {
      return running.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RefusedException refused) {
        throw refused;
      }
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RefusedException(ExitCode.UNAVAILABLE, "interrupted");
    }
  }

  private int runOn(SshHost host, String prefix) throws RefusedException {
    // Disables prompts, because nobody can answer for several nodes at once.
    List<String> ssh = open("ssh", host, "-n", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20");
    ssh.add(host.name());
    ssh.addAll(command);
    Process process;
    try {
      process = new ProcessBuilder(ssh).start();
    } catch (IOException e) {
      throw missing("ssh");
    }
    Thread errors = new Thread(() -> pass(process.getErrorStream(), prefix, err()));
    errors.setDaemon(true);
    errors.start();
    try {
      pass(process.getInputStream(), prefix, out());
      errors.join();
      return process.waitFor();
    } catch (InterruptedException e) {
      process.destroy();
      Thread.currentThread().interrupt();
      throw new RefusedException(ExitCode.UNAVAILABLE, "interrupted");
    }
  }

  private static void pass(InputStream lines, String prefix, PrintWriter to) {
    try (BufferedReader reader =
        new BufferedReader(new InputStreamReader(lines, StandardCharsets.UTF_8))) {
      String line;
      while ((line = reader.readLine()) != null) {
        // One call per line, so that lines of several nodes do not mix.
        to.print(prefix + Text.plain(line) + '\n');
        to.flush();
      }
    } catch (IOException e) {
      // The process ended; its exit code is reported.
      return;
    }
  }
}
