package dev.bourse.client.account;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code bourse logout}. */
@Command(
    name = "logout",
    description =
        "Ends the sign-in of bourse login at the service, and deletes its credentials here.",
    mixinStandardHelpOptions = true)
final class LogoutCommand extends MemberCommand {
  @Option(
      names = "--force",
      description = "Delete the credentials even when the service cannot be reached.")
  private boolean force;

  LogoutCommand(CommandEnvironment environment) {
    super(environment);
  }

  @Override
  protected void run() throws RefusedException {
    SignInProfile profile = profile();
    Service service = service();
    boolean[] was = new boolean[1];
    credentials()
        .update(
            profile,
            found -> {
              Account account = found.filter(Account::isSignedIn).orElse(null);
              if (account == null) {
                return null;
              }
              was[0] = true;
              try {
                revoke(service, account);
              } catch (RefusedException e) {
                if (!force) {
                  throw new RefusedException(
                      e.exitCode(),
                      e.getMessage()
                          + "\nYou are still signed in; --force deletes the credentials anyway");
                }
              }
              return account.signedOut();
            });
    out()
        .println(
            was[0]
                ? "Signed out at " + service.baseUrl() + "."
                : "Nobody was signed in at " + service.baseUrl() + ".");
  }

  /** Revokes a sign-in at the service (RFC 7009). */
  static void revoke(Service service, Account account) throws RefusedException {
    String token = account.refreshToken() != null ? account.refreshToken() : account.accessToken();
    if (token == null) {
      return;
    }
    ServerMetadata.Reply reply =
        ServerMetadata.ask(
            service,
            account.revocationEndpoint(),
            Map.of("client_id", account.clientId(), "token", token));
    if (!reply.isDone()) {
      throw reply.status() >= 500
          ? new RefusedException(ExitCode.UNAVAILABLE, "the service cannot end the sign-in now")
          : reply.refused("the service did not end the sign-in");
    }
  }
}
