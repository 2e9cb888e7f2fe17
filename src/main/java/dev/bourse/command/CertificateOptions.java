package dev.bourse.command;

import dev.bourse.remote.RefusedException;
import dev.bourse.remote.SharedHttpClient;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The options for the client certificate of a command. */
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
   * Uses the certificate named by the options or the environment for all later requests.
   *
   * @throws RefusedException when one of the two files is missing or unusable
   */
  public void show(Map<String, String> environment) throws RefusedException {
    SharedHttpClient.useCertificate(certificate, key, environment);
  }
}
