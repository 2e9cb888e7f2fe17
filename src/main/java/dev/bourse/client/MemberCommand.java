package dev.bourse.client;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.client.transfer.ConfigFolder;
import dev.bourse.remote.Credential;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.Refused;
import dev.bourse.remote.Service;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** What the members' commands share: where the service is, and how they end. */
abstract class MemberCommand implements Callable<Integer> {
  private final CommandEnvironment environment;

  @Mixin private final ServiceOptions options = new ServiceOptions();

  @Spec private CommandSpec spec;

  MemberCommand(CommandEnvironment environment) {
    this.environment = environment;
    // Set by picocli before anything is called.
    this.spec = CommandSpec.create();
  }

  /** Runs the command; a refusal ends it with its message and exit code. */
  abstract void run() throws Refused;

  @Override
  public final Integer call() {
    try {
      run();
      return ExitCode.OK.code();
    } catch (Refused refused) {
      err().println(refused.getMessage());
      return refused.exitCode().code();
    } finally {
      out().flush();
      err().flush();
    }
  }

  final CommandSpec spec() {
    return spec;
  }

  final PrintWriter out() {
    return spec.commandLine().getOut();
  }

  final PrintWriter err() {
    return spec.commandLine().getErr();
  }

  final CommandEnvironment environment() {
    return environment;
  }

  final ConfigFolder folder() {
    return new ConfigFolder(environment);
  }

  final CredentialFile credentials() {
    return new CredentialFile(folder());
  }

  /** The address of the service meant. */
  final String url() throws Refused {
    return options.url(environment, credentials());
  }

  /** The service without anybody's token. */
  final Service service() throws Refused {
    return new Service(url(), new NoCredential());
  }

  /** The credential of requests that need none. */
  private static final class NoCredential implements Credential {
    @Override
    public String token() throws Refused {
      throw new Refused(ExitCode.USAGE, advice());
    }

    @Override
    public String advice() {
      return "sign in first: bourse login";
    }
  }
}
