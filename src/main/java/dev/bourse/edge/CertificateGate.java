package dev.bourse.edge;

import dev.bourse.access.Authenticator;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.edge.limits.OpenConnection;
import dev.bourse.edge.tls.ClientCertificates;
import dev.bourse.edge.tls.TlsConfig;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Requires a client certificate for API tokens of organizations and operators, and for publishing
 * credentials of jobs. Members need none, because a browser's session and a member's access token
 * belong to a person who signed in. The token's form decides which rule applies, before it is
 * looked up.
 */
final class CertificateGate {
  private final boolean isOpen;
  private final Authenticator authenticator;

  /**
   * @param tls the TLS configuration of the port; the gate is inactive if the port requests no
   *     certificates or accepts no connection without one
   */
  CertificateGate(Optional<TlsConfig> tls, Authenticator authenticator) {
    this.isOpen =
        tls.flatMap(TlsConfig::clients)
            .filter(clients -> clients.demand() == ClientCertificates.CertificateDemand.AGENTS)
            .isEmpty();
    this.authenticator = authenticator;
  }

  /**
   * Admits a request with this {@code Authorization} header.
   *
   * @throws ApiException {@code unauthorized} if it needs a certificate and the connection has none
   */
  void pass(OpenConnection connection, @Nullable String authorization) {
    if (!isOpen && authenticator.isAgents(authorization)) {
      passAgent(connection);
    }
  }

  /** Does the same for an API token that was sent outside of that header. */
  void passAgent(OpenConnection connection) {
    if (!isOpen && !connection.showsCertificate()) {
      throw ApiException.of(
          ErrorCode.UNAUTHORIZED,
          """
          this service accepts API tokens and publishing credentials only over connections with a \
          client certificate; connect with a certificate of an authority that the service's \
          operator names\
          """);
    }
  }
}
