package dev.bourse.client.account;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.client.transfer.ConfigFolder;
import dev.bourse.remote.Credential;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.Refused;
import dev.bourse.remote.Service;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Function;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** What the members' commands share: where the service is, and how they end. */
public abstract class MemberCommand implements Callable<Integer> {
  private final CommandEnvironment environment;

  @Mixin private final ServiceOptions options = new ServiceOptions();

  @Spec private CommandSpec spec;

  protected MemberCommand(CommandEnvironment environment) {
    this.environment = environment;
    // Set by picocli before anything is called.
    this.spec = CommandSpec.create();
  }

  /** Runs the command; a refusal ends it with its message and exit code. */
  protected abstract void run() throws Refused;

  /** What a command that has run ends with; another command's, where it is a frame for that. */
  protected int exitCode() {
    return ExitCode.OK.code();
  }

  @Override
  public final Integer call() {
    try {
      run();
      return exitCode();
    } catch (Refused refused) {
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

  /** The sign-in meant. */
  final Profile profile() throws Refused {
    return options.profile(environment, credentials());
  }

  /** The sign-in to be made. */
  final Profile profileToBe() throws Refused {
    return options.profileToBe(environment, credentials());
  }

  /** The names that commands saw with this sign-in. */
  protected final KnownNames known() throws Refused {
    return new KnownNames(folder(), profile());
  }

  /** What is offered for a name that is completed; nothing where it is not known who asks. */
  protected final List<String> offered(Function<KnownNames, List<String>> names) {
    try {
      return names.apply(known());
    } catch (Refused e) {
      return List.of();
    }
  }

  /** The service without anybody's token. */
  protected final Service service() throws Refused {
    return new Service(profile().url(), Credential.NONE);
  }
}
