package dev.bourse.client;

import dev.bourse.remote.Refused;
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

/** {@code bourse login}. */
@Command(
    name = "login",
    description = {
      "Signs a member in: shows an address and a code, and waits until the code is allowed there.",
      "",
      "What comes of it is kept in $XDG_CONFIG_HOME/bourse/credentials.json, or"
          + " ~/.config/bourse/credentials.json, which nobody else can read, and renewed by itself."
    },
    mixinStandardHelpOptions = true)
final class LoginCommand extends MemberCommand {
  LoginCommand(CommandEnvironment surroundings) {
    super(surroundings);
  }

  @Override
  void run() throws Refused {
    Service service = service();
    String url = service.baseUrl();
    if (isPlainElsewhere(url)) {
      err().println(url + " is not https: what is sent there can be read on its way");
      err().flush();
    }
    CredentialFile credentials = credentials();
    Optional<Account> known = credentials.find(url);
    Account account = new DeviceLogin(service, surroundings(), out()).run();
    credentials.update(url, stored -> account);
    out().println("Signed in at " + url + who(account.accessToken()) + ".");
    // Nobody can use it any more but for whoever copied it.
    known.ifPresent(old -> giveBack(service, old));
  }

  private static void giveBack(Service service, Account old) {
    try {
      LogoutCommand.revoke(service, old);
    } catch (Refused e) {
      // It ends by itself in time; the new sign-in is what was asked for.
      return;
    }
  }

  private static boolean isPlainElsewhere(String url) {
    String host = URI.create(url).getHost();
    return url.startsWith("http:")
        && !List.of("localhost", "127.0.0.1", "[::1]").contains(String.valueOf(host));
  }

  /** Who the token says that is: for people to read, and nothing goes by it. */
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
          : ServerMetadata.plain(" as " + member + " of " + organization);
    } catch (DecodeException | IllegalArgumentException e) {
      return "";
    }
  }
}
