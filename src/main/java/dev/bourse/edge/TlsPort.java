package dev.bourse.edge;

import dev.bourse.edge.limits.CountedHandshakes;
import dev.bourse.edge.tls.Renewal;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.ServerSSLOptions;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Configures TLS on a port. */
final class TlsPort {
  private TlsPort() {}

  /**
   * Makes a server speak TLS only.
   *
   * @param handshakes counts its connections
   * @param handshakeMillis the time limit of a handshake
   */
  static void secure(
      HttpServerOptions options,
      Renewal renewal,
      CountedHandshakes handshakes,
      long handshakeMillis) {
    options
        .setSsl(true)
        .setSslEngineOptions(handshakes)
        // With ALPN, the handshake fails with a clear alert if a client supports only HTTP/2.
        .setUseAlpn(true)
        .setAlpnVersions(List.of(HttpVersion.HTTP_1_1))
        .setSslHandshakeTimeout(handshakeMillis)
        .setSslHandshakeTimeoutUnit(TimeUnit.MILLISECONDS);
    ServerSSLOptions usual = renewal.options(renewal.material());
    options
        .setKeyCertOptions(usual.getKeyCertOptions())
        .setTrustOptions(usual.getTrustOptions())
        .setClientAuth(usual.getClientAuth())
        .setEnabledSecureTransportProtocols(usual.getEnabledSecureTransportProtocols());
  }

  /**
   * Checks the files on a worker and uses changed ones for new connections; open connections keep
   * the old ones.
   *
   * @return whether they had changed
   */
  static Future<Boolean> renew(Vertx vertx, Renewal renewal, HttpServer serving) {
    return vertx
        .executeBlocking(renewal::look, false)
        .compose(
            found ->
                found.isEmpty()
                    ? Future.succeededFuture(false)
                    : take(vertx, renewal, serving, found.get()).map(true));
  }

  private static Future<Void> take(
      Vertx vertx, Renewal renewal, HttpServer serving, Renewal.Material material) {
    return vertx
        .executeBlocking(() -> renewal.options(material), false)
        // Any event loop's server will do, because all of them share this setting.
        .compose(serving::updateSSLOptions)
        .onSuccess(updated -> renewal.recordInUse(material))
        .mapEmpty();
  }
}
