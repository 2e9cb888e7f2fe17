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

/** How a port speaks TLS. */
final class TlsPort {
  private TlsPort() {}

  /**
   * Has a server speak TLS, and nothing else.
   *
   * @param handshakes counts its connections
   * @param handshakeMillis what a handshake may take
   */
  static void secure(
      HttpServerOptions options,
      Renewal renewal,
      CountedHandshakes handshakes,
      long handshakeMillis) {
    options
        .setSsl(true)
        .setSslEngineOptions(handshakes)
        // A client that speaks HTTP/2 alone learns so in the handshake.
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
   * Looks whether the files hold something else, on a worker, and takes it for new connections;
   * those that are open go on with what they began with.
   *
   * @return whether they did
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
        // Whichever event loop's server it is: all of them share what is changed.
        .compose(serving::updateSSLOptions)
        .onSuccess(updated -> renewal.taken(material))
        .mapEmpty();
  }
}
