package dev.bourse.edge;

import dev.bourse.edge.limits.EdgeLimits;
import dev.bourse.edge.tls.TlsConfig;
import java.util.Optional;
import java.util.Set;

/**
 * The configuration of the API's server.
 *
 * @param host the address to listen on
 * @param port the port; 0 picks a free one
 * @param baseUrl the service's public address, without a trailing slash; empty for {@code
 *     http://localhost:<port>}, or {@code https://} with a certificate
 * @param contentHost the host name that serves published bytes only; empty for none
 * @param requestsPerMinute the budget of one token over all routes; 0 for none
 * @param edgePerMinute the budget of one client address; 0 for none
 * @param edgeBurst how much of the address's budget may be spent at once; at most {@code
 *     edgePerMinute}
 * @param trustedProxies addresses, and networks of them, whose {@code X-Forwarded-For} is trusted
 * @param proxyProtocol whether these proxies send the client's address in a PROXY header; then only
 *     they may connect
 * @param limits limits of connections and bodies
 * @param slowMillis the duration from which a request is logged as slow; 0 for never
 * @param tls the certificate, which makes the port speak TLS only; empty for none
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
      throw new IllegalArgumentException("proxyProtocol needs at least one trusted proxy");
    }
    if (baseUrl.endsWith("/")) {
      throw new IllegalArgumentException("baseUrl ends with a slash: " + baseUrl);
    }
  }

  /** Creates a configuration without a content host, TLS and the log of slow requests. */
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

  /** Returns the same configuration with TLS. */
  public EdgeConfig withTls(TlsConfig certificate) {
    return with(proxyProtocol, Optional.of(certificate));
  }

  /** Returns the same configuration behind proxies that send a PROXY header. */
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
