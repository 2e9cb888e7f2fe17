package dev.bourse.client;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.core.Text;
import dev.bourse.remote.Credential;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.Refused;
import dev.bourse.remote.Service;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which service is meant. */
final class ServiceOptions {
  private static final String BY_DEFAULT = "http://localhost:8080";

  @Option(
      names = "--url",
      paramLabel = "URL",
      description =
          "The service's address (environment: BOURSE_URL; default: where you signed in last).")
  private @Nullable String url;

  /** The address meant, without a slash at its end. */
  String url(CommandEnvironment environment, CredentialFile credentials) throws Refused {
    String given = url != null ? url : environment.variables().getOrDefault("BOURSE_URL", "");
    if (given.isBlank()) {
      given = credentials.current().orElse(BY_DEFAULT);
    }
    String address = given.strip().replaceAll("/+$", "");
    try {
      URI uri = new URI(address);
      boolean isHttp = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
      if (isHttp && uri.getHost() != null && uri.getUserInfo() == null) {
        return address;
      }
    } catch (URISyntaxException e) {
      throw notAnAddress(given, e);
    }
    throw notAnAddress(given, null);
  }

  private static Refused notAnAddress(String given, @Nullable Exception cause) {
    Refused refused =
        new Refused(
            ExitCode.USAGE, "--url: " + Text.plain(given) + " is not http(s)://host[:port]");
    if (cause != null) {
      refused.initCause(cause);
    }
    return refused;
  }

  /** The service with a token, where one may be given by hand. */
  static final class WithToken {
    @Option(
        names = "--token-file",
        paramLabel = "FILE",
        description =
            """
            A file with a member's token, or an organization's for reading, instead of bourse login \
            (environment: BOURSE_TOKEN holds the token itself).\
            """)
    private @Nullable Path tokenFile;

    Service service(String url, CommandEnvironment environment, CredentialFile credentials)
        throws Refused {
      return new Service(url, credential(url, environment, credentials));
    }

    private Credential credential(
        String url, CommandEnvironment environment, CredentialFile credentials) throws Refused {
      if (tokenFile != null) {
        return given(read(tokenFile), "--token-file");
      }
      String variable = environment.variables().getOrDefault("BOURSE_TOKEN", "").strip();
      return variable.isEmpty()
          ? new StoredCredential(credentials, url, environment)
          : given(variable, "BOURSE_TOKEN");
    }

    private static Credential given(String token, String where) throws Refused {
      if (token.isEmpty() || !token.chars().allMatch(c -> c > ' ' && c < 127)) {
        throw new Refused(
            ExitCode.USAGE, where + " holds no token: expected one line without spaces");
      }
      return Credential.of(
          token,
          "%s must hold a member's token, or an organization's for reading; bourse login gets one"
              .formatted(where));
    }

    private static String read(Path file) throws Refused {
      try {
        return Files.readString(file).strip();
      } catch (IOException e) {
        throw new Refused(ExitCode.USAGE, "cannot read " + file + ": " + e);
      }
    }
  }
}
