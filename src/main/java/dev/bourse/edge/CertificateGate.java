package dev.bourse.edge;

import dev.bourse.access.Authenticator;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.edge.limits.OpenConnection;
import dev.bourse.edge.tls.ClientCertificates;
import dev.bourse.edge.tls.TlsConfig;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Has API tokens, an organization's and an operator's, come over connections with a client
 * certificate. Members need none: a browser's session and a member's access token are of a person
 * who signed in. Who is to show one is told by the token's form, before anybody looks whether there
 * is such a token.
 */
final class CertificateGate {
  private final boolean isOpen;
  private final Authenticator authenticator;

  /**
   * @param tls how the port speaks TLS; where it asks for no certificates, or lets nobody in
   *     without one, there is nothing to see to
   */
  CertificateGate(Optional<TlsConfig> tls, Authenticator authenticator) {
    this.isOpen =
        tls.flatMap(TlsConfig::clients)
            .filter(clients -> clients.demand() == ClientCertificates.Demand.AGENTS)
            .isEmpty();
    this.authenticator = authenticator;
  }

  /**
   * Lets a request with this {@code Authorization} pass.
   *
   * @throws ApiError {@code unauthorized} when it is to have a certificate and has none
   */
  void pass(OpenConnection connection, @Nullable String authorization) {
    if (!isOpen && authenticator.isAgents(authorization)) {
      passAgent(connection);
    }
  }

  /** The same for what comes with an API token anywhere else than in that header. */
  void passAgent(OpenConnection connection) {
    if (!isOpen && !connection.showsCertificate()) {
      throw ApiError.of(
          ErrorCode.UNAUTHORIZED,
          """
          this service takes API tokens over connections with a client certificate, and this one \
          has none; connect with one of an authority that the service's operator names\
          """);
    }
  }
}
