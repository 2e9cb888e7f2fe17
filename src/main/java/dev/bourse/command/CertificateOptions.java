package dev.bourse.command;

import dev.bourse.remote.Connections;
import dev.bourse.remote.Refused;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** Which certificate is shown to a service that asks for one. */
public final class CertificateOptions {
  @Option(
      names = "--cert",
      scope = ScopeType.INHERIT,
      paramLabel = "FILE",
      description =
          """
          A PEM file with the certificate to show to a service that asks for one (environment: \
          BOURSE_CLIENT_CERT).\
          """)
  private @Nullable Path certificate;

  @Option(
      names = "--key",
      scope = ScopeType.INHERIT,
      paramLabel = "FILE",
      description = "A PEM file with its private key (environment: BOURSE_CLIENT_KEY).")
  private @Nullable Path key;

  /**
   * Has it shown to every service that is asked from now on, as the options or the environment name
   * it.
   *
   * @throws Refused when one of the two is missing or cannot be used
   */
  public void show(Map<String, String> environment) throws Refused {
    Connections.show(certificate, key, environment);
  }
}
