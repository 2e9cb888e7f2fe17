package dev.bourse.edge;

import dev.bourse.edge.limits.EdgeLimits;
import dev.bourse.edge.tls.TlsConfig;
import java.util.Optional;
import java.util.Set;

/**
 * How the API is served.
 *
 * @param host the address to listen on
 * @param port the port; 0 picks a free one
 * @param baseUrl what clients call the service, without a slash at its end; empty for {@code
 *     http://localhost:<port>}, or {@code https://} with a certificate
 * @param contentHost the name of the host at which published bytes alone are served; empty for none
 * @param requestsPerMinute budget of one token over all routes; 0 for none
 * @param edgePerMinute budget of one client address; 0 for none
 * @param edgeBurst how much of the address's budget may be spent at once; never more than {@code
 *     edgePerMinute}
 * @param trustedProxies addresses, and networks of them, whose {@code X-Forwarded-For} is believed
 * @param proxyProtocol whether these proxies, who alone may connect then, tell whose a connection
 *     is in a PROXY header
 * @param limits bounds on connections and bodies
 * @param slowMillis a request that takes as long is told to the log; 0 for none
 * @param tls the certificate with which TLS is spoken, and nothing else then; empty for none
 */
public record EdgeConfig(
    String host,
    int port,
    String baseUrl,
    String contentHost,
    int requestsPerMinute,
    int edgePerMinute,
    int edgeBurst,
    Set<String> trustedProxies,
    boolean proxyProtocol,
    EdgeLimits limits,
    long slowMillis,
    Optional<TlsConfig> tls) {

  public EdgeConfig {
    trustedProxies = Set.copyOf(trustedProxies);
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException("port " + port + " is not within 0 and 65535");
    }
    if (requestsPerMinute < 0 || edgePerMinute < 0 || edgeBurst < 0) {
      throw new IllegalArgumentException("a budget is below 0");
    }
    if (edgePerMinute > 0 && edgeBurst == 0) {
      throw new IllegalArgumentException("edgeBurst 0 would refuse every request");
    }
    if (proxyProtocol && trustedProxies.isEmpty()) {
      throw new IllegalArgumentException("nobody may connect: no proxy is known");
    }
    if (baseUrl.endsWith("/")) {
      throw new IllegalArgumentException("baseUrl ends with a slash: " + baseUrl);
    }
  }

  /** Without a host of its own for published bytes, without TLS, and telling of no slow request. */
  public EdgeConfig(
      String host,
      int port,
      String baseUrl,
      int requestsPerMinute,
      int edgePerMinute,
      int edgeBurst,
      Set<String> trustedProxies,
      EdgeLimits limits) {
    this(
        host,
        port,
        baseUrl,
        "",
        requestsPerMinute,
        edgePerMinute,
        edgeBurst,
        trustedProxies,
        false,
        limits,
        0,
        Optional.empty());
  }

  /** The same with TLS. */
  public EdgeConfig withTls(TlsConfig certificate) {
    return with(proxyProtocol, Optional.of(certificate));
  }

  /** The same behind proxies that tell whose a connection is. */
  public EdgeConfig withProxyProtocol() {
    return with(true, tls);
  }

  private EdgeConfig with(boolean isProxied, Optional<TlsConfig> secured) {
    return new EdgeConfig(
        host,
        port,
        baseUrl,
        contentHost,
        requestsPerMinute,
        edgePerMinute,
        edgeBurst,
        trustedProxies,
        isProxied,
        limits,
        slowMillis,
        secured);
  }
}
