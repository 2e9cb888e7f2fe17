package dev.bourse.client.account;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.core.Text;
import dev.bourse.remote.Credential;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code bourse login}. */
@Command(
    name = "login",
    description = {
      "Signs a member in: opens the browser, and waits until you allow it there.",
      "",
      """
      Without a display, over ssh and with --device it shows an address and a code instead, which \
      you allow in a browser anywhere.\
      """,
      "",
      """
      The credentials are kept in $XDG_CONFIG_HOME/bourse/credentials.json, or \
      ~/.config/bourse/credentials.json, which nobody else can read. They renew themselves.\
      """
    },
    mixinStandardHelpOptions = true)
final class LoginCommand extends MemberCommand {
  /** The scopes that the commands need, except org:write, because its holder can admit people. */
  private static final String EVERY_SCOPE =
      "capacity:read capacity:write bid:read bid:write billing:read org:read"
          + " checkpoints:read checkpoints:write";

  @Option(
      names = "--scope",
      paramLabel = "SCOPES",
      description =
          """
          What to ask for, separated by spaces; commands that need more are refused. Default: \
          ${DEFAULT-VALUE}. Commands that change the organization (its members, tokens, webhooks, \
          clusters, settings) also need org:write; to allow it, you must have signed in at the \
          browser within the last 10 minutes.\
          """,
      defaultValue = EVERY_SCOPE)
  private String scope = EVERY_SCOPE;

  @Option(
      names = "--device",
      description = "Show an address and a code, for a browser on any machine.")
  private boolean isByCode;

  @Option(
      names = "--no-browser",
      description = "Only print the address that a browser of this computer is to open.")
  private boolean isShownOnly;

  LoginCommand(CommandEnvironment environment) {
    super(environment);
  }

  @Override
  protected void run() throws RefusedException {
    SignInProfile profile = profileToBe();
    Service service = new Service(profile.url(), Credential.NONE);
    String url = service.baseUrl();
    if (isPlainElsewhere(url)) {
      err().println(url + " is not https: others on the network can read your token and data");
      err().flush();
    }
    CredentialFile credentials = credentials();
    Optional<Account> known = credentials.find(profile);
    Account account = signIn(profile, service);
    credentials.update(profile, stored -> account);
    out().println("Signed in at " + url + who(account.accessToken()) + ".");
    // The previous sign-in is no longer needed, and a copy of it should become useless.
    known.ifPresent(old -> giveBack(service, old));
  }

  private Account signIn(SignInProfile profile, Service service) throws RefusedException {
    if (isByCode && isShownOnly) {
      throw new RefusedException(
          ExitCode.USAGE, "--device opens no browser; leave out --no-browser");
    }
    Optional<CommandEnvironment.Browser> browser =
        isShownOnly ? Optional.empty() : environment().browser();
    if (!isByCode && (isShownOnly || browser.isPresent())) {
      Optional<Account> account =
          new BrowserLogin(service, environment(), out(), scope, browser).run(profile);
      if (account.isPresent()) {
        return account.get();
      }
      err().println(service.baseUrl() + " takes a code alone from this command line");
      err().flush();
    }
    return new DeviceLogin(service, environment(), out(), scope).run(profile);
  }

  private static void giveBack(Service service, Account old) {
    try {
      LogoutCommand.revoke(service, old);
    } catch (RefusedException e) {
      // The token expires in any case, and the requested new sign-in has succeeded.
      return;
    }
  }

  private static boolean isPlainElsewhere(String url) {
    String host = URI.create(url).getHost();
    return url.startsWith("http:")
        && !List.of("localhost", "127.0.0.1", "[::1]").contains(String.valueOf(host));
  }

  /** The member in the token, for display only. */
  private static String who(@Nullable String token) {
    List<String> parts = token == null ? List.of() : List.of(token.split("\\.", -1));
    if (parts.size() != 3) {
      return "";
    }
    try {
      JsonObject claims =
          new JsonObject(
              new String(Base64.getUrlDecoder().decode(parts.get(1)), StandardCharsets.UTF_8));
      Object member = claims.getValue("sub");
      Object organization = claims.getValue("org");
      return member == null || organization == null
          ? ""
          : Text.plain(" as " + member + " of " + organization);
    } catch (DecodeException | IllegalArgumentException e) {
      return "";
    }
  }
}
