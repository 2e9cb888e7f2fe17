package dev.bourse.client.account;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.command.CertificateOptions;
import dev.bourse.core.Text;
import dev.bourse.remote.Credential;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.IoWords;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options that select the service and the sign-in. */
final class ServiceOptions {
  private static final String BY_DEFAULT = "http://localhost:8080";

  private static final Pattern PROFILE_NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}");

  @Option(
      names = "--url",
      paramLabel = "URL",
      description =
          "The service's address (environment: BOURSE_URL; default: where you signed in last).")
  private @Nullable String url;

  @Option(
      names = "--profile",
      paramLabel = "NAME",
      description =
          """
          One of several sign-ins, by the name that bourse login --profile gave it (environment: \
          BOURSE_PROFILE; default: the last one).\
          """)
  private @Nullable String profile;

  @Mixin private CertificateOptions certificate = new CertificateOptions();

  /**
   * The selected sign-in.
   *
   * @throws RefusedException when it belongs to another service than the given one, because its
   *     token must only be sent to its own
   */
  SignInProfile profile(CommandEnvironment environment, CredentialFile credentials)
      throws RefusedException {
    SignInProfile meant = profileToBe(environment, credentials);
    Optional<SignInProfile> kept =
        meant.isNamed() ? credentials.findProfile(meant.name()) : Optional.empty();
    if (kept.isPresent() && !kept.get().url().equals(meant.url())) {
      throw new RefusedException(
          ExitCode.USAGE,
          "--url: profile %s is at %s, not at %s; leave out --url, or name another profile"
              .formatted(meant.name(), Text.plain(kept.get().url()), meant.url()));
    }
    return meant;
  }

  /**
   * The profile for a new sign-in, which may replace a stored one of the same name. Also sets the
   * client certificate for the service.
   */
  SignInProfile profileToBe(CommandEnvironment environment, CredentialFile credentials)
      throws RefusedException {
    certificate.show(environment.variables());
    String name = first(profile, environment.variables().get("BOURSE_PROFILE"));
    if (name != null) {
      return namedProfile(name, credentials);
    }
    String given = first(url, environment.variables().get("BOURSE_URL"));
    if (given != null) {
      return SignInProfile.at(address(given));
    }
    Optional<SignInProfile> current = credentials.current();
    return current.isPresent() ? current.get() : SignInProfile.at(BY_DEFAULT);
  }

  /** A stored profile keeps its service; a new one belongs to the given service. */
  private SignInProfile namedProfile(String name, CredentialFile credentials)
      throws RefusedException {
    if (!PROFILE_NAME.matcher(name).matches()) {
      throw new RefusedException(
          ExitCode.USAGE,
          "--profile: '%s' is no name: up to 64 letters, digits, '.', '_' and '-'"
              .formatted(Text.plain(name)));
    }
    if (url != null) {
      return new SignInProfile(name, address(url));
    }
    Optional<SignInProfile> known = credentials.findProfile(name);
    if (known.isEmpty()) {
      String names = String.join(", ", credentials.profileNames());
      throw new RefusedException(
          ExitCode.USAGE,
          "--profile: there is no '%s'%s; bourse login --profile %s --url URL makes it"
              .formatted(name, names.isEmpty() ? "" : ", there are " + names, name));
    }
    return known.get();
  }

  private static @Nullable String first(@Nullable String option, @Nullable String variable) {
    return option != null ? option : variable == null || variable.isBlank() ? null : variable;
  }

  /** An address without a slash at its end. */
  private static String address(String given) throws RefusedException {
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

  private static RefusedException notAnAddress(String given, @Nullable Exception cause) {
    RefusedException refused =
        new RefusedException(
            ExitCode.USAGE, "--url: " + Text.plain(given) + " is not http(s)://host[:port]");
    if (cause != null) {
      refused.initCause(cause);
    }
    return refused;
  }

  /** The options with an explicit token. */
  static final class WithToken {
    @Option(
        names = "--token-file",
        paramLabel = "FILE",
        description =
            """
            A file with a member's token, or an organization's, instead of bourse login \
            (environment: BOURSE_TOKEN holds the token itself).\
            """)
    private @Nullable Path tokenFile;

    Service service(
        SignInProfile profile, CommandEnvironment environment, CredentialFile credentials)
        throws RefusedException {
      return new Service(profile.url(), credential(profile, environment, credentials));
    }

    /** The service with the token of the sign-in, or without one if nobody is signed in. */
    Service serviceForAnybody(
        SignInProfile profile, CommandEnvironment environment, CredentialFile credentials)
        throws RefusedException {
      boolean isGiven =
          tokenFile != null || !environment.variables().getOrDefault("BOURSE_TOKEN", "").isBlank();
      boolean isKnown =
          isGiven || credentials.find(profile).filter(Account::isSignedIn).isPresent();
      return isKnown
          ? service(profile, environment, credentials)
          : new Service(profile.url(), Credential.NONE);
    }

    private Credential credential(
        SignInProfile profile, CommandEnvironment environment, CredentialFile credentials)
        throws RefusedException {
      if (tokenFile != null) {
        return parseToken(read(tokenFile), "--token-file");
      }
      String variable = environment.variables().getOrDefault("BOURSE_TOKEN", "").strip();
      return variable.isEmpty()
          ? new StoredCredential(credentials, profile, environment)
          : parseToken(variable, "BOURSE_TOKEN");
    }

    private static Credential parseToken(String token, String where) throws RefusedException {
      if (token.isEmpty() || !token.chars().allMatch(c -> c > ' ' && c < 127)) {
        throw new RefusedException(
            ExitCode.USAGE, where + " holds no token: expected one line without spaces");
      }
      return Credential.of(
          token,
          "%s must hold a member's token, or an organization's; bourse login gets one"
              .formatted(where));
    }

    private static String read(Path file) throws RefusedException {
      try {
        return Files.readString(file).strip();
      } catch (IOException e) {
        throw new RefusedException(ExitCode.USAGE, "cannot read " + file + ": " + IoWords.of(e));
      }
    }
  }
}
