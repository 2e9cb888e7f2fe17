package dev.bourse.client.ssh;

import dev.bourse.client.capacity.ClusterCommand;
import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** A command that connects to a cluster's nodes over ssh. */
abstract class NodeCommand extends ClusterCommand {
  @Option(
      names = {"-i", "--identity"},
      paramLabel = "FILE",
      description = "The private key to log in with. Default: those that ssh finds by itself.")
  private @Nullable Path identity;

  private int code = ExitCode.OK.code();

  NodeCommand(CommandEnvironment environment) {
    super(environment);
  }

  /** A cluster's capacity, and the ssh hosts of its active nodes. */
  record Reach(JsonObject capacity, Map<String, SshHost> hosts) {
    SshHost host(String node) throws RefusedException {
      SshHost host = hosts.get(node);
      if (host == null) {
        // The node was granted or released between the two answers.
        throw new RefusedException(
            ExitCode.UNAVAILABLE, node + " was granted or released just now; try again");
      }
      return host;
    }
  }

  final SshFiles files() {
    return new SshFiles(folder());
  }

  /** Reads the capacity and host keys from the service, and stores them in the files. */
  final Reach reach() throws RefusedException {
    Service service = signedIn();
    JsonObject capacity = capacity(service);
    JsonObject keys = hostKeys(service, capacity.getString("cluster"));
    return new Reach(capacity, files().replace(capacity, keys, identity()));
  }

  private @Nullable Path identity() throws RefusedException {
    if (identity != null && !Files.isReadable(identity)) {
      throw new RefusedException(ExitCode.USAGE, "-i: cannot read " + identity);
    }
    return identity == null ? null : identity.toAbsolutePath().normalize();
  }

  /** Sets the exit code of another program as the command's. */
  final void endWith(int exitCode) {
    code = exitCode;
  }

  @Override
  protected final int exitCode() {
    return code;
  }

  /** The start of an OpenSSH command line for a node, up to the remote part. */
  final List<String> open(String program, SshHost host, String... options) {
    List<String> command = new ArrayList<>(List.of(program));
    command.addAll(host.options(files().knownHosts()));
    command.addAll(List.of(options));
    return command;
  }

  /** Runs a program with this process's terminal, and returns its exit code. */
  static int run(List<String> command) throws RefusedException {
    try {
      return new ProcessBuilder(command).inheritIO().start().waitFor();
    } catch (IOException e) {
      throw missing(command.get(0));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RefusedException(ExitCode.UNAVAILABLE, "interrupted");
    }
  }

  static RefusedException missing(String program) {
    return new RefusedException(
        ExitCode.USAGE, "there is no '" + program + "' here; install OpenSSH's clients");
  }
}
