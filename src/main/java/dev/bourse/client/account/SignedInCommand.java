package dev.bourse.client.account;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import picocli.CommandLine.Mixin;

/** A command that needs a sign-in or a token. */
public abstract class SignedInCommand extends MemberCommand {
  @Mixin private final ServiceOptions.WithToken token = new ServiceOptions.WithToken();

  protected SignedInCommand(CommandEnvironment environment) {
    super(environment);
  }

  /** The service with the caller's token. */
  protected final Service signedIn() throws RefusedException {
    return token.service(profile(), environment(), credentials());
  }

  /**
   * The service with the caller's token, or without one if nobody is signed in, for public
   * operations.
   */
  protected final Service signedInOrAnybody() throws RefusedException {
    return token.serviceForAnybody(profile(), environment(), credentials());
  }
}
