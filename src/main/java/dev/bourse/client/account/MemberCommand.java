package dev.bourse.client.account;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.client.transfer.ConfigFolder;
import dev.bourse.remote.Credential;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Function;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The common part of members' commands: service options and exit codes. */
public abstract class MemberCommand implements Callable<Integer> {
  private final CommandEnvironment environment;

  @Mixin private final ServiceOptions options = new ServiceOptions();

  @Spec private CommandSpec spec;

  protected MemberCommand(CommandEnvironment environment) {
    this.environment = environment;
    // Picocli replaces it before the call.
    this.spec = CommandSpec.create();
  }

  /** Runs the command; a refusal ends it with its message and exit code. */
  protected abstract void run() throws RefusedException;

  /** The exit code after a successful run; commands that run another program return its code. */
  protected int exitCode() {
    return ExitCode.OK.code();
  }

  @Override
  public final Integer call() {
    try {
      run();
      return exitCode();
    } catch (RefusedException refused) {
      err().println(refused.getMessage());
      return refused.exitCode().code();
    } finally {
      out().flush();
      err().flush();
    }
  }

  protected final CommandSpec spec() {
    return spec;
  }

  protected final PrintWriter out() {
    return spec.commandLine().getOut();
  }

  protected final PrintWriter err() {
    return spec.commandLine().getErr();
  }

  protected final CommandEnvironment environment() {
    return environment;
  }

  protected final ConfigFolder folder() {
    return new ConfigFolder(environment);
  }

  final CredentialFile credentials() {
    return new CredentialFile(environment);
  }

  /** The selected sign-in. */
  final SignInProfile profile() throws RefusedException {
    return options.profile(environment, credentials());
  }

  /** The profile for a new sign-in. */
  final SignInProfile profileToBe() throws RefusedException {
    return options.profileToBe(environment, credentials());
  }

  /** The names that commands saw with this sign-in. */
  protected final KnownNames known() throws RefusedException {
    return new KnownNames(folder(), profile());
  }

  /** The completions of a name; empty if the profile is unknown. */
  protected final List<String> offered(Function<KnownNames, List<String>> names) {
    try {
      return names.apply(known());
    } catch (RefusedException e) {
      return List.of();
    }
  }

  /** The service without a token. */
  protected final Service service() throws RefusedException {
    return new Service(profile().url(), Credential.NONE);
  }
}
